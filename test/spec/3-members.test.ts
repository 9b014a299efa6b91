import { describe, expect, it } from "vitest";

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { ask, testHost, testModules } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { body } from "./_shop.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trusted = { "x-svc-trust-key": key };
const member = (url: string, ...procedures: string[]): string =>
  JSON.stringify({ url, procedures });
const stock = "/rpc/shop/stock?sku=1";

const idOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { id: string }).id;

describe("members of a gateway", () => {
  it("D6.nodes-1 the procedures of a member are the FQNs of what is public and protected, and of nothing private", async () => {
    const { network } = await deploy();
    const lists = network.sent
      .filter(({ method }) => method === "POST")
      .map(({ body }) => (JSON.parse(body) as { procedures: string[] }).procedures);
    expect(lists.map((list) => list.toSorted())).toEqual(
      [
        ["shop/price", "shop/quote", "shop/refuse", "shop/safe", "shop/viaAudit", "shop/viaWhoami"],
        ["shop/audit", "shop/double", "shop/stock", "shop/whoami"],
      ].map((list) => expect.arrayContaining(list) as string[]),
    );
    expect(lists.flat()).not.toContain("shop/secret");
    expect(lists.flat()).not.toContain("shop/hidden");
    // A name counts when one of its versions does.
    const of = (version: string, access: "public" | "private", fqn = "mixed/some") =>
      ({ fqn, version, in: { mixed: access }, body: body(fqn, () => version, version) }) as const;
    network.sent.length = 0;
    const modules = testModules([
      of("1.0.0", "public"),
      of("2.0.0", "private"),
      of("1.0.0", "private", "mixed/none"),
    ]);
    const common = { trustKey: key, limits: defaultLimits, gateway: urls.gateway };
    await createNode(testHost(network), {
      ...common,
      modules,
      segments: ["mixed"],
      name: undefined,
    }).start("http://mixed");
    expect(JSON.parse(network.sent[0]?.body ?? "")).toMatchObject({
      url: "http://mixed",
      procedures: ["mixed/some"],
    });
  });

  it("D6.nodes-2 the gateway is version unaware: versions of one procedure are one name", async () => {
    const { network, gateway } = await deploy();
    const [a] = network.sent
      .filter(({ method }) => method === "POST")
      .map(({ body }) => (JSON.parse(body) as { procedures: string[] }).procedures);
    expect(a?.filter((name) => name === "shop/price")).toHaveLength(1);
    for (const version of ["1", "2"])
      expect((await ask(gateway, "GET", `/rpc/shop/price?version=${version}`)).text).toBe(version);
  });

  it("D6.nodes-3 PUT /nodes/{id} renews the lease, with 204 and no body", async () => {
    const { gateway, clock } = await deploy();
    const id = idOf(await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only")));
    await clock.pass(14_000);
    const answer = await ask(gateway, "PUT", `/nodes/${id}`, trusted, "whatever");
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await clock.pass(14_000);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(204);
  });

  it("D6.nodes-4 PUT for an id that is not known is 404, and the node joins again", async () => {
    const { gateway, network, clock } = await deploy();
    expect(await ask(gateway, "PUT", "/nodes/nobody", trusted)).toMatchObject({
      status: 404,
      text: "",
    });
    expect((await ask(gateway, "PUT", "/nodes/__proto__", trusted)).status).toBe(404);
    // An old gateway knows no other question than the renewal.
    const renewed: string[] = [];
    const options = { trustKey: key, limits: defaultLimits, monitor: 5000, lease: 15_000 };
    let ids = 0;
    const restarted = createGateway(testHost(network, clock), {
      ...options,
      newId: () => `again${++ids}`,
    });
    network.roles.set(urls.gateway, {
      ...restarted,
      handle: async (request) => {
        if (request.method === "GET" && request.target.startsWith("/nodes/"))
          return { status: 405, headers: {} };
        if (request.method === "PUT") renewed.push(request.target);
        return await restarted.handle(request);
      },
    });
    await clock.pass(5000);
    expect(renewed.toSorted()).toEqual(["/nodes/m1", "/nodes/m2"]);
    expect(restarted.describe()["members"]).toEqual(expect.arrayContaining([urls.a, urls.b]));
  });

  it("asking whether one is known renews nothing (D6.nodes-3)", async () => {
    const { gateway, clock } = await deploy();
    const id = idOf(await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only")));
    await clock.pass(10_000);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(204);
    await clock.pass(5001);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(404);
  });

  it("D6.nodes-5 lease is in milliseconds, 15000 of them", async () => {
    const { gateway, clock } = await deploy();
    const answer = await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only"));
    expect(JSON.parse(answer.text)).toMatchObject({ lease: 15_000 });
    await clock.pass(14_999);
    expect(gateway.describe()["members"]).toContain("http://c");
    await clock.pass(1);
    expect(gateway.describe()["members"]).not.toContain("http://c");
    // So it is where a configuration has started the gateway.
    const started = await start(applicationOf({}), {
      mode: "gateway",
      url: anyPort,
      trustKey: key,
    });
    const init = { method: "POST", headers: trusted, body: member("http://127.0.0.1:9", "c/only") };
    expect(await (await fetch(`${started.url}/nodes`, init)).json()).toMatchObject({
      lease: 15_000,
    });
  });

  it("D6.nodes-6 a procedure whose last holder has left is 503 with retry-after", async () => {
    const { gateway } = await deploy();
    expect((await ask(gateway, "DELETE", "/nodes/m2", trusted)).status).toBe(204);
    expect(await ask(gateway, "GET", stock)).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" },
      text: "No node can take 'shop/stock' now",
    });
  });

  it("D6.nodes-7 a procedure that no member ever had is 404", async () => {
    const { gateway } = await deploy();
    const answer = await ask(gateway, "GET", "/rpc/shop/stocks");
    expect(answer).toMatchObject({ status: 404, headers: { "x-svc-error": "ProcedureNotFound" } });
    expect(answer.headers).not.toHaveProperty("retry-after");
  });

  it("D6.nodes-8 a member that refuses the connection leaves the rotation, and the call goes to the next one", async () => {
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
    expect(network.sent.filter(({ url }) => url.startsWith(`${urls.b}/rpc`))).toHaveLength(1);
  });
});
