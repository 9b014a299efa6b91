import { describe, expect, it } from "vitest";

import { createTelemetry } from "../../server/telemetry/telemetry.ts";
import type { HttpRequest } from "../../src/base/ports.ts";
import { key, TestClock } from "../_cluster.ts";
import { notBegun } from "../_fake-member.ts";
import { gatewayWith } from "./_members.ts";
import { JsonLog, type Line, operate } from "./_operations.ts";

const json = { "content-type": "application/json" };
const logged = { accessLog: true };
const requests = (lines: readonly Line[]) =>
  lines.map(({ method, path, status, procedure }) => [method, path, status, procedure].join(" "));

describe("the access log", () => {
  it("logs-1: accessLog logs each request that a service answers, once, with method, path, status, procedure and milliseconds", async () => {
    const { log, ask } = await operate((name) => (name === "proxy" ? logged : {}));
    await ask("GET", "/rpc/shop/stock?sku=a");
    await ask("POST", "/rpc/shop/nothing", json, "{}");
    await ask("GET", "/absent.txt");
    const lines = log.parsed("request");
    expect(requests(lines)).toEqual([
      "GET /rpc/shop/stock 200 shop/stock",
      "POST /rpc/shop/nothing 404 shop/nothing",
      expect.stringMatching(/^GET \/absent\.txt \d{3} $/),
    ]);
    for (const { ms, level, message } of lines) {
      expect(ms).toBeTypeOf("number");
      expect(level).toBe("info");
      expect(message).toMatch(/^(GET|POST) \S+ \d{3} in [\d.]+ ms$/);
    }
  });

  it("logs-2: health checks, and what services ask of each other to work together, aren't logged unless they fail", async () => {
    const { log, ask } = await operate(() => logged);
    for (const path of ["/health", "/health/live", "/health/ready?x=1"]) await ask("GET", path);
    expect(log.parsed("request")).toEqual([]);
    await ask("GET", "/svc/routes");
    expect(requests(log.parsed("request"))).toEqual([
      expect.stringMatching(/^GET \/svc\/routes [45]/),
    ]);
  });

  it("what nodes fetch from their repository, and proxies ask a gateway, isn't logged unless it fails (logs-2)", async () => {
    const log = new JsonLog();
    const clock = new TestClock();
    const telemetry = createTelemetry({ clock, log, accessLog: true });
    const answered = async (target: string, status: number): Promise<void> => {
      const request = { method: "GET", target, headers: {}, signal: new AbortController().signal };
      await telemetry.request(request as unknown as HttpRequest, async () => ({
        status,
        headers: {},
      }));
    };
    for (const target of [
      "/svc/modules/manifest.json",
      "/svc/modules/shop/quote.js?revision=1",
      "/svc/routes?idempotent",
      "/svc/gateways",
      "/svc/calls",
      "/svc/procedures/shop/quote",
      "/nodes/m1",
    ])
      await answered(target, 200);
    expect(log.parsed("request")).toEqual([]);
    await answered("/svc/modules/gone.js", 404);
    await answered("/svc/manifest.json", 200);
    expect(requests(log.parsed("request"))).toEqual([
      "GET /svc/modules/gone.js 404 ",
      "GET /svc/manifest.json 200 ",
    ]);
  });

  it("logs-3: a route is logged with the pattern of its path, as parts of the path may be secrets", async () => {
    const { log, ask } = await operate(() => logged);
    await ask("POST", "/reset/planted-token", json, "{}");
    expect(requests(log.parsed("request"))).toEqual([
      "POST /reset/:token 200 site/reset",
      "POST /reset/:token 200 site/reset",
      "POST /reset/:token 200 site/reset",
    ]);
    expect(log.text).not.toContain("planted-token");
  });

  it("logs-4: the lines of all services about one request have one id, the x-request-id that it came with or got", async () => {
    const { log, ask } = await operate(() => logged);
    await ask("GET", "/rpc/shop/quote?sku=a", { "x-request-id": "from-the-balancer.1" });
    // Proxy, gateway, a, and for the call inside gateway and b.
    expect(log.parsed("request").map(({ request }) => request)).toEqual(
      Array.from({ length: 5 }, () => "from-the-balancer.1"),
    );
    await ask("GET", "/rpc/shop/quote?sku=a");
    const [first, ...others] = log.parsed("request").slice(5);
    expect(first?.["request"]).toMatch(/^[\da-f]{16}$/);
    expect(others.map(({ request }) => request)).toEqual(
      Array.from({ length: 4 }, () => first?.["request"]),
    );
  });

  it.each([
    ["too long", "x".repeat(65)],
    ["a line break's escape", "a%0Ab c"],
    ["empty", ""],
    ["markup", "<b>"],
  ])("logs-5: an x-request-id that no log can take is replaced: %s", async (_, id) => {
    const { log, ask } = await operate((name) => (name === "proxy" ? logged : {}));
    await ask("GET", "/rpc/shop/stock?sku=a", { "x-request-id": id });
    expect(log.parsed("request")[0]?.["request"]).toMatch(/^[\da-f]{16}$/);
  });

  it("logs-6: the line of an error has the ids of its request and trace, and the procedure", async () => {
    const { log, ask } = await operate(() => ({}));
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const sent = { "x-request-id": "r-1", traceparent: `00-${trace}-b7ad6b7169203331-01` };
    await ask("GET", "/rpc/shop/stock@0?sku=broken", sent);
    expect(log.parsed().filter(({ level }) => level === "error")).toMatchObject([
      { message: "GET /rpc/shop/stock@0 failed", request: "r-1", trace, procedure: "shop/stock" },
    ]);
  });
});

