import { spawnSync } from "node:child_process";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { startServer } from "../../server/index.ts";
import { families } from "../../server/telemetry/metrics/families.ts";
import { Metrics } from "../../server/telemetry/metrics/metrics.ts";
import { ask, TestLog } from "../_cluster.ts";
import { exchange } from "../../src/roles/memory-exchange.ts";
import { exchange as exchangeBytes } from "../attack/_sockets.ts";
import { freePort } from "../_free-port.ts";
import { parseMetrics } from "./_metrics.ts";
import { operate, type ServiceName } from "./_operations.ts";

const token = "a-token-of-this-test";
const json = { "content-type": "application/json" };

/** proxy → gateway → nodes `a` and `b`, each with metrics. */
async function measured() {
  const all = new Map<string, Metrics>();
  const operated = await operate((name) => {
    const memory = { bytes: 5, limit: 10 };
    const metrics = new Metrics({ role: name, node: name, version: "1.2.3", memory });
    onTestFinished(() => metrics.stop());
    all.set(name, metrics);
    return { metrics, metricsToken: token };
  });
  const read = (name: ServiceName) => parseMetrics(all.get(name)?.text() ?? "");
  return { ...operated, all, read };
}

/** The complaints of Prometheus's own tool about a text. */
function promtool(text: string): string {
  const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  if (checked.error !== undefined)
    throw new Error("promtool isn't installed: apt-get install prometheus", {
      cause: checked.error,
    });
  return `${checked.status} ${checked.stdout}${checked.stderr}`.trim();
}

