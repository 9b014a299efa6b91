// Several gateways: nodes are members of each, and calls go through those that are there.

import { describe, expect, it } from "vitest";

import type { GatewayAddress, Gateways } from "../../src/base/ports/gateways.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, key, testModules } from "../_cluster.ts";
import { call, json, settle, several } from "./_gateways.ts";

const ofNode = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (error as Error).name);

describe("a node with several gateways", () => {
  it("gateways-1: joins each gateway of the list, and leaves each when it stops", async () => {
    const { start, node, members, log, clock } = several();
    await start("g1", "g2");
    const a = await node("a");
    expect([members("g1"), members("g2")]).toEqual([["http://a"], ["http://a"]]);
    expect(a.describe().ways?.map(({ to }) => to)).toEqual(["http://g1", "http://g2"]);
    for (const name of ["g1", "g2"])
      expect(
        log.lines.filter((line) => line === `joined the gateway at http://${name}`),
      ).toHaveLength(1);
    const left = a.leave();
    await settle();
    expect([members("g1"), members("g2")]).toEqual([[], []]);
    await clock.pass(1_000);
    expect(await left).toBe(true);
  });

  it("gateways-2: sends its own calls to the gateways in turn", async () => {
    const { start, node, asked, runs } = several();
    await start("g1", "g2");
    const a = await node("a");
    const b = await node("b", { segments: [] });
    for (let calls = 0; calls < 6; calls++) await b.runProcedure?.("where");
    expect(runs.where).toBe(6);
    expect(asked("/rpc/where").toSorted()).toEqual(
      expect.arrayContaining(["g1", "g1", "g1", "g2", "g2", "g2"]),
    );
    void a;
  });

  it("gateways-3: tells each gateway how it is, and each keeps calls from it by itself", async () => {
    const { start, node, clock, gatewayOf } = several();
    await start("g1", "g2");
    const a = await node("a");
    let isHealthy = true;
    a.addHealthCheck("switch", { isHealthy: async () => isHealthy });
    const states = async () =>
      await Promise.all(
        ["g1", "g2"].map(async (name) => {
          const { text } = await ask(gatewayOf(name), "GET", "/nodes", { "x-svc-trust-key": key });
          return (JSON.parse(text) as { members: { state: string }[] }).members[0]?.state;
        }),
      );
    isHealthy = false;
    await clock.pass(6_000);
    expect(await states()).toEqual(["unhealthy", "unhealthy"]);
    isHealthy = true;
    await clock.pass(6_000);
    expect(await states()).toEqual(["ready", "ready"]);
  });

  it("gateways-4: starts when all gateways that answer have taken it, and tries those that are away on", async () => {
    const { start, node, members, clock, log } = several();
    await start("g2");
    await node("a");
    expect(members("g2")).toEqual(["http://a"]);
    const about = (name: string) =>
      log.lines.filter((line) => line.startsWith("warning") && line.includes(name));
    expect(about("http://g2")).toEqual([]);
    const warnings = about("http://g1").length;
    await clock.pass(10_000);
    // Each tells that it's away when it is found out, and not at each try.
    expect(about("http://g1")).toHaveLength(warnings);
    await start("g1");
    await clock.pass(2_000);
    expect([members("g1"), members("g2")]).toEqual([["http://a"], ["http://a"]]);
  });

  it("gateways-5: one that hangs holds a start up for a second after another one has taken the node", async () => {
    const { start, node, network, clock, log, members } = several();
    await start("g2");
    const hangs = new Promise<never>(() => {});
    network.roles.set("http://g1", {
      handle: () => hangs,
      accept: () => ({ status: 101, open() {} }),
    } as never);
    let isReady = false;
    const starting = node("a").then(() => (isReady = true));
    await settle();
    expect([members("g2"), isReady]).toEqual([["http://a"], false]);
    await clock.pass(999);
    expect(isReady).toBe(false);
    await clock.pass(1);
    await starting;
    await clock.pass(15_000);
    expect(log.lines.join("\n")).toContain("http://g1");
    network.roles.delete("http://g1");
    await start("g1");
    await clock.pass(20_000);
    expect(members("g1")).toEqual(["http://a"]);
  });

  it("gateways-6: a gateway with another trust key, or that isn't a gateway, fails the start, which names it", async () => {
    const { start, node, local, network } = several();
    await start("g1");
    network.roles.set(
      "http://g2",
      await local
        .add("g2", (host, common) =>
          createGateway(host, { ...common, trustKey: "another-trust-key", newId: () => "m" }),
        )
        .start(),
    );
    await expect(node("a")).rejects.toThrow(/http:\/\/g2 has another trust key/);
    network.roles.delete("http://g2");
    await node("b", { gateway: "http://g1" });
    await expect(node("c", { gateway: ["http://g1", "http://b"] })).rejects.toThrow(
      "http://b is a node, not a gateway: set 'gateway' to the address of one",
    );
  });

  it("gateways-7: the same gateway under two names is used once, whichever of them it answers at", async () => {
    const { start, node, network, clock, log, members } = several(["g1"]);
    await start("g1");
    network.roles.set("http://alias", network.roles.get("http://g1")!);
    await node("a", { gateway: ["http://g1", "http://alias"] });
    await clock.pass(5_000);
    log.lines.length = 0;
    await clock.pass(50_000);
    expect([members("g1"), log.lines]).toEqual([["http://a"], []]);
  });
});

