// Access to procedures, and methods of the RPC endpoint.

import { describe, expect, it } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import { ask, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { deploy, key } from "../_deployment.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { kinds, services } from "./_services.ts";
import { money, outOfStock, shop } from "./_shop.ts";

const endpoints = ["b", "gateway", "proxy"] as const;
const trusted = { "x-svc-trust-key": key };

describe("access", () => {
  it.each(endpoints)(
    "calls-31: a private procedure and an unknown one get the same answer, byte for byte (at %s)",
    async (endpoint) => {
      const { [endpoint]: role } = await deploy();
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

  it("calls-32: the services themselves can call a protected procedure", async () => {
    const { proxy } = await deploy();
    expect(await ask(proxy, "GET", "/rpc/shop/viaAudit")).toMatchObject({
      status: 200,
      text: "audited",
    });
  });

  it.each(endpoints)(
    "calls-33: a caller that sends the trust key can call a protected procedure (at %s)",
    async (endpoint) => {
      const { [endpoint]: role } = await deploy();
      expect(await ask(role, "GET", "/rpc/shop/audit", trusted)).toMatchObject({
        status: 200,
        text: "audited",
      });
    },
  );

  it("calls-34: trust keys are compared in constant time", async () => {
    const compared: string[][] = [];
    const network = new TestNetwork();
    const host = {
      ...testHost(network),
      equalSecrets: (left: string, right: string) => (compared.push([left, right]), left === right),
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
    expect(compared.flat()).toEqual(expect.arrayContaining(["a guess", key]));
    // The host's comparison takes strings of any length.
    const { equalSecrets } = nodeHost();
    expect([
      equalSecrets(key, key),
      equalSecrets(key, `${key}s`),
      equalSecrets("", key),
      equalSecrets("\u00e9", "e\u0301"),
    ]).toEqual([true, false, false, false]);
  });

  it.each(endpoints)(
    "calls-35: any other call of a protected procedure answers 401, also through gateway and proxy (at %s)",
    async (endpoint) => {
      const { [endpoint]: role } = await deploy();
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
          // A 401 says how to do better (RFC 9110, 11.6.1).
          headers: { "x-svc-error": "Unauthorized", "www-authenticate": "x-svc-trust-key" },
        });
    },
  );
});

describe("methods", () => {
  it.each(kinds)(
    "calls-36, post-9, limits-2: methods other than GET, POST and QUERY answer 405 and list the allowed ones: %s",
    async (kind) => {
      const all = await services();
      for (const method of ["PUT", "DELETE", "PATCH", "TRACE", "get", "query"])
        for (const path of ["/rpc/app/headers", "/rpc/app/nothing"])
          expect(await ask(all[kind], method, path), `${method} ${path}`).toMatchObject({
            status: 405,
            headers: { allow: "GET, POST, QUERY", "x-svc-error": "MethodNotAllowed" },
          });
      expect(all.ran).toEqual([]);
    },
  );

  it.each(kinds)("calls-37: OPTIONS for a procedure answers 204: %s", async (kind) => {
    const all = await services();
    expect(await ask(all[kind], "OPTIONS", "/rpc/app/headers")).toMatchObject({
      status: 204,
      headers: { allow: "GET, POST, QUERY" },
      text: "",
    });
    expect(all.ran).toEqual([]);
  });

  it.each(kinds)(
    "calls-38: HEAD for a procedure answers 405 and runs nothing: %s",
    async (kind) => {
      const all = await services();
      expect(await ask(all[kind], "HEAD", "/rpc/app/headers")).toMatchObject({
        status: 405,
        headers: { allow: "GET, POST, QUERY" },
      });
      expect(all.ran).toEqual([]);
    },
  );
});

it("calls-39: a node doesn't forward calls as gateways and proxies do: a procedure of another node answers 404", async () => {
  const { a, b, gateway, proxy, network } = await deploy();
  for (const endpoint of [b, gateway, proxy])
    expect((await ask(endpoint, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
  network.sent.length = 0;
  expect(await ask(a, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
    status: 404,
    headers: { "x-svc-error": "ProcedureNotFound" },
  });
  expect(network.sent).toEqual([]);
});
