import { describe, expect, it } from "vitest";
import type { ConsoleState } from "../../console/console-state.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, settle, TestClock, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { money, outOfStock, shop } from "../spec/_shop.ts";
import { address, alone, deployed, json, key, listen, stateOf, testConsole } from "./_console.ts";

const browser = {
  "sec-fetch-mode": "cors",
  host: "shop.localhost",
  origin: "http://shop.localhost",
  "user-agent": "Mozilla/5.0 (one)",
} as const;

describe("GET /svc/console/state", () => {
  it("GET /svc/console/state lists the service, its members and procedures", async () => {
    const { gateway, clock } = await deployed();
    await stateOf(gateway);
    await clock.pass(5_100);
    const state = await stateOf(gateway);
    expect(state).toMatchObject({
      format: 1,
      service: { mode: "gateway", url: address, checks: {} },
    });
    expect(state.members).toEqual([
      {
        id: "member-1",
        url: "http://a",
        name: "node a",
        segments: ["a"],
        state: "ready",
        calls: { limit: 1_000, running: 0, refused: 0, oldestMs: 0, medianMs: 0, streams: 0 },
        checked: expect.any(Number) as number,
        checks: {},
      },
      {
        id: "member-2",
        url: "http://b",
        name: "node b",
        segments: ["b"],
        state: "ready",
        calls: { limit: 1_000, running: 0, refused: 0, oldestMs: 0, medianMs: 0, streams: 0 },
        checked: expect.any(Number) as number,
        checks: {},
      },
    ]);
    expect(
      state.procedures.map(({ fqn, version, access }) => `${fqn} ${version} ${access}`),
    ).toContain("shop/price 2.0.0 public");
    expect(state.procedures.find(({ fqn }) => fqn === "shop/double")).toEqual({
      fqn: "shop/double",
      version: "0.0.0",
      access: "public",
      segments: ["b"],
      parameters: [
        { kind: "plain", name: "price", type: "number" },
        { kind: "plain", name: "money", optional: true },
      ],
    });
  });

  it("the state lists a member without a description by its FQNs, until it has left", async () => {
    const { gateway, network, clock } = await deployed();
    const member = await fakeMember(
      { dial: memoryDial(network), gateway: address, trustKey: key, instance: "old" },
      { procedures: ["old/only"] },
    );
    const state = await stateOf(gateway);
    expect(state.members.at(-1)).toMatchObject({
      id: "member-3",
      url: "http://old",
      procedures: ["old/only"],
    });
    expect(state.procedures).toContainEqual({ fqn: "old/only", segments: [] });
    member.die();
    await clock.pass(1_000);
    expect((await stateOf(gateway)).members.map(({ id }) => id)).not.toContain("member-3");
  });
});

