// Routes in the console: they stand among the procedures, with method and path.

import { describe, expect, it } from "vitest";

import { createNode } from "../../src/roles/node.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { TestClock, testHost, TestNetwork } from "../_cluster.ts";
import { routeModules } from "../_routes.ts";
import { address, alone, key, stateOf, testConsole } from "./_console.ts";

const run = async (): Promise<Response> => new Response();
const modules = () =>
  routeModules([
    { name: "site/feed", route: "GET /feed.xml", run },
    { name: "site/hook", route: "POST /hooks/:provider", access: "private", run },
    { name: "site/hook", route: "POST /hooks/:provider", access: "protected", segment: "b", run },
  ]);
const feed = {
  fqn: "site/feed",
  version: "0.0.0",
  access: "public",
  segments: ["site"],
  parameters: [],
  route: "GET /feed.xml",
};
const hook = {
  ...feed,
  fqn: "site/hook",
  access: "protected",
  segments: ["site", "b"],
  route: "POST /hooks/:provider",
};

describe("routes in the console's state", () => {
  it("a gateway's console lists its members' routes with method, path, access and segments", async () => {
    const { network, clock, gateway } = await alone();
    const node = createNode(testHost(network, clock), {
      trustKey: key,
      limits: defaultLimits,
      gateway: address,
      modules: modules(),
      segments: ["site", "b"],
      name: "site",
    });
    network.roles.set("http://site", node);
    await node.start("http://site");
    const { members, procedures } = await stateOf(gateway);
    expect(procedures).toEqual([feed, hook]);
    expect(members[0]?.segments).toEqual(["site", "b"]);
  });

  it("a standalone's console lists its routes", async () => {
    const network = new TestNetwork();
    const host = testHost(network, new TestClock());
    const standalone = createStandalone(host, {
      trustKey: key,
      limits: defaultLimits,
      modules: modules(),
      name: undefined,
      files: { publicFile: async () => undefined } as never,
      segments: ["site"],
      observer: testConsole(host),
    });
    await standalone.start("http://all:1");
    const { procedures } = await stateOf(standalone);
    expect(procedures).toEqual([feed, { ...hook, access: "private", segments: ["site"] }]);
  });
});
