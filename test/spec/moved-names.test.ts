// A service's name that points elsewhere, as when one deployment takes the place of another: links follow it,
// and nothing is lost.

import { describe, expect, it } from "vitest";

import type { Host } from "../../src/base/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, key, TestDeployment, testModules } from "../_cluster.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { behindSocket, keepCalling } from "./_behind-sockets.ts";

const lookupMs = 10_000;
const overlapMs = 15_000;
const [blue, green] = ["10.0.0.1", "10.0.0.2"];

/** A deployment whose names point where a test says. */
function named() {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const addresses = new Map<string, readonly string[] | Error>();
  const resolve = async (name: string): Promise<readonly string[]> => {
    const found = addresses.get(name) ?? new Error(`getaddrinfo ENOTFOUND ${name}`);
    if (found instanceof Error) throw found;
    return found;
  };
  /** Its links say to which address they are, as over a socket. */
  const withNames = (host: Host): Host => ({
    ...host,
    names: { resolve },
    links: {
      ...host.links,
      async dial(base, address, dialing) {
        const [at = ""] = address === undefined ? await resolve(new URL(base).hostname) : [address];
        const channel = await host.links.dial(base, at, dialing);
        return Object.defineProperty(channel, "address", { value: at });
      },
    },
  });
  let ids = 0;
  /** Lets what waits go on. */
  const held: (() => void)[] = [];
  const add = async <R extends Role>(
    name: string,
    create: (host: Host, common: TestDeployment["common"]) => R,
  ): Promise<R> => await local.add(name, (host, common) => create(withNames(host), common)).start();
  const at = async (address: string, port: number, role: Role): Promise<Role> => {
    network.roles.set(`http://${address}:${port}`, role);
    return role;
  };
  return {
    local,
    network,
    clock,
    log,
    held,
    point: (name: string, to: readonly string[] | Error) => void addresses.set(name, to),
    repository: async (address: string) => {
      const file = async () => {
        await clock.sleep(300);
        return { status: 200, headers: {}, body: address };
      };
      const files = {
        publicFile: file,
        component: async () => undefined,
        serverFile: async () => undefined,
      };
      const role = await add(`repository-${address}`, (host, common) =>
        createRepository(host, { ...common, files }),
      );
      return await at(address, 3001, role);
    },
    gateway: async (address: string) =>
      await at(
        address,
        3002,
        await add(`gateway-${address}`, (host, common) =>
          createGateway(host, { ...common, newId: () => `m${++ids}` }),
        ),
      ),
    node: async (name: string, segments: readonly string[] = ["a"]) =>
      await add(name, (host, common) =>
        createNode(host, {
          ...common,
          gateway: "http://gateway:3002",
          name,
          segments,
          modules: testModules([
            {
              fqn: "waits",
              in: { a: "public" },
              body: () => async () => {
                await new Promise<void>((resolve) => held.push(resolve));
                return "released";
              },
            },
            {
              fqn: "slow",
              in: { a: "public" },
              body: () => async () => (await clock.sleep(300), "done"),
            },
          ]),
        }),
      ),
    proxy: async () =>
      await add("proxy", (host, common) =>
        createProxy(host, {
          ...common,
          calls: "http://gateway:3002",
          repository: "http://repository:3001",
        }),
      ),
    /** Sends a request each 100 ms for so long. Returns what all of them were answered with. */
    async load(ms: number, request: () => Promise<string>): Promise<string[]> {
      const sent: Promise<string>[] = [];
      for (let passed = 0; passed < ms; passed += 100) {
        sent.push(request().catch(String));
        await clock.pass(100);
      }
      await clock.pass(400);
      return await Promise.all(sent);
    },
  };
}

const answerOf = async (role: Role, target: string): Promise<string> => {
  const { status, text } = await ask(role, "GET", target);
  return `${status} ${text}`;
};

const kindsOf = (answers: readonly string[]): readonly string[] => [...new Set(answers)];

