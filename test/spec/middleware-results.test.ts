import { describe, expect, it } from "vitest";

import { Forbidden } from "../../src/base/errors.ts";
import { kinds, layer, layered } from "./_services.ts";
import { Money, OutOfStock } from "./_shop.ts";

const serialized = { "x-svc-data-encoding": "serialized" };

describe.each(kinds)("a middleware of a %s", (kind) => {
  it("middleware-13: the result is what the middleware returns", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => await next()),
    );
    for (const value of ["text", 1, true, null, [1, { a: 2 }], { a: [] }])
      expect((await call({ value })).text).toBe(
        typeof value === "string" ? value : JSON.stringify(value),
      );
    const { call: forgetful } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => void (await next())),
    );
    expect(await forgetful()).toMatchObject({
      status: 204,
      headers: { "x-svc-data-type": "undefined" },
    });
  });

  it("middleware-14: a middleware may change the result after next, inside or as a whole", async () => {
    const inside = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        const result = (await next()) as { list: number[] };
        result.list.push(2);
        return result;
      }),
    );
    expect((await inside.call({ value: { list: [1] } })).text).toBe('{"list":[1,2]}');
    for (const [returned, headers, text] of [
      ["other", {}, "other"],
      [new Money(3), {}, '{"cents":3}'],
      [
        new Money(3),
        serialized,
        '{"serialized":true,"key":"shop/Money","name":"class","args":{"0":3},"fields":{}}',
      ],
      [new Uint8Array([97]), {}, "a"],
      [undefined, {}, ""],
    ] as const) {
      const { call } = await layered(
        kind,
        layer(async (_fqn, _version, _args, _headers, next) => (await next(), returned)),
      );
      expect((await call({ value: [1] }, "/rpc/app/echo", headers)).text).toBe(text);
    }
  });

  it("middleware may change raw bytes, and otherwise leaves them and their media type (middleware-14)", async () => {
    for (const [change, text] of [
      [(): void => {}, "a"],
      [(bytes: Uint8Array): void => void bytes.fill(98), "b"],
    ] as const) {
      const { call } = await layered(
        kind,
        layer(async (_fqn, _version, _args, _headers, next) => {
          const result = await next();
          if (result instanceof Uint8Array) change(result);
          return result;
        }),
      );
      const answer = await call({}, "/rpc/app/raw");
      // On the procedure's own service the result is the Blob itself, which is immutable.
      const isOwnService = kind === "node" || kind === "standalone";
      expect([
        answer.text,
        answer.headers["content-type"],
        answer.headers["x-svc-data-type"],
      ]).toEqual([isOwnService ? "a" : text, "image/x-thread", "binary"]);
    }
  });

  it("middleware sees real instances in a result (middleware-14)", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        const result = await next();
        return result instanceof Money ? new Money(result.cents + 1) : "no instance";
      }),
    );
    expect((await call({}, "/rpc/app/make", serialized)).text).toContain('"args":{"0":6}');
  });

  it("a result of middleware that can't be sent is an error with its path (middleware-14)", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => (await next(), { a: [() => 1] })),
    );
    expect(await call()).toMatchObject({
      status: 500,
      headers: { "x-svc-error": "ValueNotSerializable" },
      text: expect.stringContaining("result.a[0]"),
    });
  });
});

describe.each(kinds)("an error at a middleware of a %s", (kind) => {
  it("an error passes middleware unchanged and reaches the caller as the procedure threw it (middleware-13)", async () => {
    let seen: unknown;
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        try {
          return await next();
        } catch (error) {
          seen = error;
          throw error;
        }
      }),
    );
    const answer = await call({ how: "own" }, "/rpc/app/fail", serialized);
    expect(seen).toBeInstanceOf(OutOfStock);
    expect(seen).toMatchObject({ sku: "tea", message: "no tea left" });
    expect(answer).toMatchObject({
      status: 404,
      headers: { "x-svc-error": "NotFound", "x-svc-node": "the node" },
    });
    expect(JSON.parse(answer.text)).toMatchObject({
      key: "shop/OutOfStock",
      trace: ["[app/fail | v0.0.0]"],
    });
    expect((await call({ how: "own" }, "/rpc/app/fail")).text).toBe(
      "no tea left\n[app/fail | v0.0.0]",
    );
  });

  it("middleware may catch, replace and change an error (middleware-14)", async () => {
    const caught = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => await next().catch(() => "instead")),
    );
    expect(await caught.call({ how: "own" }, "/rpc/app/fail")).toMatchObject({
      status: 200,
      text: "instead",
    });
    const replaced = await layered(
      kind,
      layer(
        async (_fqn, _version, _args, _headers, next) =>
          await next().catch(() => Promise.reject(new Forbidden("hidden"))),
      ),
    );
    const answer = await replaced.call({ how: "own" }, "/rpc/app/fail");
    expect(answer).toMatchObject({
      status: 403,
      text: "hidden",
      headers: { "x-svc-error": "Forbidden", "x-svc-node": "the node" },
    });
    const changed = await layered(
      kind,
      layer(
        async (_fqn, _version, _args, _headers, next) =>
          await next().catch((error: Error) => {
            error.message += ", sorry";
            throw error;
          }),
      ),
    );
    expect((await changed.call({ how: "own" }, "/rpc/app/fail")).text).toBe(
      "no tea left, sorry\n[app/fail | v0.0.0]",
    );
  });

  it("an error that middleware throws is the answer, and an unexpected one is logged (middleware-1)", async () => {
    const refusing = await layered(
      kind,
      layer(async () => Promise.reject(new Forbidden("not you"))),
    );
    expect(await refusing.call()).toMatchObject({ status: 403, text: "not you" });
    const broken = await layered(
      kind,
      layer(() => {
        throw new Error("broken at once");
      }),
    );
    expect((await broken.call()).status).toBe(500);
    expect(broken.log.lines.join("\n")).toContain("broken at once");
    expect([...refusing.ran, ...broken.ran]).toEqual([]);
  });
});
