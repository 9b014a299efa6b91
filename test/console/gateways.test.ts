// A gateway's console in a deployment with several gateways.

import { expect, it } from "vitest";

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, TestClock, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { key, stateOf, testConsole, withKey } from "./_console.ts";

const common = { trustKey: key, limits: defaultLimits };

async function several() {
  const [network, clock] = [new TestNetwork(), new TestClock()];
  const hostOf = (url: string) => ({
    ...testHost(network, clock, undefined, { url, trustKey: key }),
    links: network.links({ url, trustKey: key }),
  });
  let ids = 0;
  const gatewayAt = async (url: string) => {
    const host = hostOf(url);
    const newId = () => `m${++ids}`;
    const observer = testConsole(host);
    const gateway = createGateway(host, { ...common, newId, observer });
    network.roles.set(url, gateway);
    await gateway.start(url);
    return gateway;
  };
  const nodeAt = async (
    url: string,
    gateway: string | readonly string[],
    modules = testModules([{ fqn: "where", in: { a: "public" }, body: () => async () => 1 }]),
  ) => {
    const options = { ...common, gateway, modules, segments: ["a"], name: url.slice(-1) };
    const node = createNode(hostOf(url), options);
    network.roles.set(url, node);
    await node.start(url);
    return node;
  };
  return { network, clock, gatewayAt, nodeAt };
}

const both = ["http://g1", "http://g2"];

it("the console of each gateway shows all members of the deployment once, with their gateways", async () => {
  const { clock, gatewayAt, nodeAt, network } = await several();
  const gateways = [await gatewayAt("http://g1"), await gatewayAt("http://g2")];
  await nodeAt("http://a", both);
  await nodeAt("http://b", "http://g2");
  for (const gateway of gateways) {
    await stateOf(gateway);
    await clock.pass(5_100);
    const { members } = await stateOf(gateway);
    const seen = members.map((member) => [member.url, member.name, member.state, member.gateways]);
    expect(seen).toEqual([
      ["http://a", "a", "ready", both],
      ["http://b", "b", "ready", ["http://g2"]],
    ]);
    // Calls of the first gateway don't go there.
    const isElsewhere = gateway === gateways[0] || undefined;
    expect(members.map((member) => member.isElsewhere)).toEqual([undefined, isElsewhere]);
  }
  // One that is away is forgotten, and with it the members that only it had.
  network.roles.delete("http://g2");
  await clock.pass(15_000);
  await stateOf(gateways[0]!);
  await clock.pass(15_000);
  const { members } = await stateOf(gateways[0]!);
  expect(members.map(({ url, gateways: of }) => [url, of])).toEqual([["http://a", undefined]]);
});

it("a node lists its gateways for those with the trust key only", async () => {
  const { gatewayAt, nodeAt } = await several();
  await gatewayAt("http://g1");
  const node = await nodeAt("http://a", both);
  expect((await ask(node, "GET", "/svc/gateways")).status).toBe(401);
  const { text } = await ask(node, "GET", "/svc/gateways", withKey);
  expect(JSON.parse(text)).toMatchObject({
    gateways: [{ url: "http://g1", members: [{ url: "http://a" }] }, { url: "http://g2" }],
  });
  expect(text).not.toContain(key);
});

it("the console shows how many calls the gateway and each member run, of how many, and for how long they have run", async () => {
  const { clock, gatewayAt, nodeAt } = await several();
  const gateway = await gatewayAt("http://g1");
  const held: (() => void)[] = [];
  const wait = async () => await new Promise<void>((resolve) => held.push(resolve));
  const modules = testModules([{ fqn: "wait", in: { a: "public" }, body: () => wait }]);
  const node = await nodeAt("http://a", "http://g1", modules);
  const first = ask(gateway, "GET", "/rpc/wait");
  await clock.pass(2_000);
  const others = [ask(gateway, "GET", "/rpc/wait"), ask(node, "GET", "/rpc/wait")];
  await clock.pass(500);
  await stateOf(gateway);
  await clock.pass(5_000);
  const { service, members } = await stateOf(gateway);
  expect(service.calls).toMatchObject({
    running: 2,
    limit: 1_000,
    medianMs: 5_500,
    oldestMs: 7_500,
  });
  // It is asked every five seconds.
  expect(members[0]?.calls).toMatchObject({
    running: 3,
    limit: 1_000,
    medianMs: 5_500,
    oldestMs: 7_500,
  });
  held.splice(0).forEach((end) => end());
  await Promise.all([first, ...others]);
  await clock.pass(5_000);
  const after = await stateOf(gateway);
  for (const { calls } of [after.service, ...after.members])
    expect(calls).toMatchObject({ running: 0, limit: 1_000, medianMs: 0, oldestMs: 0 });
});

it("a service says how many calls it runs to those with the trust key only", async () => {
  const { gatewayAt, nodeAt } = await several();
  await gatewayAt("http://g1");
  const node = await nodeAt("http://a", "http://g1");
  expect((await ask(node, "GET", "/svc/calls")).status).toBe(401);
  expect((await ask(node, "GET", "/svc/calls", { "x-svc-trust-key": "wrong" })).status).toBe(401);
  const { text } = await ask(node, "GET", "/svc/calls", withKey);
  expect(JSON.parse(text)).toEqual({
    running: 0,
    limit: 1_000,
    refused: 0,
    medianMs: 0,
    oldestMs: 0,
    streams: 0,
  });
});
