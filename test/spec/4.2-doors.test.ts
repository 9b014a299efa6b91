// Who may call, and how: what is settled of access and methods (decisions §2).

import { describe, expect, it } from "vitest";

import { nodeHost } from "../../server/host.ts";
import { ask, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { deploy, key } from "../_deployment.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { kinds, services } from "./_services.ts";
import { money, outOfStock, shop } from "./_shop.ts";

const doors = ["b", "gateway", "proxy"] as const;
const trusted = { "x-svc-trust-key": key };

describe("decisions §2, access", () => {
  it.each(doors)(
    "D2-31 private and unknown procedures have the same answer, byte for byte (at %s)",
    async (door) => {
      const { [door]: role } = await deploy();
      for (const headers of [{}, trusted, { "x-svc-data-encoding": "serialized" }])
        for (const method of ["GET", "POST"]) {
          const [hidden, unknown] = await Promise.all(
            ["secret", "sacred"].map((name) =>
              ask(
                role,
                method,
                `/rpc/shop/${name}?version=1`,
                { "content-type": "application/json", ...headers },
                "",
              ),
            ),
          );
          expect([
            hidden?.status,
            hidden?.headers,
            hidden?.text.replaceAll("secret", "sacred"),
          ]).toEqual([404, unknown?.headers, unknown?.text]);
          expect(hidden?.headers["x-svc-error"]).toBe("ProcedureNotFound");
        }
    },
  );

  it("D2-32 a protected procedure can be called by a service itself", async () => {
    const { proxy } = await deploy();
    expect(await ask(proxy, "GET", "/rpc/shop/viaAudit")).toMatchObject({
      status: 200,
      text: "audited",
    });
  });

  it.each(doors)(
    "D2-33 a protected procedure can be called by whoever shows the trust key (at %s)",
    async (door) => {
      const { [door]: role } = await deploy();
      expect(await ask(role, "GET", "/rpc/shop/audit", trusted)).toMatchObject({
        status: 200,
        text: "audited",
      });
    },
  );

  it("D2-34 trust keys are compared in a time that tells nothing", async () => {
    const asked: string[][] = [];
    const network = new TestNetwork();
    const host = {
      ...testHost(network),
      equalSecrets: (one: string, other: string) => (asked.push([one, other]), one === other),
    };
    const modules = testModules(shop, [outOfStock, money]);
    const node = createNode(host, {
      trustKey: key,
      limits: defaultLimits,
      gateway: undefined,
      modules,
      segments: ["b"],
      name: undefined,
    });
    await node.start("http://b");
    expect(
      (await ask(node, "GET", "/rpc/shop/audit", { "x-svc-trust-key": "a guess" })).status,
    ).toBe(401);
    expect(asked.flat()).toEqual(expect.arrayContaining(["a guess", key]));
    // What the host lends for it takes texts of any length.
    const { equalSecrets } = nodeHost();
    expect([
      equalSecrets(key, key),
      equalSecrets(key, `${key}s`),
      equalSecrets("", key),
      equalSecrets("\u00e9", "e\u0301"),
    ]).toEqual([true, false, false, false]);
  });

  it.each(doors)(
    "D2-35 any other call of a protected procedure is 401, through gateway and proxy as well (at %s)",
    async (door) => {
      const { [door]: role } = await deploy();
      for (const headers of [
        {},
        { "x-svc-trust-key": "" },
        { "x-svc-trust-key": `${key} s` },
        { "x-svc-credential": "service" },
        { authorization: key },
      ])
        expect(
          await ask(role, "GET", "/rpc/shop/audit", headers),
          JSON.stringify(headers),
        ).toMatchObject({
          status: 401,
          text: "Unauthorized",
          headers: { "x-svc-error": "Unauthorized" },
        });
    },
  );
});

describe("decisions §2, methods", () => {
  it.each(kinds)(
    "D2-36, §4.2-9, §8-2 methods but GET and POST are 405 and told so: %s",
    async (kind) => {
      const all = await services();
      for (const method of ["PUT", "DELETE", "PATCH", "TRACE", "get", "QUERY"])
        for (const path of ["/rpc/app/headers", "/rpc/app/nothing"])
          expect(await ask(all[kind], method, path), `${method} ${path}`).toMatchObject({
            status: 405,
            headers: { allow: "GET, POST", "x-svc-error": "MethodNotAllowed" },
          });
      expect(all.ran).toEqual([]);
    },
  );

  it.each(kinds)("D2-37 OPTIONS of a procedure is 204: %s", async (kind) => {
    const all = await services();
    expect(await ask(all[kind], "OPTIONS", "/rpc/app/headers")).toMatchObject({
      status: 204,
      headers: { allow: "GET, POST" },
      text: "",
    });
    expect(all.ran).toEqual([]);
  });

  it.each(kinds)("D2-38 HEAD of a procedure is 405 and runs nothing: %s", async (kind) => {
    const all = await services();
    expect(await ask(all[kind], "HEAD", "/rpc/app/headers")).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST" },
    });
    expect(all.ran).toEqual([]);
  });
});

it("D2-39 a node passes no calls on, as gateway and proxy do: a procedure of another node is 404 there", async () => {
  const { a, b, gateway, proxy, network } = await deploy();
  for (const door of [b, gateway, proxy])
    expect((await ask(door, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
  network.sent.length = 0;
  expect(await ask(a, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
    status: 404,
    headers: { "x-svc-error": "ProcedureNotFound" },
  });
  expect(network.sent).toEqual([]);
});