describe("calls through several gateways", () => {
  it("gateways-8: a proxy sends calls to the gateways in turn", async () => {
    const { start, node, proxy, asked } = several();
    await start("g1", "g2");
    await node("a");
    const entry = await proxy();
    asked("/");
    for (let calls = 0; calls < 6; calls++) expect(await call(entry, "where")).toMatch(/^20/);
    const shares = asked("/rpc/where").filter((host) => host !== "a");
    expect(shares.filter((host) => host === "g1")).toHaveLength(3);
    expect(shares.filter((host) => host === "g2")).toHaveLength(3);
  });

  it("gateways-9: a gateway that is killed takes no further call, and no call that comes then fails", async () => {
    const { start, node, proxy, kill, clock, runs } = several();
    await start("g1", "g2");
    await node("a");
    const b = await node("b", { segments: [] });
    const entry = await proxy();
    kill("g1");
    for (let calls = 0; calls < 8; calls++) {
      expect(await call(entry, "where")).toMatch(/^20/);
      await b.runProcedure?.("where");
    }
    await clock.pass(3_000);
    await start("g1");
    await clock.pass(3_000);
    for (let calls = 0; calls < 8; calls++) expect(await call(entry, "where")).toMatch(/^20/);
    expect(runs.where).toBe(24);
  });

  it("gateways-10: of the calls that a killed gateway had, those that are idempotent run again through another one, once", async () => {
    const { start, node, proxy, kill, runs, held, clock, log } = several();
    await start("g1", "g2");
    await node("a");
    const b = await node("b", { segments: [] });
    const entry = await proxy();
    /** Kills the gateways in turn until a call has run again. */
    const killItsGateway = async () => {
      for (const name of ["g1", "g2"]) {
        kill(name);
        await clock.pass(100);
        if (runs.twice === 2) return await start(name);
        await start(name);
        await clock.pass(3_000);
      }
    };
    for (const send of [() => call(entry, "twice"), () => b.runProcedure!("twice")]) {
      runs.twice = held.length = log.lines.length = 0;
      const sent = send();
      await settle();
      expect([runs.twice, held.length]).toEqual([1, 1]);
      await killItsGateway();
      expect(await sent).toMatch(/^(?:200 )?twice$/);
      expect(runs.twice).toBe(2);
      const ofResent = log.lines.filter((line) => line.startsWith("sent 'twice' again"));
      expect(ofResent).toHaveLength(1);
      await clock.pass(3_000);
    }
  });

  it("gateways-19: a call that is idempotent and has no answer as the only gateway's link is lost goes over the next link, once", async () => {
    const { start, node, proxy, runs, cutLinks, clock } = several(["g1"]);
    await start("g1");
    await node("a");
    const b = await node("b", { segments: [] });
    const entry = await proxy();
    const senders = {
      proxy: async (fqn: string) => await call(entry, fqn),
      b: async (fqn: string) => await ofNode(b.runProcedure!(fqn)),
    };
    for (const [name, send] of Object.entries(senders)) {
      runs.twice = runs.once = 0;
      const sent = [send("twice"), send("once")];
      await settle();
      cutLinks(name);
      await clock.pass(100);
      expect(await sent[0]).toMatch(/^(?:200 )?twice$/);
      expect(await sent[1]).toMatch(/^502 |^BadGateway$/);
      expect([runs.twice, runs.once]).toEqual([2, 1]);
    }
  });

  it("without a next link in its time it fails as it would have (gateways-19)", async () => {
    const { start, node, proxy, runs, kill, clock } = several(["g1"]);
    await start("g1");
    await node("a");
    const sent = call(await proxy(), "twice");
    await settle();
    kill("g1");
    await clock.pass(100);
    expect(await sent).toMatch(/^502 /);
    expect(runs.twice).toBe(1);
  });

  it("gateways-11: a call that isn't idempotent and has no answer from a killed gateway fails with 502, and ran once", async () => {
    const { start, node, proxy, kill, runs, clock } = several();
    await start("g1", "g2");
    await node("a");
    const b = await node("b", { segments: [] });
    const entry = await proxy();
    const calls = [call(entry, "once"), ofNode(b.runProcedure!("waits"))];
    await settle();
    kill("g1");
    kill("g2");
    await clock.pass(100);
    const [ofProxy, ofB] = await Promise.all(calls);
    expect(ofProxy).toMatch(/^502 /);
    expect(ofB).toBe("BadGateway");
    expect([runs.once, runs.waits]).toEqual([1, 1]);
  });

  it("gateways-12: a gateway that stops loses no call: those that run end there, and others go to the next", async () => {
    const { start, node, proxy, stop, held, clock, runs } = several();
    await start("g1", "g2");
    await node("a");
    const b = await node("b", { segments: [] });
    const entry = await proxy();
    const running = [call(entry, "waits"), call(entry, "waits"), b.runProcedure!("waits")];
    await settle();
    const stopped = stop("g1");
    const later: Promise<unknown>[] = [];
    for (let turn = 0; turn < 12; turn++) {
      later.push(call(entry, "where"), b.runProcedure!("where"));
      await clock.pass(100);
      if (turn === 6) for (const release of held.splice(0)) release();
    }
    expect(await Promise.all(running)).toEqual(["200 waited", "200 waited", "waited"]);
    await Promise.all(later);
    for (const [at, answer] of later.entries())
      if (at % 2 === 0) expect(await answer).toMatch(/^20/);
    await stopped;
    expect(runs).toMatchObject({ waits: 3, where: 24 });
  });

  it("gateways-13: a gateway that has just started refuses calls whose nodes have yet to join, and another one takes them", async () => {
    const { start, node, proxy, kill, clock, gatewayOf } = several();
    await start("g1", "g2");
    // Its nodes don't know of the second gateway.
    await node("a", { gateway: "http://g1" });
    const entry = await proxy();
    for (let calls = 0; calls < 6; calls++) expect(await call(entry, "where")).toMatch(/^20/);
    const refused = await ask(gatewayOf("g2"), "POST", "/rpc/where", json, "{}");
    expect(refused).toMatchObject({ status: 503, headers: { "x-svc-not-started": "starting" } });
    // Those whose nodes are all gone are refused so, too, and the answer is the last gateway's.
    await node("b", { gateway: "http://g2" });
    for (let calls = 0; calls < 4; calls++) expect(await call(entry, "where")).toMatch(/^20/);
    kill("g1");
    await clock.pass(3_000);
    for (let calls = 0; calls < 4; calls++) expect(await call(entry, "where")).toMatch(/^20/);
  });

  it("gateways-14: with all gateways away a call is refused with 503, and the first that is back takes calls", async () => {
    const { start, node, proxy, kill, clock } = several();
    await start("g1", "g2");
    await node("a");
    const entry = await proxy();
    kill("g1");
    kill("g2");
    await settle();
    const refused = await ask(entry, "POST", "/rpc/where", json, "{}");
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    await start("g2");
    await clock.pass(4_000);
    for (let calls = 0; calls < 4; calls++) expect(await call(entry, "where")).toMatch(/^20/);
  });
});

