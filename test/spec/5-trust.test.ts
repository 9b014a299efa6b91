import { beforeAll, describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/cors.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment, key } from "../_deployment.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

describe("§5 access: private and unknown", () => {
  it.each(["gateway", "proxy", "b"] as const)("answers the same 404, byte for byte, at the %s", async (door) => {
    const hidden = await ask(cluster[door], "GET", "/rpc/shop/secret");
    const unknown = await ask(cluster[door], "GET", "/rpc/shop/sekret");
    expect(hidden.status).toBe(404);
    expect({ ...hidden, text: hidden.text.replace("secret", "sekret"), body: undefined }).toEqual({ ...unknown, body: undefined });
  });

  it("answers 404 at a node for a procedure of another node", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/stock?sku=1")).status).toBe(404);
  });

  it("doesn't list private versions to outsiders", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/hidden")).text).not.toContain("1.0.0");
  });
});

describe("§2.1 protected: for trusted calls only", () => {
  it.each(["b", "gateway", "proxy"] as const)("answers 401 from outside, 200 with the key, at the %s", async (door) => {
    expect((await ask(cluster[door], "GET", "/rpc/shop/audit")).status).toBe(401);
    expect((await ask(cluster[door], "GET", "/rpc/shop/audit", { "x-svc-trust-key": "wrong" })).status).toBe(401);
    expect(await ask(cluster[door], "GET", "/rpc/shop/audit", { "x-svc-trust-key": key })).toMatchObject({ status: 200, text: "audited" });
  });

  it("lets a public procedure that is called from outside call a protected one on another node", async () => {
    expect(await ask(cluster.proxy, "GET", "/rpc/shop/viaAudit")).toMatchObject({ status: 200, text: "audited" });
  });

  it("doesn't believe x-svc-origin without the key", async () => {
    for (const door of [cluster.b, cluster.gateway, cluster.proxy])
      expect((await ask(door, "GET", "/rpc/shop/audit", { "x-svc-origin": "trusted" })).status).toBe(401);
  });

  it("doesn't trust a call that a member passes on for the outside", async () => {
    expect((await ask(cluster.b, "GET", "/rpc/shop/audit", { "x-svc-trust-key": key, "x-svc-origin": "outside" })).status).toBe(401);
  });
});

describe("decisions §3 stacks", () => {
  const serialized = { "x-svc-data-encoding": "serialized" };

  it.each(["b", "gateway", "proxy"] as const)("go to holders of the trust key only, at the %s", async (door) => {
    const outside = await ask(cluster[door], "GET", "/rpc/shop/stock?sku=none", serialized);
    expect(outside).toMatchObject({ status: 404, headers: { "x-svc-error": "NotFound" } });
    expect(outside.text).not.toContain("stack");
    const inside = await ask(cluster[door], "GET", "/rpc/shop/stock?sku=none", { ...serialized, "x-svc-trust-key": key });
    expect(JSON.parse(inside.text)).toHaveProperty("stack");
  });

  it("stay inside when a procedure passes on an error that came with one", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/quote?sku=none&quantity=1", serialized);
    expect(answer.text).toContain("no none left");
    expect(answer.text).not.toContain("stack");
  });
});

describe("§5.2 headers", () => {
  it("reach procedures, without the trust key and what belongs to the wire", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/whoami", {
      authorization: "Bearer 1",
      "x-svc-trust-key": key,
      "x-svc-hops": "3",
      "x-other": "kept",
      connection: "keep-alive, x-named",
      "x-named": "dropped",
    });
    const seen = JSON.parse(answer.text) as Record<string, string>;
    expect(seen).toMatchObject({ authorization: "Bearer 1", "x-other": "kept" });
    expect(Object.keys(seen).filter((name) => name.startsWith("x-svc-") || name === "x-named" || name === "connection")).toEqual([]);
  });

  it("go on from a procedure to another, but for those that describe the outer call", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/viaWhoami", {
      authorization: "Bearer 1",
      origin: "http://x",
      "user-agent": "curl",
      "if-none-match": "1",
      range: "bytes=0-1",
    });
    const seen = JSON.parse(answer.text) as Record<string, string>;
    expect(seen).toMatchObject({ authorization: "Bearer 1" });
    for (const name of ["origin", "user-agent", "if-none-match", "range"]) expect(seen).not.toHaveProperty(name);
  });

  it("from outside, hops and deadline mean nothing", async () => {
    expect((await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1", { "x-svc-hops": "99", "x-svc-deadline": "0" })).status).toBe(200);
  });

  it("answers 508 to a call that passed more than 8 services, and 504 when its time is over", async () => {
    expect((await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1", { "x-svc-trust-key": key, "x-svc-hops": "9" })).status).toBe(508);
    expect((await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1", { "x-svc-trust-key": key, "x-svc-deadline": "0" })).status).toBe(
      504,
    );
  });

  it("sends the trust key to members of the deployment only, never to the repository for the outside", async () => {
    const { proxy, network } = await deploy();
    await ask(proxy, "GET", "/index.html", { "x-svc-trust-key": key });
    const toRepository = network.sent.find((request) => request.url.startsWith("http://repository"));
    expect(toRepository?.headers).not.toHaveProperty("x-svc-trust-key");
  });
});

describe("§5 cross-site GET", () => {
  const crossSite = { "sec-fetch-site": "cross-site", origin: "http://elsewhere" };

  it.each(["a", "gateway", "proxy"] as const)("is refused with 403 at the %s, unless the entry says safe", async (door) => {
    expect((await ask(cluster[door], "GET", "/rpc/shop/price?version=1", crossSite)).status).toBe(403);
    expect((await ask(cluster[door], "GET", "/rpc/shop/safe", crossSite)).status).toBe(200);
    expect((await ask(cluster[door], "GET", "/rpc/shop/price?version=1", { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it("is allowed where CORS allows the origin, and only that one", async () => {
    const { proxy } = await deploy();
    proxy.addMiddleware(new CorsMiddleware("http://elsewhere"));
    expect((await ask(proxy, "GET", "/rpc/shop/price?version=1", crossSite)).status).toBe(200);
    expect((await ask(proxy, "GET", "/rpc/shop/price?version=1", { ...crossSite, origin: "http://evil" })).status).toBe(403);
  });
});

describe("§4.7 CORS", () => {
  it("stands on answers and refusals, and answers a preflight", async () => {
    const { gateway } = await deploy();
    gateway.addMiddleware(new CorsMiddleware());
    const expected = {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "*",
      "access-control-allow-methods": "GET, POST",
    };
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).headers).toMatchObject(expected);
    expect(await ask(gateway, "GET", "/rpc/shop/none")).toMatchObject({ status: 404, headers: expected });
    expect(await ask(gateway, "OPTIONS", "/rpc/shop/stock")).toMatchObject({
      status: 204,
      headers: { ...expected, "access-control-max-age": "86400" },
    });
  });

  it("is not there without the middleware", async () => {
    expect((await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1")).headers).not.toHaveProperty("access-control-allow-origin");
  });
});
