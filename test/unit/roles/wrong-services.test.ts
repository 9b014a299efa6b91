// Services whose configuration names something else than it should.

import { describe, expect, it } from "vitest";

import { createProxy } from "../../../src/roles/relay/proxy.ts";
import { createRepository } from "../../../src/roles/repository.ts";
import type { Role } from "../../../src/roles/role.ts";
import { ask, settle, TestDeployment, testModules } from "../../_cluster.ts";
import { sentBy } from "../../_deployment.ts";

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

describe("two proxies that are each other's repository", () => {
  it("end the start of the second, which says what is wrong, and a file asks nobody for ever", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const first = await addProxy(local, "first", "second");
    local.network.sent.length = 0;
    await expect(addProxy(local, "second", "first")).rejects.toThrow(
      "http://first passes requests on to this proxy: set 'repository' to the address of a repository",
    );
    expect(local.network.sent.length).toBeLessThan(32);
    // The second one may have started before the first.
    local.network.roles.set("http://second", {
      ...first,
      handle: (request) =>
        first.handle({ ...request, headers: { ...request.headers, ...sentBy.outside } }),
    });
    local.network.sent.length = 0;
    const answer = await ask(first, "GET", "/images/logo.svg");
    expect([answer.status, answer.headers["x-svc-error"]]).toEqual([508, "LoopDetected"]);
    // The base, and the file.
    expect(local.network.sent).toHaveLength(19);
  });

  it("count hops of services only, and pass on what hasn't gone round", async () => {
    const local = new TestDeployment();
    await local.gateway();
    const proxy = await addProxy(local, "proxy", "repository");
    const status = async (fields: Record<string, string>): Promise<number> =>
      (await ask(proxy, "GET", "/a.svg", fields)).status;
    await local
      .add("repository", (host, common) => createRepository(host, { ...common, files }))
      .start();
    expect(await status({ "x-svc-hops": "99" })).toBe(404);
    expect(await status({ ...sentBy.outside, "x-svc-hops": "8" })).toBe(404);
    expect(await status({ ...sentBy.outside, "x-svc-hops": "9" })).toBe(508);
    expect(local.network.sent.at(-1)?.headers["x-svc-hops"]).toBe("9");
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
