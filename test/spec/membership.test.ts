import { describe, expect, it } from "vitest";

import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, settle, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { money, outOfStock, shop } from "./_shop.ts";

const gone = { status: 503, headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" } };
const stock = "/rpc/shop/stock?sku=1";

describe("membership of a node at the gateway", () => {
  it("members-1: a node that is configured with a gateway registers there when it starts, and one without doesn't", async () => {
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

  it("members-2: the gateway records the node and its procedures", async () => {
    const { gateway } = await deploy();
    expect(gateway.describe()).toMatchObject({ members: [urls.a, urls.b], routes: [] });
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

  it("members-3: a node that goes down is unregistered automatically", async () => {
    const { gateway, network } = await deploy();
    const member = await fakeMember({ dial: memoryDial(network) }, { procedures: ["c/only"] });
    expect(gateway.describe().members).toEqual([urls.a, urls.b, member.url]);
    member.die();
    await settle();
    expect(gateway.describe()).toMatchObject({ members: [urls.a, urls.b], routes: [] });
    expect(await ask(gateway, "GET", "/rpc/c/only")).toMatchObject(gone);
  });

  it("members-4: a node that goes down gets no more calls, and the others take them", async () => {
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
    expect(network.sent.filter(({ url }) => url.startsWith(`${urls.b}/rpc`))).toEqual([]);
  });

  it("members-5: a node with an unhealthy check is removed from the rotation", async () => {
    const { gateway, b, clock } = await deploy();
    b.addHealthCheck("database", { isHealthy: async () => false });
    await clock.pass(5000);
    expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
  });

  it("members-6: the gateway stops using an unhealthy node and uses the others", async () => {
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
  it.each([
    ["says false", async () => false],
    ["throws", () => Promise.reject(new Error("no"))],
  ])(
    "leaving-1: a member with an unhealthy check is out of the rotation (one that %s)",
    async (_, isHealthy) => {
      const { gateway, b, clock } = await deploy();
      b.addHealthCheck("database", { isHealthy });
      await clock.pass(5000);
      expect(await ask(gateway, "GET", stock)).toMatchObject(gone);
    },
  );

  it("leaving-2: a node that reports healthy again comes back by itself", async () => {
    const { gateway, b, clock } = await deploy();
    let healthy = false;
    b.addHealthCheck("database", { isHealthy: async () => healthy });
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(503);
    healthy = true;
    await clock.pass(5000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("a gateway waits for a slow health check as long as the process is live (leaving-1, health-14)", async () => {
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
});

describe("load balancing", () => {
  it("the gateway distributes calls round robin over all nodes that hold the procedure", async () => {
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

  it("the gateway doesn't know private procedures", async () => {
    const { gateway } = await deploy();
    expect((await ask(gateway, "GET", "/rpc/shop/secret")).status).toBe(404);
  });
});
