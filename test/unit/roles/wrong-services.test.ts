// Services whose configuration names something else than it should.

import { describe, expect, it } from "vitest";

import { createProxy } from "../../../src/roles/proxy.ts";
import { createRepository } from "../../../src/roles/repository.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { ask, settle, TestDeployment, testModules } from "../../_cluster.ts";

const manifest = new TextEncoder().encode("{}");
const files = {
  publicFile: async () => undefined,
  component: async () => undefined,
  serverFile: async (file: string) => (file === "manifest.json" ? manifest : undefined),
};
const modules = () =>
  testModules([{ fqn: "shop/quote", in: { a: "public" }, body: () => async () => 1 }]);

/** A proxy in `local` that has this name, with a repository of that one. */
function addProxy(local: TestDeployment, name: string, repository: string): Promise<Role> {
  const to = { calls: local.urlOf("gateway"), repository: local.urlOf(repository) };
  return local
    .add(name, (host, common) => createProxy(host, { ...common, ...to, behind: "gateway" }))
    .start();
}

describe("a proxy whose repository is a proxy", () => {
  const wrong =
    "http://first is a proxy, not a repository or standalone: set 'repository' to the address of one";

  it("doesn't start, as nothing dials a proxy, and says what to set", async () => {
    const local = new TestDeployment();
    await local.gateway();
    await addProxy(local, "first", "repository");
    await expect(addProxy(local, "second", "first")).rejects.toThrow(wrong);
  });

  it("answers files with 503 if the other one came later, and says so once", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const second = await addProxy(local, "second", "first");
    const first = await addProxy(local, "first", "repository");
    await local.clock.pass(60_000);
    expect(local.log.lines.filter((line) => line.includes(wrong))).toHaveLength(1);
    local.network.sent.length = 0;
    for (const proxy of [first, second])
      expect(await ask(proxy, "GET", "/images/logo.svg")).toMatchObject({
        status: 503,
        headers: { "retry-after": "1" },
      });
    expect(local.network.sent).toEqual([]);
  });
});

describe("a proxy whose gateway is a proxy", () => {
  const wrong = "http://first is a proxy, not a gateway: set 'gateway' to the address of one";

  it("doesn't start, as nothing dials a proxy, and says what to set", async () => {
    const local = new TestDeployment();
    await local.gateway();
    await addProxy(local, "first", "repository");
    for (const calls of [local.urlOf("first"), [local.urlOf("gateway"), local.urlOf("first")]])
      await expect(local.proxy({ calls, behind: "gateway" })).rejects.toThrow(wrong);
    const either = "set 'gateway' to the address of one";
    await expect(local.proxy({ calls: local.urlOf("first") })).rejects.toThrow(either);
    await expect(local.proxy({ calls: local.urlOf("first"), behind: "node" })).rejects.toThrow(
      "http://first is a proxy, not a node or standalone: set 'node' to the address of one",
    );
  });

  it("answers calls with 503 if the other one came later, and says so once", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const second = await local.proxy({ calls: local.urlOf("first"), behind: "gateway" });
    await addProxy(local, "first", "repository");
    await local.clock.pass(60_000);
    expect(local.log.lines.filter((line) => line.includes(wrong))).toHaveLength(1);
    expect(await ask(second, "GET", "/rpc/shop/quote")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
  });
});

describe("a service whose gateway is something else", () => {
  const wrong = (kind: string) =>
    `http://${kind} is a ${kind}, not a gateway: set 'gateway' to the address of one`;

  async function deployed(): Promise<TestDeployment> {
    const local = new TestDeployment();
    await local
      .add("repository", (host, common) => createRepository(host, { ...common, files }))
      .start();
    await local.standalone({ modules: modules(), segments: ["a"], files });
    return local;
  }

  it.each(["repository", "standalone"])("doesn't start: a node, with a %s", async (kind) => {
    const local = await deployed();
    await expect(
      local.node("node", { gateway: local.urlOf(kind), modules: modules(), segments: ["a"] }),
    ).rejects.toThrow(wrong(kind));
  });

  it.each(["repository", "standalone"])("doesn't start: a proxy, with a %s", async (kind) => {
    const local = await deployed();
    await expect(local.proxy({ calls: local.urlOf(kind), behind: "gateway" })).rejects.toThrow(
      wrong(kind),
    );
  });

  it("waits for a gateway that isn't up yet, and for one behind something that has modules too", async () => {
    const local = await deployed();
    const { network, clock, log } = local;
    const starting = local.node("node", { modules: modules(), segments: ["a"] });
    await clock.pass(6_000);
    await starting;
    const gateway = await local.gateway();
    await clock.pass(3_000);
    await settle();
    expect(gateway.describe()["members"]).toEqual(["http://node"]);
    // An address for all: modules come from the repository.
    const repository = network.roles.get("http://repository")!;
    network.roles.set("http://all", {
      ...gateway,
      handle: (request) =>
        (request.target.startsWith("/svc/") ? repository : gateway).handle(request),
    });
    await local.node("second", { gateway: "http://all", modules: modules(), segments: ["a"] });
    await local.proxy({ calls: "http://all", behind: "gateway" });
    expect(gateway.describe()["members"]).toEqual(["http://node", "http://second"]);
    expect(log.lines.join("\n")).not.toContain(wrong("all"));
  });
});
