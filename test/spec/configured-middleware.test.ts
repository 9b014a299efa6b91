// Middleware and health checks as a configuration names them, over real sockets, in services that
// `startServer` starts.

import { describe, expect, it } from "vitest";

import { anyPort, applicationOf, start } from "./_started.ts";

const configured = {
  middleware: ["./src/layers/adds.ts", "./src/layers/stamps.ts"],
  healthChecks: { disk: "./src/checks/disk.ts", queue: "./src/checks/queue.ts" },
};

const files = {
  // The build finds the modules of the source folder that are middleware and checks here.
  "seamline.json": JSON.stringify({ mode: "standalone", url: anyPort, ...configured }),
  "src/shop/order.ts":
    "export class Order { #lines: string[]; constructor(lines: string[]) { this.#lines = lines; } get lines(): string[] { return this.#lines; } }\n",
  "src/shop/place.ts": `import { Order } from "./order.ts";
    import { NotFound } from "seamline";
    export async function place(order: Order): Promise<Order> {
      if (order.lines.length === 0) throw new NotFound("nothing ordered");
      return new Order([...order.lines, order instanceof Order ? "an order" : "no order"]);
    }\n`,
  "src/layers/adds.ts": `import { Order } from "../shop/order.ts";
    import type { Middleware } from "seamline";
    export default class Adds implements Middleware {
      async handle(...[, , args, headers, next]: Parameters<Middleware["handle"]>): Promise<unknown> {
        const order = args.get("order");
        if (order instanceof Order && order.lines.length > 0) args.set("order", new Order([...order.lines, "added"]));
        const result = await next();
        headers.set("set-cookie", "a=1").set("set-cookie", "b=2").set("x-real", String(result instanceof Order));
        return result;
      }
    }\n`,
  "src/layers/stamps.ts": `import type { Middleware } from "seamline";
    const stamps: Middleware = {
      async handle(_fqn, _version, _args, headers, next) {
        if (headers.has("x-break")) return "next was forgotten";
        try {
          const result = await next();
          if (headers.has("x-inject")) headers.set("x-stamp", "1\\r\\nx-injected: 1");
          return result;
        } finally {
          headers.set("x-stamp", headers.get("x-real") ?? "none");
        }
      },
    };
    export default stamps;\n`,
  "src/checks/disk.ts":
    "export default { isHealthy: async () => true, details: async () => ({ free: 3 }) };\n",
  "src/checks/queue.ts": "export default class Queue { async isHealthy() { return false; } }\n",
  "shop.segment.json": '{ "./shop/place": { "place": { "access": "public" } } }',
};

const order = (...lines: string[]) => ({
  serialized: true,
  key: "shop/Order",
  name: "class",
  args: { 0: lines },
  fields: {},
});
const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
const trustKey = "the-trust-key-of-configured-layers";

interface Started {
  readonly url: string;
  readonly lines: readonly string[];
}

const call = async (
  url: string,
  lines: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  await fetch(`${url}/rpc/shop/place`, {
    method: "POST",
    headers: { ...headers, ...more },
    body: JSON.stringify({ order: order(...lines) }),
  });

/** Checks a service whose calls pass this middleware `times` times. */
async function holds(
  { url, lines }: Started,
  times: number,
  queue: boolean | object = false,
): Promise<void> {
  const good = await call(url, ["tea"]);
  expect(await good.json()).toEqual(
    order("tea", ...Array<string>(times).fill("added"), "an order"),
  );
  expect([good.status, good.headers.getSetCookie(), good.headers.get("x-stamp")]).toEqual([
    200,
    Array.from({ length: times }, () => ["a=1", "b=2"]).flat(),
    "true",
  ]);
  const refused = await call(url, []);
  expect([
    refused.status,
    refused.headers.get("x-svc-error"),
    refused.headers.get("x-stamp"),
  ]).toEqual([404, "NotFound", "none"]);
  const forgotten = await call(url, ["tea"], { "x-break": "1" });
  expect([forgotten.status, forgotten.headers.get("x-svc-error")]).toEqual([
    500,
    "MiddlewareNotCompleted",
  ]);
  const injected = await call(url, ["tea"], { "x-inject": "1" });
  expect([injected.status, injected.headers.get("x-injected")]).toEqual([500, null]);
  expect(lines.join("\n")).toContain(
    "middleware src/layers/stamps.ts did not call next() for shop/place",
  );
  // The innermost of them fails first.
  if (times === 1)
    expect(lines.join("\n")).toContain(
      "The value of the header 'x-stamp' has a character that headers can't carry",
    );
  const [status, details, head] = await Promise.all(
    ["/health/status", "/health", "/health"].map((path, index) =>
      fetch(url + path, index === 2 ? { method: "HEAD" } : {}),
    ),
  );
  expect([await status?.text(), await details?.json(), await head?.text()]).toEqual([
    String(queue !== false),
    { disk: { free: 3, healthy: true }, queue },
    "",
  ]);
  expect(head?.headers.get("content-length")).toBe(details?.headers.get("content-length"));
  const post = await fetch(`${url}/health`, { method: "POST", body: "{}" });
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
}

describe("middleware and health checks of a configuration", () => {
  it("configured middleware and health checks run on a standalone, the last of the list outermost (middleware-15, middleware-16, health-2, middleware-18)", async () => {
    await holds(await start(applicationOf(files), undefined), 1);
  });

  it("configured middleware and health checks run on node, gateway and proxy, with the application's classes for instances (middleware-15, middleware-6, middleware-14)", async () => {
    const application = applicationOf(files);
    const startConfigured = async (config: object) =>
      await start(application, { trustKey, url: anyPort, ...config });
    const { url: repository } = await startConfigured({ mode: "repository" });
    const gateway = await startConfigured({ mode: "gateway", repository, ...configured });
    const node = await startConfigured({
      mode: "node",
      repository,
      gateway: gateway.url,
      segments: ["shop"],
      ...configured,
      // An unhealthy one gets no calls.
      healthChecks: { disk: "./src/checks/disk.ts", queue: "./src/checks/disk.ts" },
    });
    const proxy = await startConfigured({
      mode: "proxy",
      repository,
      gateway: gateway.url,
      ...configured,
    });
    await holds(node, 1, { free: 3, healthy: true });
    await holds(gateway, 2);
    await holds(proxy, 3);
  });
});
