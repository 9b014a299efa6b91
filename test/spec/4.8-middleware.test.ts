import { describe, expect, it } from "vitest";

import type { Middleware } from "../../src/middleware.ts";
import { ask } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import { Money } from "./_shop.ts";

const json = { "content-type": "application/json" };

/** Notes when it is entered and left. */
function noting(name: string, notes: string[]): Middleware {
  return {
    async handle(fqn, _version, _args, _headers, next) {
      notes.push(`${name} before ${fqn}`);
      const result = await next();
      notes.push(`${name} after`);
      return result;
    },
  };
}

describe.each(["b", "gateway", "proxy"] as const)("§2.7, §4.8 middleware on the %s", (door) => {
  const stock = (role: Parameters<typeof ask>[0], sku = "1") => ask(role, "POST", "/rpc/shop/stock", json, JSON.stringify({ sku }));

  it("runs in reversed order: the one added last first", async () => {
    const cluster = await deploy();
    const notes: string[] = [];
    cluster[door].addMiddleware(noting("first", notes));
    cluster[door].addMiddleware(noting("second", notes));
    expect((await stock(cluster[door])).text).toBe("5");
    expect(notes).toEqual(["second before shop/stock", "first before shop/stock", "first after", "second after"]);
  });

  it("may change arguments, headers and the result", async () => {
    const cluster = await deploy();
    cluster[door].addMiddleware({
      async handle(_fqn, version, args, headers, next) {
        expect(String(version)).toBe("0.0.0");
        args.set("sku", "other");
        headers.set("Authorization", "Bearer changed");
        return { left: await next(), authorization: headers.get("authorization"), args: Object.fromEntries(args) };
      },
    });
    expect(JSON.parse((await stock(cluster[door])).text)).toEqual({ left: 5, authorization: "Bearer changed", args: { sku: "other" } });
  });

  it("sends what it sets in headers after next with the response, on errors too", async () => {
    const cluster = await deploy();
    cluster[door].addMiddleware({
      async handle(_fqn, _version, _args, headers, next) {
        headers.set("x-before", "1");
        try {
          return await next();
        } finally {
          headers.set("X-After", "2");
        }
      },
    });
    const good = await stock(cluster[door]);
    expect(good.headers).toMatchObject({ "x-after": "2" });
    expect(good.headers).not.toHaveProperty("x-before");
    expect(await stock(cluster[door], "none")).toMatchObject({ status: 404, headers: { "x-after": "2" } });
  });

  it("answers 500 MiddlewareNotCompleted when next was not called, and logs which it was", async () => {
    const cluster = await deploy();
    class Forgetful implements Middleware {
      async handle(): Promise<unknown> {
        return "nothing";
      }
    }
    cluster[door].addMiddleware(new Forgetful());
    expect(await stock(cluster[door])).toMatchObject({ status: 500, headers: { "x-svc-error": "MiddlewareNotCompleted" } });
    expect(cluster.log.lines.join("\n")).toContain("middleware Forgetful did not call next()");
  });

  it("runs the procedure once, however often next is called", async () => {
    const cluster = await deploy();
    let results: unknown[] = [];
    cluster[door].addMiddleware({
      async handle(_fqn, _version, _args, _headers, next) {
        results = [await next(), await next()];
        return results[0];
      },
    });
    const notes: string[] = [];
    cluster.b.addMiddleware(noting("node", notes));
    await stock(cluster[door]);
    expect(results).toEqual([5, 5]);
    expect(notes.filter((note) => note.includes("before"))).toHaveLength(1);
  });

  it("may refuse by throwing", async () => {
    const cluster = await deploy();
    const { Unauthorized } = await import("../../src/errors.ts");
    cluster[door].addMiddleware({
      async handle(_fqn, _version, _args, headers, next) {
        if (!headers.has("authorization")) throw new Unauthorized("who are you?");
        return await next();
      },
    });
    expect(await stock(cluster[door])).toMatchObject({ status: 401, text: "who are you?" });
  });
});

describe.each(["gateway", "proxy"] as const)("decisions §5 middleware on a %s that has a repository", (door) => {
  it("sees typed values of a GET and real instances, and may change both", async () => {
    const cluster = await deploy({ modules: true });
    const seen: unknown[] = [];
    cluster[door].addMiddleware({
      async handle(_fqn, _version, args, _headers, next) {
        seen.push(args.get("price"));
        args.set("price", 21);
        const result = await next();
        seen.push(result);
        return result;
      },
    });
    const answer = await ask(cluster[door], "GET", "/rpc/shop/double?price=4", { "x-svc-data-encoding": "serialized" });
    expect(seen).toEqual([4, new Money(42)]);
    expect(seen[1]).toBeInstanceOf(Money);
    expect(JSON.parse(answer.text)).toMatchObject({ serialized: true, key: "shop/Money", args: { 0: 42 } });
  });
});

describe.each(["gateway", "proxy"] as const)("decisions §5 middleware on a %s without the application's modules", (door) => {
  it("passes instances on unopened, as arguments and as results", async () => {
    const cluster = await deploy();
    cluster[door].addMiddleware({ handle: async (_fqn, _version, _args, _headers, next) => await next() });
    const money = { serialized: true, key: "shop/Money", name: "class", args: { 0: 3 }, fields: {} };
    const headers = { ...json, "x-svc-data-encoding": "serialized" };
    const answer = await ask(cluster[door], "POST", "/rpc/shop/double", headers, JSON.stringify({ price: 1, money }));
    expect(JSON.parse(answer.text)).toEqual({ ...money, args: { 0: 6 } });
  });
});

describe.each(["gateway", "proxy"] as const)("§4.8 middleware on a %s, for a caller without an encoding", (door) => {
  it("sees the error that the procedure threw, and the caller its text", async () => {
    const cluster = await deploy();
    let seen: unknown;
    cluster[door].addMiddleware({
      async handle(_fqn, _version, _args, _headers, next) {
        return await next().catch((error: unknown) => {
          seen = error;
          throw error;
        });
      },
    });
    const answer = await ask(cluster[door], "GET", "/rpc/shop/refuse");
    expect(answer).toMatchObject({ status: 403, text: "not for you\n[shop/refuse | v0.0.0]" });
    expect(seen).toMatchObject({ name: "Forbidden", message: "not for you" });
  });
});
