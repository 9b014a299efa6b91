import { beforeAll, describe, expect, it } from "vitest";

import { every } from "../_call.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment } from "../_deployment.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});
const json = { "content-type": "application/json" };

describe.each(["gateway", "proxy"] as const)("a call at the %s", (endpoint) => {
  it("a call goes to the node that holds the procedure, which calls another node", async () => {
    const answer = await ask(
      cluster[endpoint],
      "POST",
      "/rpc/shop/quote",
      json,
      '{"sku":"1","quantity":2}',
    );
    expect(answer).toMatchObject({
      status: 200,
      headers: { "x-svc-data-type": "object", "x-svc-node": "node a" },
    });
    expect(JSON.parse(answer.text)).toEqual({ sku: "1", quantity: 2, enough: true });
  });

  it("a call of a procedure that no node has answers 404", async () => {
    expect((await ask(cluster[endpoint], "GET", "/rpc/shop/nothing")).status).toBe(404);
    expect((await ask(cluster[endpoint], "GET", "/rpc/")).status).toBe(404);
  });

  it.each(["HEAD", "PUT", "DELETE", "PATCH"])(
    "the RPC endpoint answers 405 to %s and lists the allowed methods",
    async (method) => {
      expect(await ask(cluster[endpoint], method, "/rpc/shop/stock?sku=1")).toMatchObject({
        status: 405,
        headers: { allow: "GET, POST, QUERY", "x-svc-error": "MethodNotAllowed" },
      });
    },
  );

  it("a 405 is serialized if the request asks for it", async () => {
    const answer = await ask(cluster[endpoint], "PUT", "/rpc/shop/stock", {
      "x-svc-data-encoding": "serialized",
    });
    expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, POST, QUERY" } });
    expect(JSON.parse(answer.text)).toMatchObject({
      serialized: true,
      name: "Error",
      type: "MethodNotAllowed",
    });
  });

  it("the RPC endpoint answers OPTIONS with 204", async () => {
    expect(await ask(cluster[endpoint], "OPTIONS", "/rpc/shop/stock")).toMatchObject({
      status: 204,
      headers: { allow: "GET, POST, QUERY" },
    });
  });

  it("a malformed percent escape answers 400, and an unknown encoding 415", async () => {
    expect((await ask(cluster[endpoint], "GET", "/rpc/%E0%A4%A")).status).toBe(400);
    expect(
      (
        await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=1", {
          "x-svc-data-encoding": "xml",
        })
      ).status,
    ).toBe(415);
    expect(
      (
        await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=1", {
          "x-svc-data-encoding": "xml",
        })
      ).status,
    ).toBe(415);
  });

  it("an FQN with percent escapes is decoded", async () => {
    expect((await ask(cluster[endpoint], "GET", "/rpc/shop%2Fstock?sku=1")).status).toBe(200);
  });

  it("every answer has nosniff, no-store and the sandbox policy", async () => {
    expect((await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=1")).headers).toMatchObject(
      every,
    );
  });
});

describe("errors through the gateway", () => {
  it("errors through the gateway have the status, the message and a trace line per procedure, the origin first", async () => {
    const answer = await ask(
      cluster.proxy,
      "POST",
      "/rpc/shop/quote",
      json,
      '{"sku":"none","quantity":2}',
    );
    expect(answer).toMatchObject({
      status: 404,
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
    expect(answer.text).toBe("no none left\n[shop/stock | v0.0.0]\n[shop/quote | v0.0.0]");
  });

  it("errors through the gateway keep class and public fields in the serialized form", async () => {
    const answer = await ask(
      cluster.proxy,
      "POST",
      "/rpc/shop/quote",
      { ...json, "x-svc-data-encoding": "serialized" },
      '{"sku":"none","quantity":2}',
    );
    expect(JSON.parse(answer.text)).toMatchObject({
      serialized: true,
      name: "Error",
      type: "OutOfStock",
      key: "shop/OutOfStock",
      args: { 0: "no none left", 1: "none" },
    });
  });

  it("errors through the gateway inherit the status of the framework's class", async () => {
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/refuse")).status).toBe(403);
  });
});

describe("versions", () => {
  it.each([
    ["1.0.0", "1"],
    ["1", "1"],
    ["2.0", "2"],
  ])("runs version %s", async (version, text) => {
    expect(await ask(cluster.proxy, "GET", `/rpc/shop/price?version=${version}`)).toMatchObject({
      status: 200,
      text,
    });
  });

  it("the gateway takes the version from the query of a POST too", async () => {
    expect(await ask(cluster.proxy, "POST", "/rpc/shop/price?version=2", json, "{}")).toMatchObject(
      { status: 200, text: "2" },
    );
  });

  it("an unknown version answers 404 with the known ones", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/price?version=3");
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("v1.0.0, v2.0.0");
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/price")).status).toBe(404);
  });

  it("an invalid version, or two of them, answers 400", async () => {
    expect(await ask(cluster.proxy, "GET", "/rpc/shop/price?version=1.2.3.4")).toMatchObject({
      status: 400,
      text: "Invalid version number '1.2.3.4'",
    });
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/price?version=1&version=2")).status).toBe(
      400,
    );
  });
});

