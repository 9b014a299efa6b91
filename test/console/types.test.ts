// The types of a procedure's parameters for the console's form: the node that checks its callers sends them.

import { describe, expect, it } from "vitest";

import type { CallTypes } from "../../console/console-state.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, TestClock, testHost, TestNetwork } from "../_cluster.ts";
import { typedModules } from "../_typed.ts";
import { body } from "../spec/_shop.ts";
import { address, alone, key, ofThePage, signIn, testConsole, withKey } from "./_console.ts";

const run = body("shop/order", () => 1);
const modules = typedModules(
  [
    {
      fqn: "shop/order",
      version: "1.2.0",
      signature: "(order: Order, when?: Date)",
      in: { a: "public" },
      body: run,
    },
    { fqn: "shop/grüße", signature: "(...names: string[])", in: { a: "protected" }, body: run },
    {
      fqn: "shop/open",
      signature: "(order: Order)",
      in: { a: { access: "public", validate: false } },
      body: run,
    },
    { fqn: "shop/own", signature: "(order: Order)", in: { a: "private" }, body: run },
  ],
  {
    declarations: `
      interface Order { lines: Line[]; note: Note }
      interface Line { sku: string; part?: Line }
      type Note = string | null;
    `,
  },
);
const common = { trustKey: key, limits: defaultLimits, segments: ["a"], name: undefined };
const nodeUrl = "http://site";

async function withNode() {
  const deployment = await alone();
  const { network, clock } = deployment;
  const host = testHost(network, clock, undefined, { url: nodeUrl, trustKey: key });
  const node = createNode(host, { ...common, gateway: address, modules: modules() });
  network.roles.set(nodeUrl, node);
  await node.start(nodeUrl);
  return { ...deployment, node };
}

async function standalone(): Promise<Role> {
  const host = testHost(new TestNetwork(), new TestClock());
  const observer = testConsole(host);
  const files = { publicFile: async () => undefined } as never;
  const role = createStandalone(host, { ...common, modules: modules(), files, observer });
  await role.start(address);
  return role;
}

/** With its own console, before a gateway with one, or before a node. */
async function proxyTo(calls: string): Promise<Role> {
  const { network, clock } = await withNode();
  const url = "http://proxy:1";
  const host = testHost(network, clock, undefined, { url, trustKey: key });
  const proxy = createProxy(host, {
    trustKey: key,
    limits: defaultLimits,
    calls,
    repository: "http://repository",
    observer: testConsole(host),
  });
  network.roles.set(url, proxy);
  await proxy.start(url);
  return proxy;
}

async function typesIn(role: Role, procedure: string): Promise<CallTypes | null> {
  const { status, text } = await ask(role, "GET", `/svc/console/types/${procedure}`, withKey);
  expect(status).toBe(200);
  return JSON.parse(text) as CallTypes | null;
}

const line = { kind: "ref", to: "Line" };
const order = {
  names: [
    { name: "order", type: { kind: "ref", to: "Order" } },
    { name: "when", type: { kind: "date" }, optional: true },
  ],
  definitions: {
    Order: {
      kind: "object",
      members: {
        lines: { type: { kind: "array", items: line } },
        note: { type: { kind: "union", arms: [{ kind: "null" }, { kind: "string" }] } },
      },
    },
    Line: {
      kind: "object",
      members: {
        sku: { type: { kind: "string" } },
        part: { type: line, optional: true },
      },
    },
  },
};

describe.each<[where: string, start: () => Promise<Role>]>([
  ["gateway", async () => (await withNode()).gateway],
  ["standalone", standalone],
  ["proxy before a gateway", async () => await proxyTo(address)],
  ["proxy before a node", async () => await proxyTo(nodeUrl)],
])("the console of a %s", (_, start) => {
  it("says what a version of a procedure takes, with the types that it names", async () => {
    const role = await start();
    expect(await typesIn(role, "shop/order?version=1.2")).toEqual(order);
    expect(await typesIn(role, "shop/gr%C3%BC%C3%9Fe")).toEqual({
      names: [{ name: "...names", type: { kind: "array", items: { kind: "string" } }, rest: true }],
      definitions: {},
    });
  });

  it("says nothing of a procedure that isn't there, or whose callers aren't checked", async () => {
    const role = await start();
    for (const name of ["shop/order", "shop/open", "shop/own", "constructor"])
      expect(await typesIn(role, name)).toBeNull();
  });
});

it("types are for sessions and the trust key: others get the answer of a path that isn't there", async () => {
  const deployment = await withNode();
  const { gateway, node } = deployment;
  const path = "/svc/console/types/shop/order?version=1.2";
  const session = await signIn(deployment);
  expect((await ask(gateway, "GET", path, session)).status).toBe(200);
  expect(await ask(gateway, "GET", path, ofThePage)).toEqual(await ask(gateway, "GET", "/none"));
  const own = "/svc/types/shop/order?version=1.2";
  expect(JSON.parse((await ask(node, "GET", own, withKey)).text)).toEqual(order);
  expect(await ask(node, "GET", own)).toEqual(await ask(node, "GET", "/none"));
});

it("a member that has gone leaves the form without types", async () => {
  const { gateway, network } = await withNode();
  network.roles.delete(nodeUrl);
  expect(await typesIn(gateway, "shop/order?version=1.2")).toBeNull();
});
