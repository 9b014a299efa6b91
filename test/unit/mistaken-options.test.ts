// The warning of development for options that are passed as a procedure's `this`.

import { expect, it } from "vitest";

import { emptyContext } from "../../src/base/context.ts";
import { warningOfOptions } from "../../src/runtime/mistaken-options.ts";
import type { ProcedureFunction } from "../../src/runtime/procedure-function.ts";

/** Calls two procedures of a page, as faces do. */
function setUp() {
  const lines: string[] = [];
  const warning = warningOfOptions((line) => lines.push(line));
  const seen: unknown[][] = [];
  const run: ProcedureFunction = async function (this: unknown, ...args) {
    seen.push([this, ...args]);
    return await Promise.resolve(args.length);
  };
  const call = async (self: unknown, fqn = "shop/quote"): Promise<unknown> =>
    await warning({ fqn, run }).run.apply(self, ["tweed", 2] as never[]);
  return { lines, seen, call };
}

it("options passed as `this` are named once for each procedure, and the call goes on as without", async () => {
  const { lines, seen, call } = setUp();
  const { signal } = new AbortController();
  const self = { signal, timeoutMs: 5, other: 1 };
  for (let count = 0; count < 3; count++) expect(await call(self)).toBe(2);
  expect(lines).toEqual([
    "procedure.call({ signal, timeoutMs }, …) of 'shop/quote' ignores its options, as it takes a context: use withOptions(procedure, { signal, timeoutMs })(…)",
  ]);
  expect(seen[0]).toEqual([self, "tweed", 2]);
  await call({ headers: { authorization: "x" } }, "shop/stock");
  expect(lines.slice(1)).toEqual([expect.stringContaining("({ headers }, …) of 'shop/stock'")]);
});

it.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a context", emptyContext()],
  ["an empty object", {}],
  ["a namespace", { __proto__: null, [Symbol.toStringTag]: "Module", timeoutMs: 5 }],
  ["an object of procedures", { timeoutMs: 5, headers: {}, quote: async () => {} }],
  [
    "an instance",
    new (class Api {
      timeoutMs = 5;
    })(),
  ],
  ["an object whose fields are something else", { signal: "green", headers: 3, timeoutMs: "5" }],
  ["an inherited name", { toString: 5, constructor: 5 }],
  ["text", "timeoutMs"],
  [
    "a getter, which isn't called",
    {
      get timeoutMs() {
        throw new Error("called");
      },
    },
  ],
])("no warning for `this` that doesn't look like options: %s", async (_, self) => {
  const { lines, call } = setUp();
  expect(await call(self)).toBe(2);
  expect(lines).toEqual([]);
});
