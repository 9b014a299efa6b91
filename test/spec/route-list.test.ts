// How a proxy learns of routes while the services behind it start, restart and change.

import { describe, expect, it } from "vitest";

import type { Role } from "../../src/roles/role.ts";
import { createFetchedRoutes } from "../../src/roles/routes/route-list.ts";
import {
  ask as send,
  key,
  TestClock,
  TestDeployment,
  testHost,
  TestLog,
  TestNetwork,
} from "../_cluster.ts";
import { routeModules, startSite } from "../_routes.ts";

const run = async (): Promise<Response> => new Response("ran");
const ask = async (role: Role) => (await send(role, "GET", "/a")).status;

describe("a proxy's list of routes", () => {
  it("routes-30: a proxy that starts before the nodes knows their routes half a second after they have joined", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const proxy = await local.proxy({});
    expect(await ask(proxy)).not.toBe(200);
    await local.clock.pass(4_000);
    const modules = routeModules([{ route: "GET /a", run }]);
    await local.node("a", { modules, segments: ["site"] });
    await local.clock.pass(500);
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

  it("in its first 3 s a gateway answers 503 with retry-after to whatever may be a route of a node that joins again (members-13)", async () => {
    const { local, outer } = await startSite("behind a proxy", [{ route: "GET /a", run }]);
    expect(await ask(outer)).toBe(200);
    local.network.roles.delete("http://gateway");
    const gateway = await local.gateway({ gatheringMs: 3_000 });
    expect(await send(gateway, "GET", "/a")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    // What can't be a route is not found at once.
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

  const answers = (list: () => unknown, status = () => 200) => {
    const network = new TestNetwork();
    const clock = new TestClock();
    const log = new TestLog();
    const host = testHost(network, clock, log);
    const asked: number[] = [];
    host.transport.send = async ({ headers: fields }) => {
      asked.push(clock.now());
      const etag = JSON.stringify(list());
      const isSame = fields["if-none-match"] === etag;
      const body = new TextEncoder().encode(JSON.stringify({ routes: list() }));
      return {
        status: isSame ? 304 : status(),
        headers: { etag },
        body: isSame ? new Uint8Array() : body,
      };
    };
    const options = { base: "http://gateway", trustKey: key, intervalMs: 5_000 };
    return { clock, log, asked, routes: createFetchedRoutes(host, options) };
  };
  const route = (name: string, path = `/${name}`) => ({ name, method: "GET", path });

  it("a route that the list no longer has is forgotten after 15 seconds, of others nothing is (routes-31)", async () => {
    let list = [route("a"), route("b")];
    const { clock, routes } = answers(() => list);
    const known = () => routes.table.all.map(({ name }) => name).sort();
    await routes.start();
    await clock.pass(20_000);
    list = [];
    await clock.pass(6_000);
    expect(known()).toEqual(["a", "b"]);
    list = [route("b")];
    await clock.pass(10_000);
    expect(known()).toEqual(["a", "b"]);
    await clock.pass(6_000);
    expect(known()).toEqual(["b"]);
    await clock.pass(60_000);
    expect(known()).toEqual(["b"]);
    routes.stop();
  });

  it("a listed route comes before a missing one with the same path (routes-31)", async () => {
    let list = [route("old", "/a")];
    const { clock, routes } = answers(() => list);
    await routes.start();
    list = [route("new", "/a")];
    await clock.pass(1_000);
    const found = routes.table.match("GET", "/a");
    expect(found.kind === "found" && found.route.name).toBe("new");
    routes.stop();
  });

  it("a proxy asks twice a second after its start and a loss, and each health interval otherwise (routes-30)", async () => {
    let list = [route("a")];
    const { clock, asked, routes } = answers(() => list);
    await routes.start();
    await clock.pass(15_000);
    expect(asked.length).toBeGreaterThan(25);
    const count = asked.length;
    await clock.pass(60_000);
    expect(asked.length - count).toBeLessThanOrEqual(12);
    list = [];
    await clock.pass(20_000);
    const later = asked.length;
    await clock.pass(60_000);
    expect(asked.length - later).toBeLessThanOrEqual(13);
    routes.stop();
  });

  it("a proxy whose gateway has another trust key warns at its start that it has no routes (routes-30)", async () => {
    const { log, routes } = answers(
      () => [],
      () => 401,
    );
    await routes.start();
    expect(log.lines.join("\n")).toContain("can't update the routes: http://gateway answered 401");
    expect(routes.table.all).toEqual([]);
    routes.stop();
  });
});
