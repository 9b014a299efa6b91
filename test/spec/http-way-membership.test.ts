// Membership of nodes that join over HTTP: leases, questions, addresses.

import { describe, expect, it } from "vitest";

import { UnsentError } from "../../src/base/ports.ts";
import { ask, settle, TestClock } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";

const trusted = { "x-svc-trust-key": key };
const gone = { status: 503, headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" } };
const stock = "/rpc/shop/stock?sku=1";

describe("leaving the rotation", () => {
  it("leaving-1: a node that is stopped leaves the rotation at once, and for a second still serves what was sent before", async () => {
    const { gateway, b, clock } = await deploy();
    let over = false;
    const stopped = b.stop().then(() => (over = true));
    await settle();
    expect((await ask(b, "GET", stock)).status).toBe(200);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    // The server closes its socket after this has ended.
    await clock.pass(999);
    expect(over).toBe(false);
    await clock.pass(1);
    await stopped;
  });

  it("leaving-2: a member whose lease has expired leaves the rotation", async () => {
    const { gateway, clock, log } = await deploy();
    const join = await ask(
      gateway,
      "POST",
      "/nodes",
      trusted,
      JSON.stringify({ url: "http://c", procedures: ["c/only"] }),
    );
    const { id } = JSON.parse(join.text) as { id: string };
    for (let renewals = 0; renewals < 2; renewals++) {
      await clock.pass(14_000);
      expect((await ask(gateway, "PUT", `/nodes/${id}`, trusted)).status).toBe(204);
    }
    await clock.pass(15_001);
    expect(await ask(gateway, "GET", "/rpc/c/only")).toMatchObject(gone);
    expect(log.lines).toContain(
      "warning: http://c didn't renew its lease, so it is no longer a member",
    );
  });

  it("a gateway that another one has replaced lets no lease run out (leaving-2)", async () => {
    const { local, clock, log } = await deploy();
    await local.replaceGateway();
    await clock.pass(15_001);
    expect(log.lines.filter((line) => line.includes("didn't renew its lease"))).toEqual([]);
  });

  it("leaving-3: a member that refuses the connection is out of the rotation until it answers", async () => {
    const { gateway, network, b, clock, log, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    const answering = async () => String((await ask(gateway, "GET", stock)).headers["x-svc-node"]);
    network.roles.delete(urls.b);
    expect([await answering(), await answering()]).toEqual(["second", "second"]);
    network.roles.set(urls.b, b);
    expect([await answering(), await answering()]).toEqual(["second", "second"]);
    await clock.pass(1000);
    expect([await answering(), await answering()].toSorted()).toEqual(["node b", "second"]);
    expect(
      log.lines.filter((line) => line.includes("can't be reached; it gets no calls")),
    ).toHaveLength(1);
  });

  it("a gateway logs why it can't check a member's health (leaving-3)", async () => {
    const { network, clock, log } = await deploy();
    network.roles.delete(urls.b);
    await clock.pass(5000);
    expect(log.lines).toContain(
      "warning: http://b can't be reached; it gets no calls until it answers again (http://b refused the connection)",
    );
  });

  it("a member that has left isn't reported as unreachable (leaving-3)", async () => {
    const { network, gateway, b, clock, log } = await deploy();
    let refuse = (): void => {};
    const waiting = new Promise<never>((_, reject) => {
      refuse = () => reject(new UnsentError("http://b refused the connection", "refused"));
    });
    network.roles.set(
      urls.b,
      Object.assign(Object.create(b) as typeof b, { handle: () => waiting }),
    );
    await clock.pass(5000);
    expect((await ask(gateway, "DELETE", "/nodes/m2", trusted)).status).toBe(204);
    refuse();
    await settle();
    expect(log.lines.filter((line) => line.includes("unhealthy"))).toEqual([]);
  });

  it("a proxy whose gateway is unavailable logs it once, with the reason (leaving-3)", async () => {
    const { network, proxy, log } = await deploy();
    const gateway = network.roles.get(urls.gateway)!;
    network.roles.delete(urls.gateway);
    for (let calls = 0; calls < 3; calls++)
      expect((await ask(proxy, "GET", stock)).status).toBe(503);
    network.roles.set(urls.gateway, gateway);
    expect((await ask(proxy, "GET", stock)).status).toBe(200);
    expect(log.lines.filter((line) => line.includes(urls.gateway))).toEqual([
      expect.stringContaining("joined"),
      expect.stringContaining("joined"),
      "warning: http://gateway can't be reached: http://gateway refused the connection",
      "http://gateway answers again",
    ]);
  });

  it("a gateway that stops ends its health checks, also one under way (leaving-4)", async () => {
    const { gateway, b, clock, network } = await deploy();
    b.addHealthCheck("slow", { isHealthy: () => new Promise(() => {}) });
    await clock.pass(5000);
    await gateway.stop();
    await clock.pass(2000);
    const checks = () =>
      network.sent.filter((request) => request.url.endsWith("/health/status")).length;
    const before = checks();
    await clock.pass(30_000);
    expect(checks()).toBe(before);
  });

  it("a node that stops doesn't join again when an earlier request is answered late (leaving-1)", async () => {
    const { gateway, network, node, clock } = await deploy();
    const leaving = node(["b"]);
    network.roles.set("http://c", leaving);
    await leaving.start("http://c");
    // The node leaves while its request to check its membership is under way.
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    network.roles.set(urls.gateway, {
      ...gateway,
      handle: async (request) => {
        if (request.method === "GET" && request.target.startsWith("/nodes/")) await held;
        return await gateway.handle(request);
      },
    });
    await clock.pass(1000);
    const stopped = leaving.stop();
    await settle();
    answer();
    await clock.pass(1000);
    await stopped;
    expect(gateway.describe()).toMatchObject({ members: [urls.a, urls.b], routes: [] });
    expect(clock).toBeInstanceOf(TestClock);
  });
});