describe("a repository's name that points elsewhere", () => {
  async function deployed() {
    const all = named();
    all.point("repository", [blue]);
    all.point("gateway", [blue]);
    await all.repository(blue);
    await all.repository(green);
    await all.gateway(blue);
    const proxy = await all.proxy();
    return { ...all, proxy, file: () => answerOf(proxy, "/a.txt") };
  }

  it("moved-1: a repository's name that points elsewhere is followed by a proxy within 10 s: no file fails, those on their way come from the former one, and its link ends", async () => {
    const { clock, load, point, file, log } = await deployed();
    await clock.pass(4_000);
    point("repository", [green]);
    const answers = await load(lookupMs, file);
    expect(kindsOf(answers)).toEqual([`200 ${blue}`, `200 ${green}`]);
    expect(await load(1_000, file)).toEqual(Array.from({ length: 10 }, () => `200 ${green}`));
    expect(log.lines).toContain(
      `http://repository:3001 is at ${green} now; replacing the link to ${blue}`,
    );
    // None of it is dialled again, whatever becomes of the former one.
    log.lines.length = 0;
    await clock.pass(3 * lookupMs);
    expect(log.lines).toEqual([]);
  });

  it("moved-2: a link stays while nothing is at the new address, and while the name can't be looked up", async () => {
    const { clock, load, point, file, log } = await deployed();
    point("repository", ["10.0.0.9"]);
    expect(kindsOf(await load(2 * lookupMs, file))).toEqual([`200 ${blue}`]);
    point("repository", new Error("getaddrinfo EAI_AGAIN repository"));
    expect(kindsOf(await load(2 * lookupMs, file))).toEqual([`200 ${blue}`]);
    expect(log.lines.filter((line) => line.includes("EAI_AGAIN"))).toEqual([
      "warning: can't look 'repository' up (getaddrinfo EAI_AGAIN repository): keeping its address",
    ]);
    point("repository", [green]);
    await clock.pass(lookupMs);
    expect(await load(100, file)).toEqual([`200 ${green}`]);
  });

  it("the same over sockets, while a large file is on its way (moved-1)", async () => {
    const addresses = { before: "127.0.0.1", after: "127.0.0.2" };
    let current = addresses.before;
    const large = 64;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const at = async (address: string, port?: number) => {
      const chunk = new Uint8Array(65_536);
      const body = async function* () {
        for (let chunks = 0; chunks < large; chunks++) {
          if (chunks === 1) await held;
          yield chunk;
        }
      };
      const publicFile = async ({ target }: { readonly target: string }) => ({
        status: 200,
        headers: {},
        body: target === "/large" ? body() : address,
      });
      const none = async () => undefined;
      const files = { publicFile, component: none, serverFile: none };
      const create = (host: Host) =>
        createRepository(host, { trustKey: key, limits: defaultLimits, files });
      return await behindSocket(create, { address, ...(port !== undefined && { port }) });
    };
    const former = await at(addresses.before);
    const port = Number(new URL(former.url).port);
    await at(addresses.after, port);
    const proxy = await behindSocket(
      (host) =>
        createProxy(host, {
          trustKey: key,
          limits: defaultLimits,
          calls: "http://127.0.0.1:9",
          repository: `http://repository.test:${port}`,
        }),
      { resolve: () => [current] },
    );
    const file = async (target: string) => {
      const answer = await fetch(proxy.url + target);
      return `${answer.status} ${await answer.text()}`;
    };
    const onItsWay = file("/large");
    const load = keepCalling(4, () => file("/a.txt"));
    await load.more(100);
    const moved = performance.now();
    current = addresses.after;
    const isThere = () => load.outcomes.has(`200 ${addresses.after}`);
    await expect.poll(isThere, { timeout: 15_000 }).toBe(true);
    expect(performance.now() - moved).toBeLessThan(lookupMs + 1_000);
    expect(await file("/b.txt")).toBe(`200 ${addresses.after}`);
    release();
    expect((await onItsWay).length).toBe("200 ".length + large * 65_536);
    await load.end();
    const outcomes = new Set(Object.values(addresses).map((address) => `200 ${address}`));
    expect(new Set(load.outcomes.keys())).toEqual(outcomes);
  }, 30_000);

  it("a name with several addresses keeps the link to one of them, however they are written (moved-1)", async () => {
    const { load, point, file, log } = await deployed();
    log.lines.length = 0;
    point("repository", [green, `::ffff:${blue}`]);
    expect(kindsOf(await load(2 * lookupMs, file))).toEqual([`200 ${blue}`]);
    expect(log.lines).toEqual([]);
  });
});

