import { describe, expect, it } from "vitest";

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, settle, testHost, testModules } from "../_cluster.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { body } from "./_shop.ts";

const stock = "/rpc/shop/stock?sku=1";

describe("members of a gateway", () => {
  it("members-7: the procedures of a member are the FQNs of its public and protected ones, and of no private one", async () => {
    const { network } = await deploy();
    const joins = () =>
      network.sent
        .filter(({ method, url }) => method === "POST" && url === `${urls.gateway}/nodes`)
        .map(({ body }) => JSON.parse(body) as { url: string; procedures: string[] });
    const lists = joins().map(({ procedures }) => procedures);
    expect(lists.map((list) => list.toSorted())).toEqual(
      [
        ["shop/price", "shop/quote", "shop/refuse", "shop/safe", "shop/viaAudit", "shop/viaWhoami"],
        ["shop/audit", "shop/double", "shop/stock", "shop/whoami"],
      ].map((list) => expect.arrayContaining(list) as string[]),
    );
    expect(lists.flat()).not.toContain("shop/secret");
    expect(lists.flat()).not.toContain("shop/hidden");
    // A name is listed if one of its versions isn't private.
    const procedure = (version: string, access: "public" | "private", fqn = "mixed/some") =>
      ({ fqn, version, in: { mixed: access }, body: body(fqn, () => version, version) }) as const;
    network.sent.length = 0;
    const modules = testModules([
      procedure("1.0.0", "public"),
      procedure("2.0.0", "private"),
      procedure("1.0.0", "private", "mixed/none"),
    ]);
    const common = { trustKey: key, limits: defaultLimits, gateway: urls.gateway };
    const url = "http://mixed";
    const mixed = createNode(testHost(network, undefined, undefined, { url, trustKey: key }), {
      ...common,
      modules,
      segments: ["mixed"],
      name: undefined,
    });
    network.roles.set(url, mixed);
    await mixed.start(url);
    expect(joins()).toMatchObject([{ url, procedures: ["mixed/some"] }]);
  });

  it("members-8: the gateway doesn't know versions: all versions of a procedure are one name", async () => {
    const { network, gateway } = await deploy();
    const [a] = network.sent
      .filter(({ method }) => method === "POST")
      .map(({ body }) => (JSON.parse(body) as { procedures: string[] }).procedures);
    expect(a?.filter((name) => name === "shop/price")).toHaveLength(1);
    for (const version of ["1", "2"])
      expect((await ask(gateway, "GET", `/rpc/shop/price?version=${version}`)).text).toBe(version);
  });

  it("members-9: a procedure whose last holder has left is 503 with retry-after", async () => {
    const { gateway, network } = await deploy();
    const holder = async (name: string) =>
      await fakeMember({ dial: memoryDial(network), instance: name }, { procedures: ["c/only"] });
    const [first, second] = [await holder("first"), await holder("second")];
    // One says goodbye, and the other one is gone with its link.
    await first.leave();
    expect((await ask(gateway, "GET", "/rpc/c/only")).text).toBe("second");
    second.die();
    await settle();
    expect(await ask(gateway, "GET", "/rpc/c/only")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" },
      text: "No node can take 'c/only' now",
    });
  });

  it("members-10: a procedure that no member has had is 404, in the first 3 s of a gateway 503 with retry-after", async () => {
    const { gateway, network, clock } = await deploy();
    const options = { trustKey: key, limits: defaultLimits, newId: () => "new" };
    const restarted = createGateway(testHost(network, clock), options);
    await restarted.start(urls.gateway);
    await clock.pass(2_999);
    expect(await ask(restarted, "GET", "/rpc/shop/stocks")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" },
    });
    await clock.pass(1);
    expect((await ask(restarted, "GET", "/rpc/shop/stocks")).status).toBe(404);
    const answer = await ask(gateway, "GET", "/rpc/shop/stocks");
    expect(answer).toMatchObject({ status: 404, headers: { "x-svc-error": "ProcedureNotFound" } });
    expect(answer.headers).not.toHaveProperty("retry-after");
  });

  it("members-11: a member that refuses the connection leaves the rotation, and the call goes to the next one", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    network.roles.delete(urls.b);
    for (let calls = 0; calls < 4; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 200,
        headers: { "x-svc-node": "second" },
      });
    expect(network.sent.filter(({ url }) => url.startsWith(`${urls.b}/rpc`))).toEqual([]);
  });
});
