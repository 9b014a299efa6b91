import { describe, expect, it } from "vitest";

import { UnsentError } from "../../src/ports.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { ask, settle, TestClock, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { money, outOfStock, shop } from "./_shop.ts";

/** No answer until whoever asked has given up. */
const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const trusted = { "x-svc-trust-key": key };
const gone = { status: 503, headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" } };
const stock = "/rpc/shop/stock?sku=1";

describe("§3 membership of a node at the gateway", () => {
  it("§3-1 a node that is configured with a gateway registers there when it starts, and one without asks nobody", async () => {
    const { network } = await deploy();
    expect(network.sent.filter(({ url }) => url === `${urls.gateway}/nodes`)).toHaveLength(2);
    const alone = new TestNetwork();
    const node = createNode(testHost(alone), {
      trustKey: key,
      limits: defaultLimits,
      gateway: undefined,
      modules: testModules(shop, [outOfStock, money]),
      segments: ["b"],
      name: undefined,
    });
    await node.start("http://c");
    expect((await ask(node, "GET", stock)).status).toBe(200);
    expect(alone.sent).toEqual([]);
  });

  it("§3-2 the gateway records the node and its procedures", async () => {
    const { gateway } = await deploy();
    expect(gateway.describe()).toEqual({ members: [urls.a, urls.b] });
    expect(await ask(gateway, "GET", stock)).toMatchObject({
      status: 200,
      text: "5",
      headers: { "x-svc-node": "node b" },
    });
    expect(await ask(gateway, "GET", "/rpc/shop/refuse")).toMatchObject({
      status: 403,
      headers: { "x-svc-node": "node a" },
    });
  });

  it("§3-3 a node that goes down is unregistered by itself", async () => {
    const { gateway, network, clock } = await deploy();
    const joined = await ask(
      gateway,
      "POST",
      "/nodes",
      trusted,
      JSON.stringify({ url: "http://c", procedures: ["c/only"] }),
    );
    const { id } = JSON.parse(joined.text) as { id: string };
    network.roles.delete("http://c");
    await clock.pass(15_001);
    expect(gateway.describe()).toEqual({ members: [urls.a, urls.b] });
    expect((await ask(gateway, "PUT", `/nodes/${id}`, trusted)).status).toBe(404);
  });

  it("§3-4 a node that goes down gets no more calls: those go to the others", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    network.roles.delete(urls.b);
    for (let calls = 0; calls < 6; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 200,
        headers: { "x-svc-node": "second" },
      });
    // The one call that found nobody there was the last one that it was sent.
    expect(network.sent.filter(({ url }) => url.startsWith(`${urls.b}/rpc`))).toHaveLength(1);
  });

  it("§3-5 a node whose registered check says false is removed from the rotation", async () => {
    const { gateway, b, clock } = await deploy();
    b.addHealthCheck("database", { isHealthy: async () => false });
    await clock.pass(5000);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
  });

  it("§3-6 the gateway stops using an unhealthy node, and goes on with the others", async () => {
    const { gateway, network, node, b, clock } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    b.addHealthCheck("database", { isHealthy: async () => false });
    await clock.pass(5000);
    for (let calls = 0; calls < 4; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 200,
        headers: { "x-svc-node": "second" },
      });
    expect((await ask(gateway, "GET", "/rpc/shop/refuse")).status).toBe(403);
  });
});