describe("a gateway's name that points elsewhere", () => {
  /** The first service looks names up 5 s before the second one does. */
  async function deployed(first: "node" | "proxy", addresses: readonly string[] = [blue]) {
    const all = named();
    const { clock, point } = all;
    point("repository", [blue]);
    point("gateway", addresses);
    const gateways = { [blue]: await all.gateway(blue), [green]: await all.gateway(green) };
    await all.repository(blue);
    const roles: Partial<Record<"node" | "proxy", Role>> = {};
    const startNode = async () => (roles.node = await all.node("a"));
    const startProxy = async () => (roles.proxy = await all.proxy());
    await (first === "node" ? startNode() : startProxy());
    await clock.pass(5_000);
    await (first === "node" ? startProxy() : startNode());
    const caller = await all.node("b", []);
    const ofNode = async (fqn: string) => `200 ${String(await caller.runProcedure?.(fqn))}`;
    return {
      ...all,
      membersOf: (address: string) => gateways[address]!.describe().members,
      call: () => answerOf(roles.proxy!, "/rpc/slow"),
      callOfNode: () => ofNode("slow"),
      start: (from: "outer" | "inner") =>
        from === "outer" ? answerOf(roles.proxy!, "/rpc/waits") : ofNode("waits"),
      linkedOf: (role: "node" | "proxy") =>
        roles[role]!.describe().ways?.map(({ isLinked }) => isLinked) ?? [],
      routesOfProxy: () => roles.proxy!.describe().routes?.map(({ name }) => name) ?? [],
      linksOf: (role: "node" | "proxy") => roles[role]!.describe().ways?.map(({ to }) => to) ?? [],
    };
  }

  it.each([
    ["nodes look it up first", "node"],
    ["proxies look it up first", "proxy"],
  ] as const)(
    "moved-3: a gateway's name that points elsewhere is followed by nodes and proxies within 10 s, and no call fails (%s)",
    async (_, first) => {
      const { clock, load, point, call, callOfNode, membersOf } = await deployed(first);
      // The new one has been there for long: it says that it knows none of the procedures.
      await clock.pass(7_000);
      point("gateway", [green]);
      const sent: Promise<string>[] = [];
      const answers = await load(lookupMs + overlapMs + 5_000, () => {
        sent.push(callOfNode().catch(String));
        return call();
      });
      expect(kindsOf(answers)).toEqual(["200 done"]);
      expect(kindsOf(await Promise.all(sent))).toEqual(["200 done"]);
      expect(membersOf(blue)).toEqual([]);
      expect(new Set(membersOf(green))).toEqual(new Set(["http://a", "http://b"]));
    },
  );

  it("moved-4: calls that run through the former gateway end there, after it has been left", async () => {
    const { clock, point, start, held, membersOf, linksOf } = await deployed("node");
    const running = [start("outer"), start("inner")];
    await clock.settle();
    expect(held).toHaveLength(2);
    point("gateway", [green]);
    await clock.pass(lookupMs + overlapMs + 1_000);
    expect([membersOf(blue), linksOf("proxy").length]).toEqual([[], 1]);
    for (const release of held) release();
    await clock.settle();
    expect(await Promise.all(running)).toEqual(["200 released", "200 released"]);
  });

  it("moved-5: of several gateways behind one name, those that leave it are left, and those that come are used", async () => {
    const third = "10.0.0.3";
    const { clock, load, point, call, gateway, membersOf, linksOf } = await deployed("node", [
      blue,
      green,
    ]);
    const added = await gateway(third);
    // The gateway is running for long before it is found.
    await clock.pass(5_000);
    point("gateway", [green, third]);
    const answers = await load(lookupMs + overlapMs + 2_000, call);
    expect(kindsOf(answers)).toEqual(["200 done"]);
    expect(membersOf(blue)).toEqual([]);
    for (const members of [membersOf(green), added.describe().members])
      expect(new Set(members)).toEqual(new Set(["http://a", "http://b"]));
    const names = [green, third].map((address) => `http://gateway:3002 (${address})`);
    expect(linksOf("proxy")).toEqual(names);
    expect(linksOf("node")).toEqual(names);
  });

  it("a name that points back before the former gateway is left keeps that one (moved-3)", async () => {
    const { clock, load, point, call, membersOf, log } = await deployed("proxy");
    point("gateway", [green]);
    await clock.pass(lookupMs);
    point("gateway", [blue]);
    log.lines.length = 0;
    expect(kindsOf(await load(2 * lookupMs + overlapMs, call))).toEqual(["200 done"]);
    expect(membersOf(green)).toEqual([]);
    expect(new Set(membersOf(blue))).toEqual(new Set(["http://a", "http://b"]));
    expect(log.lines.filter((line) => line.startsWith("linked to"))).toEqual([]);
  });

  it("what only the former gateway has is forgotten after it is left (moved-3)", async () => {
    const { clock, point, network, routesOfProxy } = await deployed("node");
    const gateway = `http://${blue}:3002`;
    const routes = [{ name: "old", method: "GET", path: "/old" }];
    await fakeMember({ dial: memoryDial(network), gateway }, { procedures: [], routes });
    await clock.settle();
    expect(routesOfProxy()).toEqual(["old"]);
    point("gateway", [green]);
    await clock.pass(lookupMs + overlapMs);
    expect(routesOfProxy()).toEqual(["old"]);
    await clock.pass(overlapMs);
    expect(routesOfProxy()).toEqual([]);
  });

  it("the same gateway at another address gets a link to there, and never loses a member (moved-3)", async () => {
    const { clock, load, point, call, membersOf, network, linkedOf } = await deployed("node");
    network.roles.set("http://10.0.0.4:3002", network.roles.get(`http://${blue}:3002`)!);
    point("gateway", ["10.0.0.4"]);
    await clock.pass(lookupMs);
    // Before the former link is left.
    for (const role of ["node", "proxy"] as const) expect(linkedOf(role)).toEqual([true, true]);
    expect(kindsOf(await load(lookupMs + overlapMs + 1_000, call))).toEqual(["200 done"]);
    network.roles.delete(`http://${blue}:3002`);
    await clock.pass(1_000);
    expect(new Set(membersOf(blue))).toEqual(new Set(["http://a", "http://b"]));
    expect(kindsOf(await load(500, call))).toEqual(["200 done"]);
  });
});