describe("health", () => {
  it("health is true and empty without checks", async () => {
    const { b } = await deploy();
    expect(await ask(b, "GET", "/health/status")).toMatchObject({ status: 200, text: "true" });
    expect(await ask(b, "GET", "/health")).toMatchObject({ status: 200, text: "{}" });
    expect((await ask(b, "GET", "/health/live")).status).toBe(200);
    expect((await ask(b, "GET", "/health/ready")).status).toBe(200);
  });

  it("health has the result of each check by its name, and a check replaces one of the same name", async () => {
    const { b } = await deploy();
    b.addHealthCheck("disk", { isHealthy: async () => false });
    b.addHealthCheck("disk", { isHealthy: async () => true });
    b.addHealthCheck("queue", {
      isHealthy: async () => true,
      details: async () => ({ length: 3 }),
    });
    expect(JSON.parse((await ask(b, "GET", "/health")).text)).toEqual({
      disk: true,
      queue: { healthy: true, length: 3 },
    });
  });

  it("a check that throws, or takes over 5 s, is unhealthy", async () => {
    const { b, clock } = await deploy();
    b.addHealthCheck("throws", {
      isHealthy() {
        throw new Error("no");
      },
    });
    b.addHealthCheck("hangs", { isHealthy: () => new Promise(() => {}) });
    const pending = ask(b, "GET", "/health");
    await clock.pass(5000);
    expect(JSON.parse((await pending).text)).toEqual({ throws: false, hangs: false });
    const status = ask(b, "GET", "/health/status");
    const ready = ask(b, "GET", "/health/ready");
    await clock.pass(5000);
    expect(await status).toMatchObject({ status: 200, text: "false" });
    expect((await ready).status).toBe(503);
  });
});

describe("deadline of a call", () => {
  it("a call answers 504 when its deadline passes, and its signal aborts", async () => {
    const { b, clock } = await deploy();
    b.addMiddleware({
      handle: (_fqn, _version, _args, _headers, next) => next().then(() => new Promise(() => {})),
    });
    const pending = ask(b, "GET", "/rpc/shop/stock?sku=1");
    await clock.pass(30_000);
    expect(await pending).toMatchObject({ status: 504 });
  });
});

describe("a service that is starting", () => {
  it("a service that is starting refuses calls as not begun: 503 with retry-after, not 404; and it isn't ready", async () => {
    const { node } = await deploy();
    const starting = node(["b"]);
    expect(await ask(starting, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", "x-svc-not-started": "starting" },
    });
    expect((await ask(starting, "GET", "/health/ready")).status).toBe(503);
    expect((await ask(starting, "GET", "/health/live")).status).toBe(200);
  });

  it("a gateway keeps nothing of a call that it refused", async () => {
    const { node, clock } = await deploy();
    const starting = node(["b"]);
    const path = "/rpc/shop/stock?sku=1";
    // With the first call, it begins to watch how much it has to do.
    await ask(starting, "GET", path);
    const before = clock.waiting;
    await ask(starting, "GET", path);
    expect(clock.waiting).toBe(before);
  });
});