describe("metrics", () => {
  it("of each role are what promtool finds no fault with", async () => {
    const { ask: send, all } = await measured();
    await send("GET", "/rpc/shop/quote?sku=a");
    await send("GET", "/rpc/shop/stock?sku=broken");
    await send("POST", "/reset/secret", json, "{}");
    for (const [name, metrics] of all)
      expect([name, promtool(metrics.text())]).toEqual([name, "0"]);
    expect(promtool("calls 1\ncalls 1\n")).not.toBe("0");
  });

  it("metrics-1: nodes and gateways count calls and requests for routes, and their times, by procedure", async () => {
    const { ask: send, read } = await measured();
    for (let calls = 0; calls < 3; calls++) await send("GET", "/rpc/shop/quote?sku=a");
    await send("GET", "/rpc/shop%2Fstock?sku=a");
    await send("POST", "/reset/secret", json, "{}");
    for (const [name, quotes, stocks, resets] of [
      ["gateway", 3, 4, 1],
      ["a", 3, undefined, 1],
      ["b", undefined, 4, undefined],
    ] as const) {
      const { value } = read(name);
      for (const [procedure, count] of [
        ["shop/quote", quotes],
        ["shop/stock", stocks],
        ["site/reset", resets],
      ] as const) {
        expect([name, procedure, value("seamline_calls_total", { procedure })]).toEqual([
          name,
          procedure,
          count,
        ]);
        expect(value("seamline_call_duration_seconds_count", { procedure })).toBe(count);
      }
    }
  });

  it("metrics-2: failures are counted by the name of the runtime's error; an application's own are `Application`, on the way too", async () => {
    const { ask: send, read } = await measured();
    await send("GET", "/rpc/shop/stock?sku=broken");
    await send("GET", "/rpc/shop/stock?wrong=1");
    for (const name of ["gateway", "b"] as const) {
      const { samples } = read(name);
      expect(
        samples
          .filter((sample) => sample.name === "seamline_call_failures_total")
          .map(({ labels, value }) => [labels["procedure"], labels["kind"], value]),
      ).toEqual([
        ["shop/stock", "Application", 1],
        ["shop/stock", expect.stringMatching(/^(?:Missing|Unknown)Parameter/), 1],
      ]);
    }
  });

  it("a call that its caller left is a failure `CallerLeft` of each service that had it (metrics-2)", async () => {
    const { local, read } = await measured();
    const { role } = local.at("http://proxy") ?? {};
    if (role === undefined) throw new Error("no proxy");
    const leave = new AbortController();
    const call = ask(role, "GET", "/rpc/shop/wait", {}, "", leave.signal);
    await vi.waitFor(() => expect(read("b").value("seamline_calls_running")).toBe(1), 20_000);
    await local.clock.pass(1_500);
    for (const name of ["b", "gateway", "proxy"] as const)
      for (const age of ["p50", "max"])
        expect(read(name).value(`seamline_calls_running_age_${age}_seconds`)).toBe(1.5);
    leave.abort(new Error("gone"));
    await expect(call).rejects.toThrow("gone");
    for (const [name, procedure] of [
      ["b", "shop/wait"],
      ["gateway", "shop/wait"],
      // It has no modules, so it knows no names.
      ["proxy", "other"],
    ] as const)
      await vi.waitFor(() => {
        const { value } = read(name);
        const labels = { procedure, kind: "CallerLeft" };
        expect([name, value("seamline_call_failures_total", labels)]).toEqual([name, 1]);
      }, 20_000);
  });

  it("metrics-3: only names that services have announced are labels; whatever else is called counts as `other`", async () => {
    const { ask: send, read } = await measured();
    const named = ["shop/none", "other", '"},x{"', "%0a", "%zz", "__proto__", "constructor"];
    for (const name of named) await send("GET", `/rpc/${encodeURI(name)}?procedure=x`);
    await send("GET", "/elsewhere");
    for (const name of ["gateway", "proxy", "a"] as const) {
      const { samples, value } = read(name);
      const labels = samples.flatMap((sample) => sample.labels["procedure"] ?? []);
      expect([...new Set(labels)]).toEqual(["other"]);
      if (name !== "a")
        expect(value("seamline_calls_total")).toBeGreaterThanOrEqual(named.length - 1);
    }
  });

  it("a call with a version behind the name counts for its name (metrics-3)", async () => {
    const { ask: send, read } = await measured();
    for (const path of ["stock@0?sku=a", "stock%400.0.0?sku=a", "stock?sku=a"])
      expect((await send("GET", `/rpc/shop/${path}`)).status).toBe(200);
    for (const name of ["gateway", "b"] as const)
      expect(read(name).value("seamline_calls_total", { procedure: "shop/stock" })).toBe(3);
  });

  it("metrics-4: the first 1,000 procedures have numbers of their own, the others share theirs", () => {
    const metrics = new Metrics({
      role: "node",
      node: undefined,
      version: "1",
      memory: { bytes: 0, limit: 1 },
    });
    onTestFinished(() => metrics.stop());
    metrics.attach({
      knows: () => true,
      nameOf: () => undefined,
      believes: () => false,
      figures: () => ({
        calls: { running: 0, limit: 1, refused: 0, medianMs: 0, oldestMs: 0, streams: 0 },
        streams: { limit: 1, items: 0 },
        links: { dialled: 0, accepted: 0 },
      }),
    });
    const response = { status: 200, headers: {} };
    const notes = { route: undefined, failure: undefined };
    for (let at = 0; at < 1_200; at++)
      metrics.add({ request: { target: `/rpc/p${at}` } as never, notes, response, ms: at });
    const { samples, value } = parseMetrics(metrics.text());
    expect(samples.filter(({ name }) => name === "seamline_calls_total")).toHaveLength(1_001);
    expect(value("seamline_calls_total", { procedure: "other" })).toBe(200);
  });

  it("a stream counts at each service that sends it, and its items where they are yielded (metrics-5)", async () => {
    const { local, read } = await measured();
    const { role } = local.at("http://proxy") ?? {};
    if (role === undefined) throw new Error("no proxy");
    const { body } = await exchange(role, {
      method: "POST",
      target: "/rpc/shop/rows",
      headers: { ...json, accept: "text/event-stream" },
      body: "{}",
    });
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const counted = () =>
      (["b", "gateway", "proxy"] as const).map((name) => {
        const { value } = read(name);
        return [value("seamline_streams"), value("seamline_stream_items_total")];
      });
    let text = "";
    while (!text.includes("data: 2"))
      text += new TextDecoder().decode((await reader.next()).value as Uint8Array);
    expect(counted()).toEqual([
      [1, 2],
      [1, 0],
      [1, 0],
    ]);
    await reader.return?.();
    await vi.waitFor(() => expect(counted().map(([open]) => open)).toEqual([0, 0, 0]), 20_000);
  });

  it("metrics-5: a gateway counts its members by state, and its links; every role has calls at once, held bytes and the delay of its event loop", async () => {
    const { read } = await measured();
    const gateway = read("gateway");
    const states = gateway.samples.filter(({ name }) => name === "seamline_members");
    expect(states.map(({ labels, value }) => [labels["state"], value])).toEqual([
      ["ready", 2],
      ["unhealthy", 0],
      ["silent", 0],
    ]);
    expect(gateway.value("seamline_calls_resent_total", { reason: "refused" })).toBe(0);
    for (const name of ["gateway", "proxy", "a"] as const) {
      const { types, value } = read(name);
      expect(value("seamline_info", { role: name, node: name, version: "1.2.3" })).toBe(1);
      expect(value("seamline_calls_running")).toBe(0);
      expect(value("seamline_calls_limit")).toBe(1_000);
      expect(value("seamline_calls_running_age_max_seconds")).toBe(0);
      expect(value("seamline_held_bytes")).toBe(5);
      expect(value("seamline_held_limit_bytes")).toBe(10);
      expect(value("seamline_event_loop_delay_p99_seconds")).toBeGreaterThanOrEqual(0);
      expect(value("seamline_links", { direction: "dialled" })).toBeGreaterThanOrEqual(0);
      const known = Object.values(families).map((family) => family.name);
      expect([...types.keys()].filter((family) => !known.includes(family))).toEqual([]);
    }
  });
});

