import { describe, expect, it } from "vitest";

import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { ask, settle, testHost, testModules } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { money, outOfStock, shop } from "./_shop.ts";

/** No answer until whoever asked has given up. */
const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const trusted = { "x-svc-trust-key": key };

describe("§3 membership of a node at the gateway", () => {
  it("registers a node that starts, routable in the same moment", async () => {
    const { gateway } = await deploy();
    expect(await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({ status: 200, text: "5" });
  });

  it("lets a node that starts before its gateway keep trying, and says so once", async () => {
    const { gateway, network, clock, log } = await deploy({ gateway: false });
    await clock.pass(5000);
    expect(log.lines.filter((line) => line.includes("can't join"))).toHaveLength(2);
    network.roles.set(urls.gateway, gateway);
    await clock.pass(2000);
    expect(await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({ status: 200 });
  });

  it("removes a node that goes down: its lease runs out, and the procedure is 503 with retry-after", async () => {
    const { gateway, b, clock } = await deploy();
    const stopped = b.stop();
    // It serves on for a second: calls that were sent before it left are on their way.
    await settle();
    expect((await ask(b, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
    await clock.pass(1000);
    await stopped;
    const answer = await ask(gateway, "GET", "/rpc/shop/stock?sku=1");
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" } });
  });

  it("runs a lease of 15 s that a node renews by itself", async () => {
    const { gateway, clock } = await deploy();
    await clock.pass(120_000);
    expect(await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({ status: 200 });
  });

  it("takes a member that isn't renewed out when its lease runs out", async () => {
    const { gateway, clock } = await deploy();
    const joined = await ask(gateway, "POST", "/nodes", trusted, JSON.stringify({ url: "http://c", procedures: ["c/only"] }));
    expect(joined.status).toBe(201);
    expect(JSON.parse(joined.text)).toMatchObject({ lease: 15_000 });
    const { id } = JSON.parse(joined.text) as { id: string };
    await clock.pass(14_000);
    expect((await ask(gateway, "PUT", `/nodes/${id}`, trusted)).status).toBe(204);
    await clock.pass(14_000);
    expect((await ask(gateway, "PUT", `/nodes/${id}`, trusted)).status).toBe(204);
    await clock.pass(15_001);
    expect((await ask(gateway, "PUT", `/nodes/${id}`, trusted)).status).toBe(404);
    expect((await ask(gateway, "GET", "/rpc/c/only")).status).toBe(503);
  });

  it("gives a gateway that restarts its nodes back by themselves", async () => {
    const { network, clock, proxy, gateway } = await deploy();
    network.roles.delete(urls.gateway);
    await clock.pass(6000);
    expect((await ask(proxy, "GET", "/rpc/shop/stock?sku=1")).status).toBe(503);
    const restarted = await deploy({ gateway: false });
    network.roles.set(urls.gateway, restarted.gateway);
    await clock.pass(6000);
    expect(await ask(proxy, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({ status: 200 });
    expect(gateway).not.toBe(restarted.gateway);
  });

  it("takes an unhealthy node out of rotation, and back when it is healthy again", async () => {
    const { gateway, b, clock } = await deploy();
    let healthy = false;
    b.addHealthCheck("database", { isHealthy: async () => healthy });
    await clock.pass(5000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(503);
    expect((await ask(gateway, "GET", "/rpc/shop/refuse")).status).toBe(403);
    healthy = true;
    await clock.pass(5000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
  });

  it("keeps a node that is slow to say how it is once, and takes it out when it says nothing twice in a row", async () => {
    const { gateway, network, b, clock } = await deploy();
    network.roles.set(urls.b, {
      ...b,
      handle: (request) => (request.target === "/health/status" ? silence(request.signal) : b.handle(request)),
    });
    await clock.pass(5000 + 1000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
    await clock.pass(5000 + 1000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(503);
    network.roles.set(urls.b, b);
    await clock.pass(5000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
  });

  it("takes a member that refuses the connection out, and gives the call to the next one", async () => {
    const { gateway, network, node, log } = await deploy();
    const second = node(["b"]);
    network.roles.set("http://b2", second);
    await second.start("http://b2");
    network.roles.delete(urls.b);
    for (let calls = 0; calls < 4; calls++) expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
    expect(log.lines.filter((line) => line.includes("can't be reached; it gets no calls"))).toHaveLength(1);
  });

  it("ends the start of a node whose trust key the gateway refuses", async () => {
    const { network } = await deploy();
    const stranger = createNode(testHost(network), {
      trustKey: "another",
      limits: defaultLimits,
      gateway: urls.gateway,
      modules: testModules(shop, [outOfStock, money]),
      segments: ["b"],
      name: undefined,
    });
    await expect(stranger.start("http://c")).rejects.toThrow(
      "The gateway at http://gateway refuses this node's trust key: both must have the same trustKey",
    );
  });

  it("ends its health checks when the gateway stops, also when one is under way", async () => {
    const { gateway, b, clock, network } = await deploy();
    b.addHealthCheck("slow", { isHealthy: () => new Promise(() => {}) });
    await clock.pass(5000);
    await gateway.stop();
    await clock.pass(2000);
    const before = network.sent.filter((request) => request.url.endsWith("/health/status")).length;
    await clock.pass(30_000);
    expect(network.sent.filter((request) => request.url.endsWith("/health/status"))).toHaveLength(before);
  });

  it("lets nobody join, renew or remove without the trust key", async () => {
    const { gateway } = await deploy();
    const join = JSON.stringify({ url: "http://evil", procedures: ["shop/stock"] });
    expect((await ask(gateway, "POST", "/nodes", {}, join)).status).toBe(401);
    expect((await ask(gateway, "POST", "/nodes", { "x-svc-trust-key": "wrong" }, join)).status).toBe(401);
    expect((await ask(gateway, "PUT", "/nodes/m1")).status).toBe(401);
    expect((await ask(gateway, "DELETE", "/nodes/m1")).status).toBe(401);
  });

  it.each([
    ["no JSON", "{", "not JSON"],
    ["no address", "{}", "'url' is not an http address"],
    ["another protocol", '{"url":"file:///etc/passwd","procedures":[]}', "'url' is not an http address"],
    ["credentials in the address", '{"url":"http://a:b@c","procedures":[]}', "'url' is not an http address"],
    ["no list", '{"url":"http://c","procedures":"all"}', "'procedures' is not a list of FQNs"],
  ])("refuses a member with %s", async (_, body, message) => {
    const { gateway } = await deploy();
    const answer = await ask(gateway, "POST", "/nodes", trusted, body);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
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
    for (let calls = 0; calls < 6; calls++) ran.push(String((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).headers["x-svc-node"]));
    expect(ran).toEqual(["node b", "second", "third", "node b", "second", "third"]);
  });

  it("leaves private procedures out: the gateway doesn't know them", async () => {
    const { gateway } = await deploy();
    expect((await ask(gateway, "GET", "/rpc/shop/secret")).status).toBe(404);
  });
});