describe("leaving the rotation", () => {
  it("D5.leaving-1 a node that is stopped leaves the rotation at once, and serves on for a second what was sent before", async () => {
    const { gateway, b, clock } = await deploy();
    let over = false;
    const stopped = b.stop().then(() => (over = true));
    await settle();
    expect((await ask(b, "GET", stock)).status).toBe(200);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    // What stops it closes its door when this has come to its end.
    await clock.pass(999);
    expect(over).toBe(false);
    await clock.pass(1);
    await stopped;
  });

  it("D5.leaving-2 a member whose lease has run out leaves the rotation", async () => {
    const { gateway, clock } = await deploy();
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
  });

  it("D5.leaving-3 a member that refuses the connection is out of the rotation, until it answers a health check again", async () => {
    const { gateway, network, b, clock, log } = await deploy();
    network.roles.delete(urls.b);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    network.roles.set(urls.b, b);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
    expect(
      log.lines.filter((line) => line.includes("can't be reached; it gets no calls")),
    ).toHaveLength(1);
  });

  it.each([
    ["says false", async () => false],
    ["throws", () => Promise.reject(new Error("no"))],
  ])(
    "D5.leaving-4 a member with an unhealthy check is out of the rotation (one that %s)",
    async (_, isHealthy) => {
      const { gateway, b, clock } = await deploy();
      b.addHealthCheck("database", { isHealthy });
      await clock.pass(5000);
      expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    },
  );

  it("D5.leaving-5 a node that reports healthy again comes back by itself", async () => {
    const { gateway, b, clock } = await deploy();
    let healthy = false;
    b.addHealthCheck("database", { isHealthy: async () => healthy });
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(503);
    healthy = true;
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("keeps a node that is slow to say how it is once, and takes it out when it says nothing twice in a row (D5.leaving-4)", async () => {
    const { gateway, network, b, clock } = await deploy();
    network.roles.set(urls.b, {
      ...b,
      handle: (request) =>
        request.target.startsWith("/health/") ? silence(request.signal) : b.handle(request),
    });
    await clock.pass(5000 + 2000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
    await clock.pass(3000 + 2000);
    expect((await ask(gateway, "GET", stock)).status).toBe(503);
    network.roles.set(urls.b, b);
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("waits for a check that takes its time, as long as the process says that it lives (D5.leaving-4, D5.health-3)", async () => {
    const { gateway, b, clock, log } = await deploy();
    let healthy = true;
    b.addHealthCheck("slow", {
      isHealthy: () => new Promise((resolve) => clock.after(4000, () => resolve(healthy))),
    });
    await clock.pass(60_000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
    healthy = false;
    await clock.pass(10_000);
    expect((await ask(gateway, "GET", stock)).status).toBe(503);
    expect(log.lines).toContain("warning: http://b is unhealthy: it gets no calls");
  });

  it("says why a member can't be asked how it is (D5.leaving-3)", async () => {
    const { network, clock, log } = await deploy();
    network.roles.delete(urls.b);
    await clock.pass(5000);
    expect(log.lines).toContain(
      "warning: http://b is unhealthy: it gets no calls (http://b refused the connection)",
    );
  });

  it("isn't reported once it has left (D5.leaving-3)", async () => {
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

  it("is told once in the log of a proxy whose gateway is away, with the reason (D5.leaving-3)", async () => {
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

  it("ends with the gateway's own health checks when that stops, also when one is under way (D5.leaving-4)", async () => {
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

  it("is for good: what was asked before the stop and answered after it makes nobody join again (D5.leaving-1)", async () => {
    const { gateway, network, node, clock } = await deploy();
    const leaving = node(["b"]);
    network.roles.set("http://c", leaving);
    await leaving.start("http://c");
    // The question whether it is still known is on its way while the node leaves.
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
    expect(gateway.describe()).toEqual({ members: [urls.a, urls.b] });
    expect(clock).toBeInstanceOf(TestClock);
  });
});

describe("§9 load balancing", () => {
  it("distributes calls round robin over all nodes that hold the procedure", async () => {
    const { gateway, network, node } = await deploy();
    for (const name of ["second", "third"]) {
      const more = node(["b"], name);
      network.roles.set(`http://${name}`, more);
      await more.start(`http://${name}`);
    }
    const ran: string[] = [];
    for (let calls = 0; calls < 6; calls++)
      ran.push(String((await ask(gateway, "GET", stock)).headers["x-svc-node"]));
    expect(ran).toEqual(["node b", "second", "third", "node b", "second", "third"]);
  });

  it("leaves private procedures out: the gateway doesn't know them", async () => {
    const { gateway } = await deploy();
    expect((await ask(gateway, "GET", "/rpc/shop/secret")).status).toBe(404);
  });
});