describe("gateways that come and go", () => {
  /** Gateways that a test adds and removes. */
  const changing = (...first: GatewayAddress[]) => {
    let current: readonly GatewayAddress[] = first;
    const watchers: ((gateways: readonly GatewayAddress[]) => void)[] = [];
    const gateways: Gateways = {
      watch(onGateways) {
        watchers.push(onGateways);
        onGateways(current);
        return () => {};
      },
    };
    return {
      gateways,
      set(...next: GatewayAddress[]) {
        current = next;
        for (const tell of watchers) tell(next);
      },
    };
  };

  it("gateways-15: nodes and proxies follow a list that changes, without a call that fails", async () => {
    const { start, node, proxy, members, clock, kill } = several();
    await start("g1", "g2");
    const ofNodes = changing({ url: "http://g1" });
    const ofProxy = changing({ url: "http://g1" });
    const a = await node("a", { gateway: ofNodes.gateways });
    const entry = await proxy({ calls: ofProxy.gateways });
    expect(members("g2")).toEqual([]);
    for (const list of [ofNodes, ofProxy]) list.set({ url: "http://g1" }, { url: "http://g2" });
    await clock.pass(100);
    expect(members("g2")).toEqual(["http://a"]);
    expect(a.describe().ways).toHaveLength(2);
    for (const list of [ofNodes, ofProxy]) list.set({ url: "http://g2" });
    for (let calls = 0; calls < 4; calls++) expect(await call(entry, "where")).toMatch(/^20/);
    // A link counts for more than a list: it stays until it is lost, and isn't dialled again.
    expect(a.describe().ways).toHaveLength(2);
    kill("g1");
    await clock.pass(2_000);
    expect(a.describe().ways?.map(({ to }) => to)).toEqual(["http://g2"]);
    for (let calls = 0; calls < 4; calls++) expect(await call(entry, "where")).toMatch(/^20/);
  });

  it("gateways-16: a host name with several addresses is a gateway at each, and requests keep the name", async () => {
    const { local, network, clock, log } = several([]);
    const found = ["10.0.0.1", "10.0.0.2"];
    const names = { resolve: async () => found };
    const common = { trustKey: key, limits: defaultLimits };
    const add = async (address: string) => {
      const gateway = local.add(address, (host) =>
        createGateway(host, { ...common, newId: () => "m", origin: undefined } as never),
      );
      const role = await gateway.start();
      network.roles.set(`http://${address}:3002`, role);
      return role;
    };
    const roles = [await add("10.0.0.1"), await add("10.0.0.2")];
    const node = await local
      .add("a", (host) =>
        createNode(
          { ...host, names },
          {
            ...common,
            gateway: "http://gateways:3002",
            modules: testModules([
              { fqn: "where", in: { a: "public" }, body: () => async () => 1 },
            ]),
            segments: ["a"],
            name: "a",
          },
        ),
      )
      .start();
    expect(roles.map((role) => role.describe().members)).toEqual([["http://a"], ["http://a"]]);
    expect(node.describe().ways?.map(({ to }) => to)).toEqual([
      "http://gateways:3002 (10.0.0.1)",
      "http://gateways:3002 (10.0.0.2)",
    ]);
    const lines = log.lines.filter((line) => line.startsWith("joined"));
    expect(lines.join("\n")).toContain("joined the gateway at http://gateways:3002 (10.0.0.2)");
    const third = await add("10.0.0.3");
    found.push("10.0.0.3");
    await clock.pass(10_000);
    expect(third.describe().members).toEqual(["http://a"]);
  });

  it("gateways-18: a gateway that isn't listed any more keeps its calls in both directions until they end, whether it is left out before it stops or while it drains", async () => {
    for (const leftOut of ["before", "meanwhile"] as const) {
      const { start, node, proxy, clock, stop, held, runs } = several();
      await start("g1", "g2");
      const [first, second] = [{ url: "http://g1" }, { url: "http://g2" }];
      const lists = [changing(first), changing(first), changing(first)] as const;
      await node("a", { gateway: lists[0].gateways });
      const b = await node("b", { gateway: lists[1].gateways, segments: [] });
      const entry = await proxy({ calls: lists[2].gateways });
      const running = [call(entry, "waits"), ofNode(b.runProcedure!("waits"))];
      await settle();
      expect(runs.waits).toBe(2);
      const leaveOut = () => lists.forEach((list) => list.set(second));
      if (leftOut === "before") leaveOut();
      const stopped = stop("g1");
      await clock.pass(200);
      if (leftOut === "meanwhile") leaveOut();
      await clock.pass(200);
      // It isn't dialled again, and others take what comes.
      expect(await call(entry, "where")).toMatch(/^20/);
      for (const release of held.splice(0)) release();
      await clock.pass(2_000);
      expect(await Promise.all(running)).toEqual(["200 waited", "waited"]);
      await stopped;
      expect(runs.waits).toBe(2);
      expect(entry.describe().ways?.map(({ to }) => to)).toEqual(["http://g2"]);
    }
  });
});