describe("GET /metrics", () => {
  const bearer = { authorization: `Bearer ${token}` };

  it("metrics-6: with a token, /metrics answers whoever sends it as a bearer token, for any host, and nobody else", async () => {
    const { local } = await measured();
    const { role } = local.at("http://gateway") ?? {};
    if (role === undefined) throw new Error("no gateway");
    for (const fields of [
      bearer,
      { ...bearer, host: "gateway-7:9090" },
      // The scheme's case doesn't matter.
      { authorization: `bearer ${token}` },
      { authorization: `BEARER  ${token}` },
    ]) {
      const { status, headers, text } = await ask(role, "GET", "/metrics?x=1", fields);
      expect([status, headers["content-type"]]).toEqual([
        200,
        "text/plain; version=0.0.4; charset=utf-8",
      ]);
      parseMetrics(text);
    }
    const wrong = ["", token, `Bearer${token}`, `Basic ${token}`, `Bearer ${token}x`, "Bearer "];
    for (const authorization of [...wrong, `Bearer ${token.toUpperCase()}`]) {
      const { status, headers, text } = await ask(role, "GET", "/metrics", { authorization });
      expect([status, text.includes("seamline_")]).toEqual([401, false]);
      expect(headers["www-authenticate"]).toBe("Bearer");
    }
    expect((await ask(role, "GET", "/metrics")).status).toBe(401);
    expect((await ask(role, "POST", "/metrics", bearer)).status).toBe(405);
    expect((await ask(role, "GET", "/metrics/", bearer)).text).not.toContain("seamline_");
  });

  it("metrics-7: without metrics, or with a port of their own, /metrics is a path of the application", async () => {
    const { ask: send } = await operate(() => ({}));
    const { text, status } = await send("GET", "/metrics", bearer);
    expect(text).not.toContain("seamline_");
    expect(status).not.toBe(401);
  });

  const gateway = { mode: "gateway", url: "http://127.0.0.1:0", trustKey: "the-key-of-this-test" };
  const options = { signals: false } as const;

  it("metrics-8: a token that is the trust key is refused at the start", async () => {
    const config = { ...gateway, metrics: { token: gateway.trustKey } };
    await expect(startServer(undefined, { ...options, config })).rejects.toThrow(
      "configuration at metrics.token: it is the trust key, which may do far more than read metrics\n  → Set another token",
    );
  });

  it("metrics-9: a port of their own listens on loopback unless a host is set, answers nothing but metrics, refuses hosts that aren't the service's with 421, and closes with the service", async () => {
    const port = await freePort();
    const log = new TestLog();
    const config = { ...gateway, metrics: { port } };
    const server = await startServer(undefined, { ...options, config, log });
    const url = `http://127.0.0.1:${port}/metrics`;
    expect(log.lines).toContain(`metrics at ${url}`);
    const answer = await fetch(url);
    expect(parseMetrics(await answer.text()).value("seamline_members", { state: "ready" })).toBe(0);
    expect((await fetch(new URL("/rpc/a", url))).status).toBe(404);
    const foreign = await exchangeBytes(
      port,
      "GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    );
    expect([foreign.status, foreign.body]).toEqual([
      421,
      `This service doesn't answer for the host "evil.example"`,
    ]);
    const own = await exchangeBytes(
      port,
      `GET /metrics HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`,
    );
    expect(own.status).toBe(200);
    expect(await (await fetch(`${server.url}/metrics`)).text()).not.toContain("seamline_");
    await expect(
      startServer(undefined, { ...options, config, log: new TestLog() }),
    ).rejects.toThrow(/^configuration at metrics\.port: Can't listen at .* set another port$/);
    const elsewhere = { ...gateway, metrics: { port, host: "192.0.2.1" } };
    await expect(
      startServer(undefined, { ...options, config: elsewhere, log: new TestLog() }),
    ).rejects.toThrow(
      /^configuration at metrics\.host: .* Set one of its addresses in 'metrics\.host'/,
    );
    await server.stop();
    await expect(fetch(url)).rejects.toThrow();
  });
});
