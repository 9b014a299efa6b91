// A small application for the tests of the specification, as a build would have made it: its
// procedures, its segments.

import { Forbidden, NotFound } from "../../src/base/errors.ts";
import { traceLine } from "../../src/base/fqn.ts";
import type { Parameter } from "../../src/base/manifest.ts";
import type { Context } from "../../src/base/context.ts";
import { begun } from "../../src/base/trace.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import type { TestProcedure } from "../_cluster.ts";

export const names = (...plain: string[]): Parameter[] =>
  plain.map((name) => ({ kind: "plain", name }));

/**
 * A body as the build makes it: `this` is a context, and the procedure's line is added to what it
 * throws.
 */
export function body(
  fqn: string,
  run: (context: Context, graph: Graph, ...args: never[]) => unknown,
  version = "0.0.0",
): TestProcedure["body"] {
  return (graph) =>
    async function (this: unknown, ...args: never[]) {
      const number = begun();
      try {
        return await run(graph.context(this, traceLine(fqn, version)), graph, ...args);
      } catch (thrown) {
        throw graph.traced(thrown, traceLine(fqn, version), number);
      }
    };
}

/** Calls through the seam of its graph, as a face does. */
export function call(
  graph: Graph,
  fqn: string,
  parameters: readonly Parameter[],
  ...args: unknown[]
): Promise<unknown> {
  return graph.seam({ fqn, version: "0.0.0", parameters }).run.apply(undefined, args as never[]);
}

/** An application's own error, with a public field. */
export class OutOfStock extends NotFound {
  override readonly name: string = "OutOfStock";
  readonly sku: string;
  constructor(message: string, sku: string) {
    super(message);
    this.sku = sku;
  }
}

export const outOfStock = {
  record: {
    key: "shop/OutOfStock",
    module: "shop/errors",
    export: "OutOfStock",
    args: ["message", "sku"],
    fields: [],
    error: true as const,
  },
  constructor: OutOfStock,
};

/** A class whose instances travel. */
export class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

export const money = {
  record: { key: "shop/Money", module: "shop/money", export: "Money", args: ["cents"], fields: [] },
  constructor: Money,
};

/** Segment `a` quotes, segment `b` holds the stock: each calls into the other. */
export const shop: TestProcedure[] = [
  {
    fqn: "shop/quote",
    parameters: names("sku", "quantity"),
    in: { a: "public" },
    body: body("shop/quote", async (_, graph, sku, quantity) => {
      const left = (await call(graph, "shop/stock", names("sku"), sku)) as number;
      return { sku, quantity, enough: left >= quantity };
    }),
  },
  {
    fqn: "shop/stock",
    parameters: names("sku"),
    in: { b: "public" },
    body: body("shop/stock", (_, _graph, sku) => {
      if (sku === "none") throw new OutOfStock(`no ${String(sku)} left`, sku);
      return 5;
    }),
  },
  {
    fqn: "shop/double",
    parameters: [
      { kind: "plain", name: "price", type: "number" },
      { kind: "plain", name: "money", optional: true },
    ],
    in: { b: "public" },
    body: body(
      "shop/double",
      (_, _graph, price: number, amount?: Money) => new Money(2 * (amount?.cents ?? price)),
    ),
  },
  { fqn: "shop/secret", in: { b: "private" }, body: body("shop/secret", () => "private") },
  { fqn: "shop/audit", in: { b: "protected" }, body: body("shop/audit", () => "audited") },
  {
    fqn: "shop/viaAudit",
    in: { a: "public" },
    body: body("shop/viaAudit", (_, graph) => call(graph, "shop/audit", [])),
  },
  {
    fqn: "shop/refuse",
    in: { a: "public" },
    body: body("shop/refuse", () => Promise.reject(new Forbidden("not for you"))),
  },
  {
    fqn: "shop/whoami",
    in: { b: "public" },
    body: body("shop/whoami", (context) => Object.fromEntries(context.headers)),
  },
  {
    fqn: "shop/viaWhoami",
    in: { a: "public" },
    body: body("shop/viaWhoami", (_, graph) => call(graph, "shop/whoami", [])),
  },
  {
    fqn: "shop/price",
    version: "1.0.0",
    in: { a: "public" },
    body: body("shop/price", () => 1, "1.0.0"),
  },
  {
    fqn: "shop/price",
    version: "2.0.0",
    in: { a: "public" },
    body: body("shop/price", () => 2, "2.0.0"),
  },
  {
    fqn: "shop/hidden",
    version: "1.0.0",
    in: { a: "private" },
    body: body("shop/hidden", () => 1, "1.0.0"),
  },
  {
    fqn: "shop/safe",
    in: { a: { access: "public", safe: true } },
    body: body("shop/safe", () => "safe"),
  },
];