describe("calls in the console's state", () => {
  it("the state lists calls with route, sizes, time and status, but without values", async () => {
    const { gateway } = await deployed();
    const reader = await listen(gateway);
    await reader.data();
    await ask(gateway, "GET", "/rpc/shop/stock?sku=tweed-in-secret", browser);
    await ask(gateway, "POST", "/rpc/shop/quote", json, `{"sku":"x","quantity":1}`);
    await ask(gateway, "GET", "/rpc/shop/stock?sku=none&version=1.2");
    await ask(gateway, "GET", "/rpc/shop/stock@1.3?sku=none");
    const { calls, figures } = await stateOf(gateway);
    expect(calls).toMatchObject([
      {
        number: 1,
        fqn: "shop/stock",
        version: "0.0.0",
        from: "browser",
        to: "member-2",
        node: "node b",
        method: "GET",
        arguments: 19,
        result: 1,
        status: 200,
        hops: 0,
      },
      { number: 2, fqn: "shop/stock", from: "member", to: "member-2", status: 200, hops: 2 },
      {
        number: 3,
        fqn: "shop/quote",
        from: "outside",
        to: "member-1",
        method: "POST",
        arguments: 24,
        status: 200,
      },
      {
        number: 4,
        fqn: "shop/stock",
        version: "1.2.0",
        from: "outside",
        status: 404,
        error: "ProcedureNotFound",
      },
      { number: 5, fqn: "shop/stock", version: "1.3.0", status: 404 },
    ]);
    expect(JSON.stringify(calls)).not.toContain("tweed-in-secret");
    expect(figures).toMatchObject({
      calls: 5,
      failures: 2,
      open: 0,
      browsers: 1,
      sites: ["shop.localhost"],
    });
    await reader.end();
  });

  it("the state lists a failed call with trace, error name and message, in each encoding", async () => {
    const { gateway } = await deployed();
    const reader = await listen(gateway);
    await reader.data();
    await ask(gateway, "GET", "/rpc/shop/stock?sku=none");
    await ask(
      gateway,
      "POST",
      "/rpc/shop/quote",
      { ...json, "x-svc-data-encoding": "serialized" },
      `{"sku":"none","quantity":1}`,
    );
    await ask(
      gateway,
      "POST",
      "/rpc/shop/stock",
      { ...json, "x-svc-data-encoding": "superjson" },
      `{"json":{"sku":"none"}}`,
    );
    const { calls } = await stateOf(gateway);
    const trace = ["[shop/stock | v0.0.0]"];
    expect(
      calls.map(({ fqn, from, status, error, trace: lines }) => [fqn, from, status, error, lines]),
    ).toEqual([
      ["shop/stock", "outside", 404, "NotFound", trace],
      ["shop/stock", "member", 404, "NotFound", trace],
      ["shop/quote", "outside", 404, "NotFound", [...trace, "[shop/quote | v0.0.0]"]],
      ["shop/stock", "outside", 404, "NotFound", trace],
    ]);
    expect(calls.map(({ message }) => message)).toEqual(calls.map(() => "no none left"));
    await reader.end();
  });

  it("the state counts calls by procedure, with latencies accurate to an eighth", async () => {
    const { gateway, clock, network } = await deployed();
    const slow = network.roles.get("http://b")!;
    network.roles.set("http://b", {
      ...slow,
      handle: async (request) => {
        // Delay only calls, not health checks.
        if (request.target.startsWith("/rpc/")) await clock.pass(100);
        return await slow.handle(request);
      },
    });
    const reader = await listen(gateway);
    await reader.data();
    for (let at = 0; at < 10; at++) await ask(gateway, "GET", "/rpc/shop/stock?sku=1");
    await clock.pass(1_000);
    const { rates, figures } = await stateOf(gateway);
    expect(rates).toMatchObject([
      {
        fqn: "shop/stock",
        version: "0.0.0",
        calls: 10,
        failures: 0,
        perSecond: expect.closeTo(5, 0) as number,
      },
    ]);
    expect(rates[0]!.p50).toBeGreaterThan(88);
    expect(rates[0]!.p95).toBeLessThan(113);
    expect(figures.seconds.reduce((sum, [calls]) => sum + calls, 0)).toBe(10);
    await clock.pass(70_000);
    expect((await stateOf(gateway)).rates).toEqual([]);
    await reader.end();
  });

  it("the state counts calls for at most 5,000 names, since callers can make names up", async () => {
    const { gateway, clock } = await deployed();
    const reader = await listen(gateway);
    await reader.data();
    for (let at = 0; at < 5_200; at++) await ask(gateway, "GET", `/rpc/made/up${at}`);
    await clock.pass(1_000);
    const { rates, calls, figures } = await stateOf(gateway);
    expect([rates.length, calls.length, figures.calls]).toEqual([5_000, 100, 5_200]);
    await reader.end();
  });
});

