import { describe, expect, it } from "vitest";

import type { Middleware } from "../../src/http/middleware.ts";
import type { Version } from "../../src/base/version.ts";
import { ask } from "../_cluster.ts";
import { kinds, layer, layered, services, trustKey } from "./_services.ts";
import { Money } from "./_shop.ts";

const serialized = { "x-svc-data-encoding": "serialized" };

describe.each(kinds)("a middleware of a %s", (kind) => {
  it("middleware-1: a middleware is an object with one async function handle(fqn, version, args, headers, next)", async () => {
    const argumentTypes: unknown[] = [];
    class Noting implements Middleware {
      readonly #notes = argumentTypes;
      async handle(...args: Parameters<Middleware["handle"]>): Promise<unknown> {
        this.#notes.push(args.length, ...args.map((arg) => typeof arg));
        return await args[4]();
      }
    }
    const { call } = await layered(kind, new Noting());
    expect((await call()).text).toBe("a");
    expect(argumentTypes).toEqual([5, "string", "object", "object", "object", "function"]);
  });

  it.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["an object without it", { handler: async () => 1 }, "an object without it"],
    ["a handle that is no function", { handle: "next" }, "an object without it"],
    ["a function", async () => 1, "a function"],
    ["a class", class Log {}, "the class Log; pass an instance: new Log()"],
  ])("is refused if it is %s (middleware-1)", async (_, middleware, message) => {
    const { [kind]: role } = await services();
    expect(() => role.addMiddleware(middleware as never)).toThrow(
      new TypeError(
        `addMiddleware takes an object with an async function handle(fqn, version, args, headers, next), not ${message}`,
      ),
    );
    expect((await ask(role, "GET", "/rpc/app/echo?value=a")).text).toBe("a");
  });

  it("middleware whose handle takes other parameters, as in another framework, is refused (middleware-1)", async () => {
    const { [kind]: role } = await services();
    class Timing {
      async handle(context: unknown, next: () => Promise<unknown>): Promise<unknown> {
        return [context, await next()];
      }
    }
    expect(() => role.addMiddleware(new Timing() as unknown as Middleware)).toThrow(
      new TypeError(
        "addMiddleware can't take Timing: its handle takes (context, next), but must take (fqn, version, args, headers, next), or a rest parameter",
      ),
    );
    expect((await ask(role, "GET", "/rpc/app/echo?value=a")).text).toBe("a");
  });

  it("middleware-2: a middleware gets the fqn as text", async () => {
    const seen: string[] = [];
    const { call } = await layered(
      kind,
      layer(async (fqn, _version, _args, _headers, next) => (seen.push(fqn), await next())),
    );
    await call();
    await call({}, "/rpc/app%2Fheaders");
    expect(seen).toEqual(["app/echo", "app/headers"]);
  });

  it("middleware-4, middleware-25: a middleware gets the version as an object { major, minor, patch, toString() }", async () => {
    const seen: Version[] = [];
    const { call } = await layered(
      kind,
      layer(async (_fqn, version, _args, _headers, next) => (seen.push(version), await next())),
    );
    await call({ value: 1 }, "/rpc/app/echo");
    await call({ value: 1 }, "/rpc/app/echo?version=2.1");
    expect(seen.map(({ major, minor, patch }) => [major, minor, patch])).toEqual([
      [0, 0, 0],
      [2, 1, 0],
    ]);
    expect(seen.map((version) => [String(version), version.toString()])).toEqual([
      ["0.0.0", "0.0.0"],
      ["2.1.0", "2.1.0"],
    ]);
  });

  it("middleware-3: a middleware can't change the fqn of a call", async () => {
    const { call } = await layered(
      kind,
      layer(async (fqn, _version, _args, _headers, next) => [fqn, await next()]),
      layer(async (fqn, _version, _args, _headers, next) => {
        fqn = "app/fail";
        return [fqn, await next()];
      }),
    );
    expect(JSON.parse((await call()).text)).toEqual(["app/fail", ["app/echo", "a"]]);
  });

  it("middleware-5: a middleware can't change the version: the object is read-only", async () => {
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, version, _args, _headers, next) => [version.toString(), await next()]),
      layer(async (_fqn, version, _args, _headers, next) => {
        expect(() => Object.assign(version, { major: 2, minor: 1 })).toThrow(TypeError);
        expect(() => Object.assign(version, { toString: () => "2.1.0" })).toThrow(TypeError);
        version = { ...version, major: 2, minor: 1 };
        return await next();
      }),
    );
    expect(JSON.parse((await call()).text)).toEqual(["0.0.0", "a"]);
    expect(ran).toEqual([["a", undefined]]);
  });

  it("middleware-6, middleware-23: a middleware gets the arguments as a Map by name, with their real types", async () => {
    const seen: unknown[] = [];
    const { call, role } = await layered(
      kind,
      layer(
        async (_fqn, _version, args, _headers, next) => (
          seen.push(args instanceof Map, [...args]),
          await next()
        ),
      ),
    );
    const money = {
      serialized: true,
      name: "class",
      key: "shop/Money",
      args: { 0: 3 },
      fields: {},
    };
    const at = { serialized: true, name: "Date", value: "2021-01-01T00:00:00.000Z" };
    await call({ value: money, more: [at], "...rest": [1] }, "/rpc/app/echo", serialized);
    await ask(role, "GET", "/rpc/app/echo?value=a&value=b&version=0");
    await ask(role, "POST", "/rpc/app/headers");
    expect(seen).toEqual([
      true,
      [
        ["value", new Money(3)],
        ["more", [new Date("2021-01-01")]],
        ["...rest", [1]],
      ],
      true,
      [["value", ["a", "b"]]],
      true,
      [],
    ]);
    expect((seen[1] as [string, unknown][])[0]?.[1]).toBeInstanceOf(Money);
  });

  it("middleware-7: a middleware may change the arguments before next, to values of any type", async () => {
    const { call, ran, role } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        args
          .set("value", new Map([["a", new Money(1)]]))
          .set("more", new Date(0))
          .set("...rest", [undefined, -0]);
        args.delete("unwanted");
        const result = await next();
        args.set("value", "too late");
        return (result as Map<string, Money>).get("a");
      }),
    );
    const expected = [new Map([["a", new Money(1)]]), new Date(0), undefined, -0];
    expect(JSON.parse((await call({ unwanted: 1, value: "a" })).text)).toEqual({ cents: 1 });
    expect((await call({ unwanted: 1, value: "a" }, "/rpc/app/echo", serialized)).text).toContain(
      '"key":"shop/Money"',
    );
    expect(JSON.parse((await ask(role, "GET", "/rpc/app/echo?unwanted=1")).text)).toEqual({
      cents: 1,
    });
    expect(ran).toEqual([expected, expected, expected]);
  });

  it("middleware may change an object among the arguments inside (middleware-7)", async () => {
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        (args.get("value") as { list: number[] }).list.push(2);
        return await next();
      }),
    );
    expect((await call({ value: { list: [1] } })).text).toBe('{"list":[1,2]}');
    expect(ran).toEqual([[{ list: [1, 2] }, undefined]]);
  });

  it("arguments that middleware sets are checked like those of the caller (middleware-7)", async () => {
    const emptied = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => (args.clear(), await next())),
    );
    expect(await emptied.call()).toMatchObject({
      status: 400,
      headers: { "x-svc-error": "MissingParameterValue", "x-svc-node": "the node" },
    });
    const added = await layered(
      kind,
      layer(
        async (_fqn, _version, args, _headers, next) => (args.set("__proto__", 1), await next()),
      ),
    );
    expect((await added.call()).status).toBe(400);
    expect([...emptied.ran, ...added.ran]).toEqual([]);
  });

  it("middleware-8, middleware-24: a middleware gets the HTTP headers as a Map of strings with lower-case names, found in any case", async () => {
    let seen: unknown[] = [];
    const { role } = await layered(
      kind,
      layer(async (_fqn, _version, _args, headers, next) => {
        seen = [
          headers instanceof Map,
          headers.get("Authorization"),
          headers.has("X-MORE"),
          headers.get("x-none"),
          [...headers.keys()],
        ];
        return await next();
      }),
    );
    const headers = {
      authorization: "Bearer a",
      "x-more": "1",
      "x-svc-trust-key": trustKey,
      "x-svc-hops": "1",
      ...serialized,
    };
    await ask(role, "GET", "/rpc/app/echo?value=a", headers);
    expect(seen).toEqual([
      true,
      "Bearer a",
      true,
      undefined,
      ["authorization", "x-more", "x-svc-data-encoding"],
    ]);
  });

  it("middleware-9, middleware-19: a middleware may change the request's headers before next, and the procedure sees the change", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, headers, next) => {
        headers.set("Authorization", "Bearer changed");
        headers.delete("X-Secret");
        return await next();
      }),
    );
    const answer = await call({}, "/rpc/app/headers", {
      authorization: "Bearer a",
      "x-secret": "1",
      "x-kept": "2",
    });
    expect(JSON.parse(answer.text)).toMatchObject({
      authorization: "Bearer changed",
      "x-kept": "2",
    });
    expect(JSON.parse(answer.text)).not.toHaveProperty("x-secret");
    expect(answer.headers).not.toHaveProperty("authorization");
  });

  it("middleware can't break a call by headers that describe its body (middleware-9)", async () => {
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, _version, _args, headers, next) => {
        headers.clear();
        headers
          .set("content-type", "text/html")
          .set("content-encoding", "gzip")
          .set("content-length", "1")
          .set("x-svc-trust-key", "forged")
          .set("x-svc-credential", "service forged");
        return await next();
      }),
    );
    const at = { serialized: true, name: "Date", value: "2021-01-01T00:00:00.000Z" };
    expect(await call({ value: at }, "/rpc/app/echo", serialized)).toMatchObject({
      status: 200,
      text: JSON.stringify(at),
    });
    expect(ran).toEqual([[new Date("2021-01-01"), undefined]]);
  });

  it.each<[string, string, unknown, string]>([
    [
      "a line break in a value",
      "x-a",
      "1\r\nset-cookie: a=b",
      "The value of the header 'x-a' has a character that headers can't carry; encode it first",
    ],
    [
      "a character beyond a byte",
      "x-a",
      "1 €",
      "The value of the header 'x-a' has a character that headers can't carry; encode it first",
    ],
    ["a number", "x-a", 1, "The value of the header 'x-a' must be a string, not number"],
    ["nothing", "x-a", undefined, "The value of the header 'x-a' must be a string, not undefined"],
    ["a name that is none", "x a", "1", `"x a" can't be the name of a header`],
    ["an empty name", "", "1", `"" can't be the name of a header`],
  ])(
    "middleware gets an error at once if it sets a header to %s (middleware-9)",
    async (_, name, value, message) => {
      const caught: unknown[] = [];
      const { call } = await layered(
        kind,
        layer(async (_fqn, _version, _args, headers, next) => {
          const attempt = (): void => {
            try {
              headers.set(name, value as string);
            } catch (error) {
              caught.push(error);
            }
          };
          attempt();
          const result = await next();
          attempt();
          return result;
        }),
      );
      expect((await call()).status).toBe(200);
      expect(caught).toEqual([new TypeError(message), new TypeError(message)]);
    },
  );

  it("middleware-10: a middleware gets next as a function without arguments", async () => {
    let received: unknown[] = [];
    const { call } = await layered(
      kind,
      layer(
        async (_fqn, _version, _args, _headers, next) => (
          (received = [typeof next, next.length]),
          await next()
        ),
      ),
    );
    expect([(await call()).text, ...received]).toEqual(["a", "function", 0]);
  });

  it("middleware-11: a middleware can't change what next does, whatever arguments it passes", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => await next()),
      layer(
        async (_fqn, _version, _args, _headers, next) =>
          await Reflect.apply(next, undefined, ["app/fail", new Map()]),
      ),
      layer(async (_fqn, _version, _args, _headers, next) => {
        const own = next;
        next = async () => "another";
        return await own();
      }),
    );
    expect((await call()).text).toBe("a");
  });
});

describe.each(["node", "standalone"] as const)("the context of a procedure on a %s", (kind) => {
  it("middleware-26: `this.headers` in a procedure is a ReadonlyMap with lower-case names", async () => {
    const { call, ran } = await layered(
      kind,
      layer(
        async (_fqn, _version, _args, headers, next) => (
          headers.set("X-By-Layer", "1"),
          await next()
        ),
      ),
    );
    await call({}, "/rpc/app/headers", { "x-more": "2" });
    const [[headers]] = ran as [[Map<string, string>]];
    expect(headers?.size).toBe([...headers].length);
    expect([...headers]).toEqual([
      ["content-type", "application/json"],
      ["x-more", "2"],
      ["x-by-layer", "1"],
    ]);
  });
});
