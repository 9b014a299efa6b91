// proxy → gateway → two nodes in memory that log every request, as JSON lines.

import * as api from "@opentelemetry/api";

import type { Telemetry } from "../../src/base/ports.ts";
import { createLog } from "../../server/base/log.ts";
import { createTelemetry, type TelemetryOptions } from "../../server/telemetry/telemetry.ts";
import { ask, TestClock, TestDeployment, TestLog } from "../_cluster.ts";
import { routeModules } from "../_routes.ts";
import { body, call, names } from "./_shop.ts";

/** A line of a log, parsed. */
export type Line = Readonly<Record<string, string | number | boolean | undefined>>;

/** Keeps lines as a service writes them for programs. */
export class JsonLog extends TestLog {
  text = "";
  readonly #out = { write: (line: string) => (this.text += line) };
  readonly #log = createLog({ format: "json", role: "test", out: this.#out, err: this.#out });
  override info: TestLog["info"] = (...line) => this.#log.info(...line);
  override warn: TestLog["warn"] = (...line) => this.#log.warn(...line);
  override error: TestLog["error"] = (...line) => this.#log.error(...line);

  parsed(event?: string): readonly Line[] {
    const lines = this.text.split("\n").filter((line) => line !== "");
    const parsed = lines.map((line) => JSON.parse(line) as Line);
    return event === undefined ? parsed : parsed.filter((line) => line["event"] === event);
  }
}

const applicationModules = () =>
  routeModules(
    [
      {
        route: "POST /reset/:token",
        name: "site/reset",
        segment: "a",
        run: () => new Response("done"),
      },
    ],
    [
      {
        fqn: "shop/quote",
        parameters: names("sku"),
        in: { a: "public" },
        body: body(
          "shop/quote",
          async (_, graph, sku) => await call(graph, "shop/stock", names("sku"), sku),
        ),
      },
      {
        fqn: "shop/own",
        parameters: names("sku"),
        in: { a: "public" },
        body: body(
          "shop/own",
          async (_, graph, sku) =>
            await api.trace
              .getTracer("test")
              .startActiveSpan("of the application", async (span) => {
                const stock = await call(graph, "shop/stock", names("sku"), sku);
                span.end();
                return stock;
              }),
        ),
      },
      {
        fqn: "shop/gives",
        parameters: names("sku"),
        in: { a: "public" },
        body: body("shop/gives", async (_, graph) => {
          return await call(graph, "shop/stock", names("sku"), { of: [() => "a"] });
        }),
      },
      {
        fqn: "shop/forgets",
        parameters: names("sku"),
        in: { a: "public" },
        body: body("shop/forgets", async (_, graph) => {
          return await call(graph, "shop/stock", []);
        }),
      },
      {
        fqn: "shop/heard",
        parameters: names("sku"),
        in: { b: "public" },
        body: body("shop/heard", ({ headers }) =>
          Object.fromEntries([...headers].filter(([name]) => name.startsWith("trace"))),
        ),
      },
      {
        fqn: "shop/rows",
        stream: true,
        in: { b: "public" },
        body: () =>
          async function* () {
            yield* [1, 2];
            await new Promise(() => {});
          } as never,
      },
      {
        fqn: "shop/wait",
        in: { b: "public" },
        body: body(
          "shop/wait",
          async ({ signal }) =>
            await new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(new Error("stopped waiting")));
            }),
        ),
      },
      {
        fqn: "shop/stock",
        parameters: names("sku"),
        in: { b: "public" },
        body: body("shop/stock", (_, _graph, sku) => {
          if (sku === "broken") throw new RangeError("no such shelf");
          if (sku === "endless") return { shelves: [() => 5] };
          return 5;
        }),
      },
    ],
  );

export type ServiceName = "gateway" | "a" | "b" | "proxy";

export interface Operated {
  readonly local: TestDeployment;
  readonly log: JsonLog;
  /** Sends a request to the proxy. */
  readonly ask: (
    method: string,
    target: string,
    headers?: Readonly<Record<string, string>>,
    content?: string,
  ) => ReturnType<typeof ask>;
}

/** Starts it, with what is noted by the services that `options` names. */
export async function operate(
  options: (name: ServiceName) => Partial<TelemetryOptions>,
): Promise<Operated> {
  const log = new JsonLog();
  const clock = new TestClock();
  const local = new TestDeployment({
    log,
    clock,
    telemetry: (name): Telemetry =>
      createTelemetry({ clock, log, accessLog: false, ...options(name as ServiceName) }),
  });
  await local.gateway();
  for (const segment of ["a", "b"])
    await local.node(segment, { modules: applicationModules(), segments: [segment] });
  const proxy = await local.proxy();
  return { local, log, ask: (...request) => ask(proxy, ...request) };
}
