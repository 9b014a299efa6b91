import { beforeAll, describe, expect, it } from "vitest";

import { every } from "../_call.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment } from "../_deployment.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});
const json = { "content-type": "application/json" };

describe.each(["gateway", "proxy"] as const)("§4.1, §4.2 a call at the %s", (door) => {
  it("goes to the node that holds the procedure, which calls another node", async () => {
    const answer = await ask(
      cluster[door],
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

  it("answers 404 for what no node has", async () => {
    expect((await ask(cluster[door], "GET", "/rpc/shop/nothing")).status).toBe(404);
    expect((await ask(cluster[door], "GET", "/rpc/")).status).toBe(404);
  });

  it.each(["HEAD", "PUT", "DELETE", "PATCH"])(
    "answers 405 to %s, with what is allowed",
    async (method) => {
      expect(await ask(cluster[door], method, "/rpc/shop/stock?sku=1")).toMatchObject({
        status: 405,
        headers: { allow: "GET, POST", "x-svc-error": "MethodNotAllowed" },
      });
    },
  );

  it("answers 405 in the serialized form to who asks for it", async () => {
    const answer = await ask(cluster[door], "PUT", "/rpc/shop/stock", {
      "x-svc-data-encoding": "serialized",
    });
    expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, POST" } });
    expect(JSON.parse(answer.text)).toMatchObject({
      serialized: true,
      name: "Error",
      type: "MethodNotAllowed",
    });
  });

  it("answers OPTIONS with 204", async () => {
    expect(await ask(cluster[door], "OPTIONS", "/rpc/shop/stock")).toMatchObject({
      status: 204,
      headers: { allow: "GET, POST" },
    });
  });

  it("answers 400 to a malformed percent escape, and 415 to an unknown encoding", async () => {
    expect((await ask(cluster[door], "GET", "/rpc/%E0%A4%A")).status).toBe(400);
    expect(
      (await ask(cluster[door], "GET", "/rpc/shop/stock?sku=1", { "x-svc-data-encoding": "xml" }))
        .status,
    ).toBe(415);
    expect(
      (await ask(cluster[door], "GET", "/rpc/shop/stock?sku=1", { "x-svc-data-encoding": "xml" }))
        .status,
    ).toBe(415);
  });

  it("takes an FQN with percent escapes as what it stands for", async () => {
    expect((await ask(cluster[door], "GET", "/rpc/shop%2Fstock?sku=1")).status).toBe(200);
  });

  it("answers nosniff, no-store and the sandbox policy", async () => {
    expect((await ask(cluster[door], "GET", "/rpc/shop/stock?sku=1")).headers).toMatchObject(every);
  });
});

describe("§7 errors through the gateway", () => {
  it("carry the status, the message and a line per procedure, the origin first", async () => {
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

  it("keep class and public fields in the serialized form", async () => {
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

  it("inherit the status of the framework's class", async () => {
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/refuse")).status).toBe(403);
  });
});

describe("§9 versions", () => {
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

  it("takes the version from the query of a POST too", async () => {
    expect(await ask(cluster.proxy, "POST", "/rpc/shop/price?version=2", json, "{}")).toMatchObject(
      { status: 200, text: "2" },
    );
  });

  it("answers 404 for a version that isn't there, with those that are", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/price?version=3");
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("v1.0.0, v2.0.0");
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/price")).status).toBe(404);
  });

  it("answers 400 to a version that is none, or given twice", async () => {
    expect(await ask(cluster.proxy, "GET", "/rpc/shop/price?version=1.2.3.4")).toMatchObject({
      status: 400,
      text: "Invalid version number '1.2.3.4'",
    });
    expect((await ask(cluster.proxy, "GET", "/rpc/shop/price?version=1&version=2")).status).toBe(
      400,
    );
  });
});

describe("§4.5 health", () => {
  it("is true and empty without checks", async () => {
    const { b } = await deploy();
    expect(await ask(b, "GET", "/health/status")).toMatchObject({ status: 200, text: "true" });
    expect(await ask(b, "GET", "/health")).toMatchObject({ status: 200, text: "{}" });
    expect((await ask(b, "GET", "/health/live")).status).toBe(200);
    expect((await ask(b, "GET", "/health/ready")).status).toBe(200);
  });

  it("says what each check says, by its name; a name that exists is overwritten", async () => {
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

  it("takes a check that throws, or needs over 5 s, as unhealthy", async () => {
    const { b, clock } = await deploy();
    b.addHealthCheck("throws", {
      isHealthy() {
        throw new Error("no");
      },
    });
    b.addHealthCheck("hangs", { isHealthy: () => new Promise(() => {}) });
    const asked = ask(b, "GET", "/health");
    await clock.pass(5000);
    expect(JSON.parse((await asked).text)).toEqual({ throws: false, hangs: false });
    const status = ask(b, "GET", "/health/status");
    const ready = ask(b, "GET", "/health/ready");
    await clock.pass(5000);
    expect(await status).toMatchObject({ status: 200, text: "false" });
    expect((await ready).status).toBe(503);
  });
});

describe("deadline of a call", () => {
  it("answers 504 when its time is over, and aborts its signal", async () => {
    const { b, clock } = await deploy();
    b.addMiddleware({
      handle: (_fqn, _version, _args, _headers, next) => next().then(() => new Promise(() => {})),
    });
    const asked = ask(b, "GET", "/rpc/shop/stock?sku=1");
    await clock.pass(30_000);
    expect(await asked).toMatchObject({ status: 504 });
  });
});

describe("a service that is starting", () => {
  it("answers 503 with retry-after, not 404, and says that it isn't ready", async () => {
    const { node } = await deploy();
    const starting = node(["b"]);
    expect(await ask(starting, "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    expect((await ask(starting, "GET", "/health/ready")).status).toBe(503);
    expect((await ask(starting, "GET", "/health/live")).status).toBe(200);
  });

  it("keeps nothing of a call that it refused", async () => {
    const { node, clock } = await deploy();
    const starting = node(["b"]);
    const before = clock.waiting;
    await ask(starting, "GET", "/rpc/shop/stock?sku=1");
    expect(clock.waiting).toBe(before);
  });
});
