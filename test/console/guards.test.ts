// Guards in the console: they stand beside what they guard, and calls of the form meet them.

import { describe, expect, it } from "vitest";

import { createNode } from "../../src/roles/node.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { Unauthorized } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { proceduresIn } from "../../src/roles/members/manifest-procedures.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { getContext } from "../../server/host/carrier.ts";
import { ask, TestClock, testHost, TestNetwork } from "../_cluster.ts";
import { guardedModules } from "../_guards.ts";
import { body } from "../spec/_shop.ts";
import { address, alone, json, key, ofThePage, stateOf, testConsole, withKey } from "./_console.ts";

const guard = "auth#signedIn";
const modules = () =>
  guardedModules(
    {
      signedIn: async (): Promise<void> => {
        if (getContext().headers.get("authorization") !== "Bearer 1")
          throw new Unauthorized("who?");
      },
    },
    [
      {
        fqn: "shop/order",
        in: { a: { access: "public", guard }, b: "private" },
        body: body("shop/order", () => "ordered"),
      },
      { fqn: "shop/open", in: { a: "public" }, body: body("shop/open", () => "open") },
    ],
    [{ name: "site/feed", route: "GET /feed", guard, run: async () => new Response() }],
  );

const shared = { version: "0.0.0", access: "public", parameters: [] };
const listed = [
  { ...shared, fqn: "shop/open", segments: ["a"] },
  { ...shared, fqn: "shop/order", segments: ["a", "b"], guard },
  { ...shared, fqn: "site/feed", segments: ["site"], route: "GET /feed", guard },
];
const common = { trustKey: key, limits: defaultLimits, segments: ["a", "b", "site"] };

async function gatewayOfOne(): Promise<Role> {
  const { network, clock, gateway } = await alone();
  const url = "http://site";
  const node = createNode(testHost(network, clock, undefined, { url, trustKey: key }), {
    ...common,
    gateway: address,
    modules: modules(),
    name: "site",
  });
  network.roles.set(url, node);
  await node.start(url);
  return gateway;
}

async function standalone(): Promise<Role> {
  const host = testHost(new TestNetwork(), new TestClock());
  const role = createStandalone(host, {
    ...common,
    modules: modules(),
    name: undefined,
    files: { publicFile: async () => undefined } as never,
    observer: testConsole(host),
  });
  await role.start(address);
  return role;
}

describe.each([
  ["gateway", gatewayOfOne],
  ["standalone", standalone],
])("guards in the console of a %s", (_, start) => {
  it("are listed with the procedures and routes that they guard", async () => {
    const { procedures } = await stateOf(await start());
    expect(procedures.toSorted((a, b) => (a.fqn < b.fqn ? -1 : 1))).toEqual(listed);
  });

  it("look at calls of the console's form, for which its holder fills in the headers", async () => {
    const role = await start();
    const form = { ...ofThePage, ...withKey, ...json };
    const call = async (fields: object = {}) =>
      await ask(role, "POST", "/svc/console/rpc/shop/order", { ...form, ...fields }, "{}");
    expect((await call()).text).toBe("who?");
    expect((await call({ authorization: "Bearer 1" })).text).toBe("ordered");
  });
});

it("guards of a manifest are listed by the console of a proxy", async () => {
  const found = proceduresIn(await modules().manifest());
  expect(found.toSorted((a, b) => (a.fqn < b.fqn ? -1 : 1))).toEqual(listed);
});