describe("an error of the runtime", () => {
  const failures = async (target: string) => {
    const { log, ask } = await operate(() => ({}));
    const { status, text } = await ask("GET", target);
    expect(status).toBe(500);
    const lines = log.parsed().filter(({ level }) => level === "error");
    return { text, lines, errors: lines.map(({ error }) => String(error)) };
  };

  it("a result that can't be sent is logged as other errors are, with its path, and has the trace line of its procedure (logs-6)", async () => {
    const { text, lines, errors } = await failures("/rpc/shop/quote?sku=endless");
    expect(lines.map(({ message, procedure }) => `${message}, ${procedure}`)).toEqual([
      "POST /rpc/shop/stock failed, shop/stock",
      "GET /rpc/shop/quote failed, shop/quote",
    ]);
    const message = "result.shelves[0]: a function can't be sent";
    expect(errors).toEqual([
      `ValueNotSerializable: ${message}`,
      expect.stringMatching(/^ValueNotSerializable: result\.shelves\[0\]: .*\n +at .*_operations/),
    ]);
    expect(text).toBe(`${message}\n[shop/stock | v0.0.0]\n[shop/quote | v0.0.0]`);
  });

  it.each([
    ["an argument that can't be sent", "gives", /^ValueNotSerializable: args\.sku\.of\[0\]: a fun/],
    ["an argument that is missing", "forgets", /^MissingParameterValue: .*sku/],
  ])(
    "%s is logged with the line of the call in the application, and with none of the runtime",
    async (_, name, error) => {
      const { lines, errors } = await failures(`/rpc/shop/${name}?sku=a`);
      expect(lines).toMatchObject([{ procedure: `shop/${name}` }]);
      expect(errors[0]).toMatch(error);
      const [first, ...others] = errors[0]!.split("\n").slice(1);
      expect(first).toMatch(/^ +at .*(?:_shop|_operations)\.ts/);
      expect(others.join("\n")).not.toMatch(/\/(src|server)\//);
    },
  );
});

describe("secrets", () => {
  it("logs-7: no key, credential, cookie, authorization, query or body is ever logged", async () => {
    const { log, ask, local } = await operate(() => logged);
    const planted = {
      authorization: "Bearer planted-authorization",
      cookie: "session=planted-cookie",
      "x-api-key": "planted-header",
      "x-svc-trust-key": `${key}x`,
      "x-svc-credential": "service planted-credential",
      "proxy-authorization": "Basic planted-proxy",
    };
    for (const sku of ["a", "broken", "planted-argument"]) {
      const content = JSON.stringify({ sku, more: "planted-body" });
      await ask("GET", `/rpc/shop/quote?sku=${sku}&key=planted-query`, planted);
      await ask("POST", "/rpc/shop/quote?version=planted-query", { ...json, ...planted }, content);
      await ask("POST", "/rpc/shop/quote", { ...json, ...planted }, JSON.stringify({ sku }));
      await ask("POST", "/rpc/shop/quote", { ...json, ...planted }, `{"planted-body"`);
      await ask("POST", "/reset/planted-part?planted-query", planted, "planted-body");
      await ask("GET", "/page?planted-query", planted);
    }
    local.network.roles.delete("http://b");
    await ask("GET", "/rpc/shop/quote?sku=planted-query", planted);
    expect(log.parsed("request").length).toBeGreaterThan(30);
    expect(log.text).toContain("RangeError: no such shelf");
    expect(log.text).not.toMatch(/planted/);
    expect(log.text).not.toContain(key);
  });
});

describe("events", () => {
  it("logs-8: members that join, leave, fall out and come back are logged once by their gateway, with the event and the address", async () => {
    const { log, local } = await operate(() => ({}));
    const joins = log.parsed("joined").filter(({ message }) => /joined with/.test(String(message)));
    expect(joins.map(({ service }) => service)).toEqual(["http://a", "http://b"]);
    const stopping = local.at("http://b")?.role?.stop();
    await local.clock.pass(2_000);
    await stopping;
    expect(log.parsed("left")).toMatchObject([{ service: "http://b", level: "info" }]);
  });

  it("logs-9: a gateway logs that it sends calls again, one line a second, with how many more there were", async () => {
    const { call, members, clock, log } = await gatewayWith(["a", "b"]);
    members[0]!.behave = () => notBegun("overload");
    for (let calls = 0; calls < 6; calls++) expect(await call("shop/order")).toBe("200 b");
    await clock.pass(1_000);
    for (let calls = 0; calls < 2; calls++) expect(await call("shop/order")).toBe("200 b");
    expect(log.lines.filter((line) => line.includes("again:"))).toEqual([
      "sent 'shop/order' again: http://a refused it before it began",
      "sent 'shop/order' again: http://a refused it before it began; 5 more calls since the last such line",
    ]);
  });
});
