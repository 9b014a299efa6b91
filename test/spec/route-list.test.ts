// How a proxy learns of routes while the services behind it start, restart and change.

import { describe, expect, it } from "vitest";

import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { ask as send, key, settle, TestDeployment, testHost } from "../_cluster.ts";
import { type Announced, fakeMember, memoryDial } from "../_fake-member.ts";
import { routeModules, startSite } from "../_routes.ts";

const run = async (): Promise<Response> => new Response("ran");
const ask = async (role: Role) => (await send(role, "GET", "/a")).status;

describe("a proxy's list of routes", () => {
  it("a proxy that starts before the nodes knows their routes as soon as they have joined (routes-30)", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const proxy = await local.proxy({});
    expect(await ask(proxy)).not.toBe(200);
    await local.clock.pass(4_000);
    const modules = routeModules([{ route: "GET /a", run }]);
    await local.node("a", { modules, segments: ["site"] });
    await settle();
    expect(await ask(proxy)).toBe(200);
  });

  it("routes-31: a proxy whose gateway restarts keeps its routes while the nodes join again, and forgets those that don't come back", async () => {
    const { local, outer } = await startSite("behind a proxy", [{ route: "GET /a", run }]);
    const match = () => outer.isTaken("/a");
    const { roles } = local.network;
    const node = roles.get("http://a")!;
    for (const url of ["http://a", "http://gateway"]) roles.delete(url);
    await local.gateway();
    await local.clock.pass(100);
    expect(await send(outer, "GET", "/a")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
      text: "No node with a route for /a has joined",
    });
    // Outsiders, and people with the trust key, learn that there is nothing.
    const restarted = local.network.roles.get("http://gateway") as Role;
    expect(await ask(restarted)).toBe(404);
    expect((await send(restarted, "GET", "/a", { "x-svc-trust-key": key })).status).toBe(404);
    const gateway = local.network.roles.get("http://gateway");
    // The proxy has asked the new gateway, which knows no node.
    roles.set("http://a", node);
    await local.clock.pass(5_000);
    expect(match()).toBe(true);
    expect(await ask(outer)).toBe(200);
    expect(gateway?.describe().routes).toHaveLength(1);
  });

  it("in its first 3 s a gateway answers 503 with retry-after to whatever may be a route of a node that joins again (members-10)", async () => {
    const { local, outer } = await startSite("behind a proxy", [{ route: "GET /a", run }]);
    expect(await ask(outer)).toBe(200);
    local.network.roles.delete("http://gateway");
    const gateway = await local.gateway({ gatheringMs: 3_000 });
    expect(await send(gateway, "GET", "/a")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    // A path that can't be a route's is 404 at once.
    for (const path of ["/", "/svc/nothing", "/rpc", "/metrics/x", "/@vite/client", "//a", "/a//b"])
      expect([path, (await send(gateway, "GET", path)).status]).toEqual([path, 404]);
    for (const path of ["/a/../b", "/a/%2e%2E/b", "/a/..%2fb", "/a\\b", "/a/%zz", "/a/%ff"])
      expect([path, (await send(gateway, "GET", path)).status]).toEqual([path, 404]);
    for (const method of ["TRACE", "PROPFIND", "get"])
      expect([method, (await send(gateway, method, "/a")).status]).toEqual([method, 404]);
    for (const method of ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      expect([method, (await send(gateway, method, "/a")).status]).toEqual([method, 503]);
    await local.clock.pass(2_999);
    expect((await send(gateway, "GET", "/b")).status).toBe(503);
    await local.clock.pass(1);
    expect((await send(gateway, "GET", "/b")).status).toBe(404);
    expect(await ask(gateway)).toBe(200);
  });

  const route = (name: string, path = `/${name}`) => ({ name, method: "GET", path });

  /** A proxy with two gateways, and members of theirs. */
  const twoGateways = async () => {
    const local = new TestDeployment();
    const { network, clock, log } = local;
    const urls = ["http://g1", "http://g2"];
    const start = async (url: string): Promise<Role> => {
      const host = testHost(network, clock, log, { url, trustKey: key });
      const gateway = createGateway(host, {
        trustKey: key,
        limits: defaultLimits,
        newId: () => crypto.randomUUID(),
        gatheringMs: 0,
      });
      network.roles.set(url, gateway);
      await gateway.start(url);
      return gateway;
    };
    await Promise.all(urls.map(start));
    const proxy = await local.proxy({ calls: urls });
    const join = async (gateway: string, instance: string, announced: Announced) =>
      await fakeMember({ dial: memoryDial(network), gateway, instance }, announced);
    const known = (): string[] =>
      proxy
        .describe()
        .routes?.map(({ name }) => name)
        .toSorted() ?? [];
    /** How often the list of a gateway was asked for. */
    const asked = (): number =>
      network.sent.filter(({ method, url }) => method === "GET" && url.endsWith("/svc/routes"))
        .length;
    return { local, network, clock, log, proxy, start, join, known, asked };
  };

  it("routes-30: a gateway tells the proxies that have linked to it each change of its list, and a proxy asks for lists that it doesn't have", async () => {
    const { network, join, known, asked, clock } = await twoGateways();
    expect([known(), asked()]).toEqual([[], 2]);
    const a = await join("http://g1", "a", { procedures: [], routes: [route("a")] });
    await settle();
    expect([known(), asked()]).toEqual([["a"], 3]);
    // The other gateway has the same list, which the proxy knows by its digest.
    await join("http://g2", "a", { procedures: [], routes: [route("a")] });
    await settle();
    expect([known(), asked()]).toEqual([["a"], 3]);
    // Members with the same list change nothing.
    network.sent.length = 0;
    for (const name of ["b", "c"])
      await join("http://g1", name, { procedures: [], routes: [route("a")] });
    a.die();
    await clock.pass(60_000);
    expect(network.sent.filter(({ url }) => url.endsWith("/svc/routes"))).toEqual([]);
  });

  it("goes by the lists of all its gateways together (routes-30)", async () => {
    const { join, known, network, clock } = await twoGateways();
    await join("http://g1", "a", { procedures: [], routes: [route("a"), route("both")] });
    await join("http://g2", "b", { procedures: [], routes: [route("b"), route("both")] });
    await settle();
    expect(known()).toEqual(["a", "b", "both"]);
    network.roles.delete("http://g1");
    await clock.pass(14_999);
    expect(known()).toEqual(["a", "b", "both"]);
    await clock.pass(1);
    expect(known()).toEqual(["b", "both"]);
  });

  it("a route that disappears from a list is kept for 15 seconds, in which requests for it get 503, and then forgotten (routes-31)", async () => {
    const { join, known, clock, proxy } = await twoGateways();
    const member = await join("http://g1", "a", {
      procedures: [],
      routes: [route("a"), route("b")],
    });
    await settle();
    await member.join({ procedures: [], routes: [route("b")] });
    await settle();
    expect(known()).toEqual(["a", "b"]);
    const text = async () => (await send(proxy, "GET", "/a")).text;
    expect(await text()).toMatch(/^No node /);
    await clock.pass(14_999);
    expect(known()).toEqual(["a", "b"]);
    await clock.pass(1);
    expect(known()).toEqual(["b"]);
    expect(await text()).toBe("The repository can't be reached");
    await clock.pass(60_000);
    expect(known()).toEqual(["b"]);
  });

  it("while no gateway is there, no route is forgotten: a request for one gets 503, however long that lasts (routes-31)", async () => {
    const { join, known, clock, proxy, network, start } = await twoGateways();
    await join("http://g1", "a", { procedures: [], routes: [route("a")] });
    await settle();
    for (const name of ["g1", "g2"]) network.roles.delete(`http://${name}`);
    await clock.pass(10 * 60_000);
    expect(known()).toEqual(["a"]);
    expect(await send(proxy, "GET", "/a")).toMatchObject({
      status: 503,
      text: expect.not.stringContaining("repository") as string,
    });
    // The first that is back has to learn of its nodes.
    await start("http://g2");
    await clock.pass(3_000);
    expect(known()).toEqual(["a"]);
    await clock.pass(10_000);
    await join("http://g2", "b", { procedures: [], routes: [route("b")] });
    await clock.pass(60_000);
    expect(known()).toEqual(["b"]);
  });

  it("a route that comes back in time isn't forgotten (routes-31)", async () => {
    const { join, known, clock } = await twoGateways();
    const member = await join("http://g1", "a", { procedures: [], routes: [route("a")] });
    member.die();
    await clock.pass(10_000);
    await join("http://g2", "a", { procedures: [], routes: [route("a")] });
    await clock.pass(60_000);
    expect(known()).toEqual(["a"]);
  });

  it("a listed route comes before a missing one with the same path (routes-31)", async () => {
    const { join, clock, proxy } = await twoGateways();
    const member = await join("http://g1", "a", { procedures: [], routes: [route("old", "/a")] });
    await settle();
    member.die();
    const next = await join("http://g1", "b", { procedures: [], routes: [route("new", "/a")] });
    await clock.pass(100);
    expect(await ask(proxy)).toBe(200);
    expect(next.calls).toHaveLength(1);
  });

  it("a proxy in front of a node or a standalone hears its routes as well (routes-30)", async () => {
    const local = new TestDeployment();
    const modules = routeModules([{ route: "GET /a", run }]);
    await local.node("a", { modules, segments: ["site"], gateway: undefined });
    const proxy = await local.proxy({ calls: local.urlOf("a"), behind: "node" });
    expect(proxy.isTaken("/a")).toBe(true);
    expect(await ask(proxy)).toBe(200);
  });

  it("nobody but the other end of a link tells a proxy of lists, and strangers learn none (routes-30)", async () => {
    const { proxy, network, join } = await twoGateways();
    await join("http://g1", "a", { procedures: [], routes: [route("a")] });
    await settle();
    network.sent.length = 0;
    const body = JSON.stringify({ digest: "0".repeat(64) });
    const keys = { "x-svc-trust-key": key };
    for (const fields of [{}, keys])
      expect((await send(proxy, "PUT", "/svc/routes", fields, body)).status).toBe(404);
    const gateway = network.roles.get("http://g1")!;
    expect((await send(gateway, "GET", "/svc/routes")).status).toBe(401);
    expect(network.sent.filter(({ url }) => url.endsWith("/svc/routes"))).toEqual([]);
  });
});
