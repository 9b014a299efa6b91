// Joining a gateway over HTTP: what holds only there.

import { describe, expect, it } from "vitest";

import { createGateway } from "../../src/roles/relay/gateway.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { ask, settle, type TestClock, testHost, type TestNetwork } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";

const trusted = { "x-svc-trust-key": key };
const member = (url: string, ...procedures: string[]): string =>
  JSON.stringify({ url, procedures });
const stock = "/rpc/shop/stock?sku=1";

const idOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { id: string }).id;

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
  it("POST /nodes with url, procedures and the trust key answers 201 with id and lease (joining-1)", async () => {
    const { gateway, network } = await deploy();
    const answer = await ask(
      gateway,
      "POST",
      "/nodes",
      trusted,
      member("http://c:8080/", "c/one", "c/two"),
    );
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
      201,
      "application/json",
      '{"id":"m3","lease":15000}',
    ]);
    expect(gateway.describe()["members"]).toContain("http://c:8080");
    // A node sends the same.
    const sent = network.sent.find(
      ({ url, method }) => url === `${urls.gateway}/nodes` && method === "POST",
    );
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({
      url: urls.a,
      procedures: expect.arrayContaining(["shop/quote"]) as string[],
    });
    expect(sent?.headers["x-svc-trust-key"]).toBe(key);
  });

  it("a node whose 'gateway' isn't one, but a node or a proxy, is told so (joining-1)", async () => {
    for (const status of [404, 405]) {
      const { network, node, log } = await deploy();
      network.roles.set(urls.gateway, {
        handle: async () => ({ status, headers: {}, body: "no" }),
      } as unknown as Role);
      await node(["b"]).start("http://c");
      const warning = `can't join the gateway at ${urls.gateway} yet (it answered ${status}, so it isn't a gateway; set 'gateway' to the address of one)`;
      expect(log.lines.join("\n")).toContain(warning);
    }
  });

  it("joining-2: a node renews its lease after a third of it", async () => {
    const { clock, network, gateway } = await deploy();
    const renewals = () =>
      network.sent
        .filter(({ method }) => method === "PUT")
        .map(({ url }) => url)
        .toSorted();
    await clock.pass(4999);
    expect(renewals()).toEqual([]);
    await clock.pass(1);
    expect(renewals()).toEqual([`${urls.gateway}/nodes/m1`, `${urls.gateway}/nodes/m2`]);
    await clock.pass(115_000);
    expect(renewals()).toHaveLength(48);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("a node that stops cleanly sends DELETE /nodes/{id}, which answers 204, and 404 the second time (joining-3)", async () => {
    const { gateway, b, clock, network } = await deploy();
    const stopped = b.stop();
    await settle();
    await clock.pass(1000);
    await stopped;
    expect(network.sent.filter(({ method }) => method === "DELETE").map(({ url }) => url)).toEqual([
      `${urls.gateway}/nodes/m2`,
    ]);
    expect(await ask(gateway, "DELETE", "/nodes/m1", trusted)).toMatchObject({
      status: 204,
      text: "",
    });
    expect(await ask(gateway, "DELETE", "/nodes/m1", trusted)).toMatchObject({
      status: 404,
      text: "",
    });
  });

  it("joining-5: a gateway that was killed and restarts has its nodes back within 2 s, before their leases end", async () => {
    const { network, clock, proxy } = await deploy();
    await clock.pass(500);
    network.roles.set(urls.gateway, await emptyGateway(network, clock));
    expect(await ask(proxy, "GET", stock)).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    await clock.pass(1000);
    expect((await ask(proxy, "GET", stock)).status).toBe(200);
  });

  it("only senders of the trust key may join, whatever their address or origin (joining-7)", async () => {
    const { gateway } = await deploy();
    const outside = {
      "x-forwarded-for": "127.0.0.1",
      "x-svc-credential": "service",
      host: "127.0.0.1",
    };
    expect((await ask(gateway, "POST", "/nodes", outside, member("http://c"))).status).toBe(401);
    expect(
      (await ask(gateway, "POST", "/nodes", { ...trusted, host: "elsewhere" }, member("http://c")))
        .status,
    ).toBe(201);
  });

  it.each([
    ["POST", "/nodes"],
    ["PUT", "/nodes/m1"],
    ["GET", "/nodes/m1"],
    ["DELETE", "/nodes/m1"],
    ["PUT", "/nodes/nobody"],
    ["GET", "/nodes/nobody"],
    ["DELETE", "/nodes/nobody"],
  ])(
    "joining without the key, or with another, is 401: %s %s (joining-8)",
    async (method, path) => {
      const { gateway } = await deploy();
      const answers = [];
      for (const credential of [
        {},
        { "x-svc-trust-key": "" },
        { "x-svc-trust-key": "wrong" },
        { "x-svc-trust-key": `${key}x` },
      ])
        answers.push(
          await ask(gateway, method, path, credential, member("http://evil", "shop/stock")),
        );
      // The answer doesn't reveal which ids exist, nor what was wrong.
      expect(
        new Set(answers.map(({ status, text, headers }) => JSON.stringify([status, text, headers])))
          .size,
      ).toBe(1);
      expect(answers[0]).toMatchObject({
        status: 401,
        text: "Joining needs the trust key of this deployment",
        headers: { "x-svc-error": "Unauthorized" },
      });
      expect(gateway.describe()["members"]).toEqual([urls.a, urls.b]);
    },
  );

  it("a node with the address of a member replaces it, as it has restarted (joining-1)", async () => {
    const { gateway } = await deploy();
    const first = idOf(await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/old")));
    const second = idOf(
      await ask(gateway, "POST", "/nodes", trusted, member("http://C:80/", "c/new")),
    );
    expect(second).not.toBe(first);
    expect(gateway.describe()["members"]).toEqual([urls.a, urls.b, "http://c"]);
    expect((await ask(gateway, "PUT", `/nodes/${first}`, trusted)).status).toBe(404);
    expect((await ask(gateway, "PUT", `/nodes/${second}`, trusted)).status).toBe(204);
  });

  it("a gateway has no other endpoints below /nodes (joining-1)", async () => {
    const { gateway } = await deploy();
    expect(await ask(gateway, "DELETE", "/nodes", trusted)).toMatchObject({
      status: 405,
      headers: { allow: "POST, GET, HEAD" },
    });
    expect((await ask(gateway, "POST", "/nodes/m1", trusted)).status).toBe(405);
    for (const path of ["/nodes/m1/x", "/Nodes", "/nodes/../nodes"])
      expect((await ask(gateway, "PUT", path, trusted)).status).toBe(404);
  });
});
