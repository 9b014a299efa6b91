import { describe, expect, it, onTestFinished } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import { listen } from "../../server/http/http.ts";
import { createGateway } from "../../src/roles/relay/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { memoryNames } from "../../src/roles/memory-network.ts";
import {
  ask,
  type TestClock,
  testHost,
  TestLog,
  testModules,
  type TestNetwork,
} from "../_cluster.ts";
import { isLinked } from "../_way.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { money, outOfStock, shop } from "./_shop.ts";

const trusted = { "x-svc-trust-key": key };
const stock = "/rpc/shop/stock?sku=1";

/** A gateway after a restart: it has no members. */
async function emptyGateway(network: TestNetwork, clock: TestClock): Promise<Role> {
  let ids = 0;
  const gateway = createGateway(testHost(network, clock), {
    trustKey: key,
    limits: defaultLimits,
    healthIntervalMs: 5000,
    lease: 15_000,
    newId: () => `again${++ids}`,
  });
  await gateway.start(urls.gateway);
  return gateway;
}

describe("joining a gateway", () => {
  it("joining-4: a node is routable as soon as it has joined", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    const ran = await Promise.all(
      [1, 2].map(async () => (await ask(gateway, "GET", stock)).headers["x-svc-node"]),
    );
    expect(ran).toEqual(["node b", "second"]);
  });

  it.each([300, 3000, 60_000])(
    "has its nodes back within 2 s when it was away for %i ms (joining-5)",
    async (away) => {
      const { network, clock, proxy, log } = await deploy();
      network.roles.delete(urls.gateway);
      await clock.pass(away);
      expect((await ask(proxy, "GET", stock)).status).toBe(503);
      network.roles.set(urls.gateway, await emptyGateway(network, clock));
      await clock.pass(2000);
      expect(
        (
          await ask(
            proxy,
            "POST",
            "/rpc/shop/quote",
            { "content-type": "application/json" },
            '{"sku":"1","quantity":2}',
          )
        ).status,
      ).toBe(200);
      // One line for each node, however long that took.
      expect(
        log.lines.filter((line) => line.includes(isLinked ? "dialling again" : "joining again")),
        // The proxy, too, has a link.
      ).toHaveLength(isLinked ? 3 : 2);
    },
  );

  it("joining-6: a node that starts before its gateway keeps trying, and says so once", async () => {
    const { gateway, network, clock, log } = await deploy({ gateway: false });
    await clock.pass(5000);
    expect(log.lines.filter((line) => line.includes("can't join"))).toHaveLength(2);
    network.roles.set(urls.gateway, gateway);
    await clock.pass(2000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("ends the start of a node whose trust key the gateway refuses (joining-8)", async () => {
    const { network } = await deploy();
    const foreignNode = createNode(testHost(network), {
      trustKey: "another",
      limits: defaultLimits,
      gateway: urls.gateway,
      modules: testModules(shop, [outOfStock, money]),
      segments: ["b"],
      name: undefined,
    });
    await expect(foreignNode.start("http://c")).rejects.toThrow(
      "The gateway at http://gateway refuses this node's trust key: both must have the same trustKey",
    );
  });

  const form = '; expected {"url": "http://…", "procedures": ["…"]}';
  it.each([
    ["an empty body", "", "The body is not JSON"],
    ["no JSON", "{", "The body is not JSON"],
    ["null", "null", "'url' is not an http address"],
    ["a list", "[]", "'url' is not an http address"],
    ["no address", "{}", "'url' is not an http address"],
    ["an address that is none", '{"url":"c","procedures":[]}', "'url' is not an http address"],
    ["a number as address", '{"url":80,"procedures":[]}', "'url' is not an http address"],
    [
      "another protocol",
      '{"url":"file:///etc/passwd","procedures":[]}',
      "'url' is not an http address",
    ],
    [
      "credentials in the address",
      '{"url":"http://a:b@c","procedures":[]}',
      "'url' is not an http address",
    ],
    [
      "a query in the address",
      '{"url":"http://c?x=1","procedures":[]}',
      "'url' is not an http address",
    ],
    [
      "a fragment in the address",
      '{"url":"http://c#x","procedures":[]}',
      "'url' is not an http address",
    ],
    ["no list", '{"url":"http://c"}', "'procedures' is not a list of FQNs"],
    [
      "a text as list",
      '{"url":"http://c","procedures":"all"}',
      "'procedures' is not a list of FQNs",
    ],
    [
      "something else in the list",
      '{"url":"http://c","procedures":["a",1]}',
      "'procedures' is not a list of FQNs",
    ],
    [
      "an empty name in the list",
      '{"url":"http://c","procedures":[""]}',
      "'procedures' is not a list of FQNs",
    ],
  ])("refuses a member with %s: 400 (joining-1)", async (_, body, message) => {
    const { gateway } = await deploy();
    expect(await ask(gateway, "POST", "/nodes", trusted, body)).toMatchObject({
      status: 400,
      text: message + form,
      headers: { "x-svc-error": "BadRequest" },
    });
    expect(gateway.describe()["members"]).toEqual([urls.a, urls.b]);
  });

  it("a gateway takes 100,000 procedures of a member, and answers 413 to a list above 16 MiB, over a socket (joining-1)", async () => {
    const gateway = createGateway(nodeHost({ log: new TestLog(), names: memoryNames() }), {
      trustKey: key,
      limits: defaultLimits,
      healthIntervalMs: 60_000,
      lease: 15_000,
      newId: () => "m1",
    });
    const server = await listen((request) => gateway.handle(request), {
      host: "127.0.0.1",
      port: 0,
    });
    onTestFinished(() => server.close(0));
    const join = (count: number) =>
      fetch(`${server.url}/nodes`, {
        method: "POST",
        headers: trusted,
        body: JSON.stringify({
          url: "http://c",
          procedures: Array.from({ length: count }, (_, at) => `${"a".repeat(90)}${at}`),
        }),
      });
    expect((await join(180_000)).status).toBe(413);
    expect((await join(100_000)).status).toBe(201);
  });
});
