import { describe, expect, it, onTestFinished } from "vitest";

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import {
  ask,
  settle,
  type TestClock,
  testHost,
  testModules,
  type TestNetwork,
} from "../_cluster.ts";
import { dialAsMember, fakeMember, memoryDial, socketDial } from "../_fake-member.ts";
import { behindSocket } from "./_behind-sockets.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { money, outOfStock, shop } from "./_shop.ts";

const stock = "/rpc/shop/stock?sku=1";

/** A gateway after a restart: it has no members. */
async function emptyGateway(network: TestNetwork, clock: TestClock): Promise<Role> {
  let ids = 0;
  const gateway = createGateway(testHost(network, clock), {
    trustKey: key,
    limits: defaultLimits,
    newId: () => `again${++ids}`,
  });
  await gateway.start(urls.gateway);
  return gateway;
}

describe("joining a gateway", () => {
  it("joining-1: POST /nodes over a node's link, with its address and procedures, makes it a member", async () => {
    const { gateway, network } = await deploy();
    const member = await dialAsMember({ dial: memoryDial(network), instance: "c" });
    const announced = { url: "http://c:8080/", procedures: ["c/one", "c/two"] };
    expect(await member.announce(announced)).toMatchObject({
      status: 201,
    });
    expect(gateway.describe()).toMatchObject({
      members: [urls.a, urls.b, "http://c:8080"],
    });
    expect(await ask(gateway, "GET", "/rpc/c/two")).toMatchObject({ status: 200, text: "c" });
    // A node sends the same.
    const sent = network.sent.find(
      ({ url, method }) => url === `${urls.gateway}/nodes` && method === "POST",
    );
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({
      url: urls.a,
      procedures: expect.arrayContaining(["shop/quote"]) as string[],
    });
  });

  it("joining-2: a node that stops cleanly says goodbye on its link, and gets no call after that", async () => {
    const { gateway, network, clock, b } = await deploy();
    const stopped = b.stop();
    await clock.pass(1_000);
    await stopped;
    expect(network.sent.filter(({ method }) => method === "DELETE")).toHaveLength(1);
    expect(gateway.describe().members).toEqual([urls.a]);
    const member = await fakeMember({ dial: memoryDial(network) }, { procedures: ["c/one"] });
    expect((await member.leave()).status).toBe(204);
    expect((await ask(gateway, "GET", "/rpc/c/one")).status).toBe(503);
    expect(member.calls).toEqual([]);
    expect((await member.leave()).status).toBe(204);
  });
  it("joining-3: a node is routable as soon as it has joined", async () => {
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
    "joining-4: a gateway that was away has its nodes back within 2 s (for %i ms)",
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
        log.lines.filter((line) => line.includes("dialling again")),
        // The proxy, too, has a link.
      ).toHaveLength(3);
    },
  );

  it("joining-5: a node that starts before its gateway keeps trying, and says so once", async () => {
    const { gateway, network, clock, log } = await deploy({ gateway: false });
    await clock.pass(5000);
    // Two nodes and the proxy.
    expect(log.lines.filter((line) => line.includes("can't link to http://gateway"))).toHaveLength(
      3,
    );
    network.roles.set(urls.gateway, gateway);
    await clock.pass(2000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("ends the start of a node whose trust key the gateway refuses (joining-7)", async () => {
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
      "http://gateway has another trust key: both must have the same trustKey",
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
    const { gateway, network } = await deploy();
    const member = await dialAsMember({ dial: memoryDial(network), instance: "c" });
    expect(await member.request("POST", "/nodes", body)).toMatchObject({
      status: 400,
      text: message + form,
      headers: { "x-svc-error": "BadRequest" },
    });
    expect(gateway.describe()["members"]).toEqual([urls.a, urls.b]);
  });

  it("takes an address of a member of 2,048 characters, and not one more (joining-1)", async () => {
    const { network } = await deploy();
    const member = await dialAsMember({ dial: memoryDial(network) });
    const address = (length: number): string => `http://c/${"a".repeat(length - 9)}`;
    for (const url of [address(2_049), `http://c/${"ü".repeat(1_000)}`])
      expect(await member.announce({ url, procedures: [] })).toMatchObject({
        status: 400,
        text: expect.stringContaining("'url' is longer than 2048 characters") as string,
      });
    expect((await member.announce({ url: address(2_048), procedures: [] })).status).toBe(201);
  });

  it("joining-6: only a node itself joins, over its link: what it passes on for others, and HTTP, can't", async () => {
    const { gateway, network } = await deploy();
    const dial = memoryDial(network);
    const from = {
      service: await dialAsMember({ dial, instance: "c" }),
      outside: await dialAsMember({ dial, instance: "p", role: "proxy" }),
    };
    const body = JSON.stringify({ url: "http://c", instance: "c", procedures: ["c/one"] });
    const json = { "content-type": "application/json" };
    for (const kind of ["outside", "service"] as const)
      for (const [method, path] of [
        ["POST", "/nodes"],
        ["DELETE", "/nodes"],
      ] as const)
        for (const fields of [json, { ...json, "x-svc-trust-key": key, host: "127.0.0.1" }])
          expect(await from[kind].request(method, path, body, fields, kind)).toMatchObject({
            status: 401,
            text: "The members need the trust key of this deployment",
          });
    const outside = { "x-forwarded-for": "127.0.0.1", "x-svc-credential": "service" };
    expect((await ask(gateway, "POST", "/nodes", outside, body)).status).toBe(401);
    expect(gateway.describe().members).toEqual([urls.a, urls.b]);
  });

  it.each([
    ["POST", "/nodes"],
    ["DELETE", "/nodes"],
    ["PUT", `/nodes/lists/${"0".repeat(64)}`],
    ["POST", "/svc/console/token"],
    ["GET", "/rpc/a/one"],
  ])(
    "a proxy that asks its gateway for what only others may loses its link: %s %s (joining-6)",
    async (method, path) => {
      const { gateway, network } = await deploy();
      const proxy = await dialAsMember({ dial: memoryDial(network), role: "proxy" });
      const body = JSON.stringify({ url: proxy.url, procedures: ["a/one"] });
      await expect(proxy.request(method, path, body)).rejects.toThrow();
      expect(proxy.isClosed).toBe(true);
      expect(gateway.describe().members).toEqual([urls.a, urls.b]);
    },
  );

  it.each(["another-trust-key", "", `${key}x`])(
    "joining-7: a node without the key, or with another, has no link to join over: %j",
    async (trustKey) => {
      const { gateway, network } = await deploy();
      const dialling = dialAsMember({ dial: memoryDial(network), trustKey });
      await expect(dialling).rejects.toMatchObject({
        name: trustKey === "" ? "HandshakeError" : "WrongKeyError",
      });
      expect(gateway.describe().members).toEqual([urls.a, urls.b]);
    },
  );

  it.each([
    ["the same", "again"],
    ["another", "elsewhere"],
  ])(
    "a process that links and joins again, by %s address, is a member once (joining-1)",
    async (_, address) => {
      const { gateway, network } = await deploy();
      const to = { dial: memoryDial(network), instance: "c" };
      const first = await fakeMember({ ...to, url: "http://again" }, { procedures: ["c/old"] });
      const url = `http://${address}`;
      const second = await fakeMember({ ...to, url }, { procedures: ["c/new"] });
      expect(gateway.describe().members).toEqual([urls.a, urls.b, url]);
      expect((await ask(gateway, "GET", "/rpc/c/old")).status).toBe(503);
      expect((await ask(gateway, "GET", "/rpc/c/new")).text).toBe("c");
      expect([first.calls.length, second.calls.length]).toEqual([0, 1]);
      first.die();
      await settle();
      expect((await ask(gateway, "GET", "/rpc/c/new")).text).toBe("c");
    },
  );

  it("a node that stops before its gateway has answered its join is no member afterwards (joining-2)", async () => {
    const { gateway, network, node, clock } = await deploy();
    const leaving = node(["b"], "c");
    network.roles.set("http://c", leaving);
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    network.roles.set(urls.gateway, {
      ...gateway,
      handle: async (request) => {
        if (request.method === "POST" && request.target === "/nodes") await held;
        return await gateway.handle(request);
      },
    });
    const starting = leaving.start("http://c");
    await settle();
    const stopped = leaving.stop();
    await settle();
    answer();
    await clock.pass(1_000);
    await Promise.all([starting, stopped]);
    await clock.pass(5_000);
    expect(gateway.describe().members).toEqual([urls.a, urls.b]);
    expect((await ask(gateway, "GET", stock)).headers["x-svc-node"]).toBe("node b");
  });

  it("a gateway takes 100,000 procedures of a member, and answers 413 to a list above 16 MiB, over a socket (joining-1)", async () => {
    const { url } = await behindSocket((host) =>
      createGateway(host, { trustKey: key, limits: defaultLimits, newId: () => "m1" }),
    );
    const member = await dialAsMember({ dial: socketDial(), gateway: url });
    onTestFinished(() => member.die());
    const announce = async (count: number) =>
      await member.announce({
        procedures: Array.from({ length: count }, (_, at) => `${"a".repeat(90)}${at}`),
      });
    expect((await announce(180_000)).status).toBe(413);
    expect((await announce(100_000)).status).toBe(201);
  });
});