describe("GET /svc/console/events", () => {
  it("GET /svc/console/events sends a snapshot, then changes", async () => {
    const { gateway, clock } = await deployed();
    const reader = await listen(gateway);
    expect(reader.answer).toMatchObject({
      status: 200,
      headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
    });
    expect(await reader.next()).toBe("retry: 1000\n\n");
    expect(await reader.next()).toMatch(/^event: snapshot\ndata: \{"format":1,.*\}\n\n$/);
    const next = reader.next();
    await ask(gateway, "GET", "/rpc/shop/stock?sku=1", browser);
    await clock.pass(250);
    expect(await next).toMatch(
      /^event: change\ndata: \{"figures":.*"flows":\[\{"from":"browser","to":"member-2","calls":1,"failures":0\}\]/,
    );
    await reader.end();
  });

  it("the event stream sends a comment every ten seconds while nothing happens", async () => {
    const { gateway, clock } = await alone();
    const reader = await listen(gateway);
    await reader.data();
    const next = reader.next();
    await clock.pass(9_900);
    let message: string | undefined;
    void next.then((text) => (message = text));
    await settle();
    expect(message).toBeUndefined();
    await clock.pass(100);
    expect(message).toBe(": still here\n\n");
    await reader.end();
  });

  it("the event stream reports members that join, are taken out of rotation, and leave", async () => {
    const { gateway, clock, network } = await alone(false, 1_000);
    const reader = await listen(gateway);
    await reader.data<ConsoleState>();
    const until = async (isReached: (states: string) => boolean): Promise<string> => {
      for (;;) {
        const arrival = { isHere: false };
        const next = reader.data().finally(() => (arrival.isHere = true));
        while (!arrival.isHere) await clock.pass(1_000);
        const { members } = await next;
        const states = members?.map(({ url, state }) => `${url} ${state}`).join(", ");
        if (states !== undefined && isReached(states)) return states;
      }
    };
    const member = await fakeMember(
      { dial: memoryDial(network), gateway: address, trustKey: key, instance: "c" },
      { procedures: ["c/only"] },
    );
    expect(await until((states) => states.includes("//c"))).toBe("http://c ready");
    member.isHealthy = false;
    expect(await until((states) => states.includes("out"))).toBe("http://c out");
    member.isHealthy = true;
    expect(await until((states) => states.includes("ready"))).toBe("http://c ready");
    member.die();
    expect(await until((states) => !states.includes("//c"))).toBe("");
    await reader.end();
  });

  it("a slow reader of events gets one message with the last calls, and nothing is buffered", async () => {
    const { gateway, clock } = await deployed();
    const reader = await listen(gateway);
    await reader.data();
    for (let at = 0; at < 1_000; at++) await ask(gateway, "GET", "/rpc/shop/stock?sku=1");
    await clock.pass(60_000);
    const next = reader.data();
    await clock.pass(250);
    const { calls, flows, figures } = await next;
    expect([calls.length, calls.at(-1)?.number, figures.calls]).toEqual([100, 1_000, 1_000]);
    // The log keeps 512 calls. Older ones are only counted.
    expect(flows).toEqual([{ from: "outside", to: "member-2", calls: 512, failures: 0 }]);
    await reader.end();
  });

  it("the event stream accepts 32 readers, and another when one leaves", async () => {
    const { gateway } = await deployed();
    const readers = [];
    for (let at = 0; at < 32; at++) {
      readers.push(await listen(gateway));
      await readers.at(-1)?.data();
    }
    expect((await listen(gateway)).answer).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    await readers[0]?.end();
    expect((await listen(gateway)).answer.status).toBe(200);
    for (const reader of readers) await reader.end();
  });

  it("the event stream ends when the service stops", async () => {
    const { gateway } = await deployed();
    const reader = await listen(gateway);
    await reader.data();
    const next = reader.next();
    await gateway.stop();
    expect(await next).toBeUndefined();
  });
});

describe("the console's watch of calls", () => {
  it("calls are watched from the first viewer until a minute after the last has left, and then forgotten", async () => {
    const { gateway, console, clock } = await deployed();
    expect(console.calls).toBeUndefined();
    await ask(gateway, "GET", "/rpc/shop/stock?sku=1");
    const [first, second] = [await listen(gateway), await listen(gateway)];
    // Neither has read yet.
    expect(console.calls).toBeUndefined();
    await first.data();
    await second.data();
    expect(console.calls).toBeDefined();
    await first.end();
    await clock.pass(120_000);
    expect(console.calls).toBeDefined();
    await second.end();
    await clock.pass(59_000);
    expect(console.calls).toBeDefined();
    await clock.pass(1_001);
    expect(console.calls).toBeUndefined();
    const { waiting } = clock;
    await clock.pass(10_000);
    expect(clock.waiting).toBe(waiting);
    expect((await stateOf(gateway)).figures.calls).toBe(0);
  });

  it("the console requests members' health checks only while it has viewers", async () => {
    const { gateway, clock, network } = await deployed();
    const healthRequests = () =>
      network.sent.filter(({ method, url }) => method === "GET" && url.endsWith("/health")).length;
    await clock.pass(20_000);
    expect(healthRequests()).toBe(0);
    await stateOf(gateway);
    await settle();
    expect(healthRequests()).toBe(2);
    await clock.pass(120_000);
    const previous = healthRequests();
    await clock.pass(60_000);
    expect(healthRequests()).toBe(previous);
  });
});

describe("the console of other roles", () => {
  it.each(["shown", "masked"] as const)(
    "a standalone's console also shows the calls between its procedures, and whole errors if outsiders get them %s",
    async (errors) => {
      const clock = new TestClock();
      const host = testHost(new TestNetwork(), clock);
      const console = testConsole(host, false, key, errors === "masked");
      const files = {
        publicFile: async () => undefined,
        component: async () => undefined,
        serverFile: async () => undefined,
      };
      const modules = testModules(shop, [outOfStock, money]);
      const standalone = createStandalone(host, {
        trustKey: key,
        limits: defaultLimits,
        files,
        modules,
        segments: ["a", "b"],
        name: "all",
        errors,
        observer: console,
      });
      await standalone.start("http://all:1");
      const reader = await listen(standalone);
      await reader.data();
      await ask(standalone, "POST", "/rpc/shop/quote", json, `{"sku":"1","quantity":2}`);
      const failed = await ask(
        standalone,
        "POST",
        "/rpc/shop/quote",
        json,
        `{"sku":"none","quantity":2}`,
      );
      expect(failed.status).toBe(404);
      const state = await stateOf(standalone);
      expect(state.service).toMatchObject({ mode: "standalone", name: "all" });
      expect(state.members).toEqual([
        { id: "local", name: "all", segments: ["a", "b"], state: "ready" },
      ]);
      expect(
        state.calls.map(({ fqn, from, to, error, trace }) => [fqn, from, to, error, trace]),
      ).toEqual([
        ["shop/stock", "local", "local", undefined, undefined],
        ["shop/quote", "outside", undefined, undefined, undefined],
        ["shop/stock", "local", "local", "OutOfStock", ["[shop/stock | v0.0.0]"]],
        [
          "shop/quote",
          "outside",
          undefined,
          "NotFound",
          ["[shop/stock | v0.0.0]", "[shop/quote | v0.0.0]"],
        ],
      ]);
      expect(await ask(standalone, "GET", "/svc/console/state")).toEqual(
        await ask(standalone, "GET", "/svc/nothing"),
      );
      expect(await ask(standalone, "POST", "/svc/console/session", json, "{}")).toEqual(
        await ask(standalone, "POST", "/svc/nothing", json, "{}"),
      );
      await reader.end();
    },
  );

  it("a proxy's console shows the members of the gateway behind it, and answers 404 without a session or key", async () => {
    const { network, clock } = await deployed();
    const host = testHost(network, clock);
    const console = testConsole(host);
    const proxy = createProxy(host, {
      trustKey: key,
      limits: defaultLimits,
      calls: address,
      repository: "http://repository",
      observer: console,
    });
    await proxy.start("http://proxy:1");
    const reader = await listen(proxy);
    expect((await reader.data<ConsoleState>()).service.mode).toBe("proxy");
    await clock.pass(4_000);
    await ask(proxy, "GET", "/rpc/shop/stock?sku=1", browser);
    const state = await stateOf(proxy);
    expect(state.members.map(({ name }) => name)).toEqual(["node a", "node b"]);
    expect(state.procedures.length).toBe(shop.length);
    expect(state.calls).toMatchObject([
      { fqn: "shop/stock", from: "browser", node: "node b", status: 200 },
    ]);
    expect(await ask(proxy, "GET", "/svc/console/state")).toEqual(
      await ask(proxy, "GET", "/nothing"),
    );
    await reader.end();
  });

  it("a proxy's console shows the procedures of the build if the gateway has no console", async () => {
    const clock = new TestClock();
    const host = testHost(new TestNetwork(), clock);
    const console = testConsole(host);
    const modules = testModules(shop, [outOfStock, money], ["a"]);
    const proxy = createProxy(host, {
      trustKey: key,
      limits: defaultLimits,
      calls: "http://g",
      repository: "http://r",
      modules,
      observer: console,
    });
    await proxy.start("http://proxy:1");
    await stateOf(proxy);
    await clock.pass(2_000);
    const state = await stateOf(proxy);
    expect(state.members).toEqual([
      { id: "http://g", url: "http://g", segments: ["b"], state: "out" },
    ]);
    expect(state.procedures.map(({ fqn }) => fqn)).toEqual([
      "shop/stock",
      "shop/double",
      "shop/secret",
      "shop/audit",
      "shop/whoami",
    ]);
  });
});
