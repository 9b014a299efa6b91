import { describe, expect, it } from "vitest";

import { kinds, layer, layered } from "../../spec/_services.ts";

const superjson = { "x-svc-data-encoding": "superjson" };
const both = { "x-svc-data-encoding": "serialized, superjson" };

describe.each(kinds)("a layer of a %s, round a call in superjson", (kind) => {
  it("sees arguments and result as they are, and may change both (middleware-7, middleware-14)", async () => {
    const seen: unknown[] = [];
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        seen.push(new Map(args.get("value") as Map<string, unknown>));
        args.set("more", new Set([1]));
        const result = (await next()) as Map<string, unknown>;
        return result.set("b", 2n);
      }),
    );
    const answer = await call(
      { json: { value: [["a", 1]] }, meta: { values: { value: ["map"] } } },
      "/rpc/app/echo",
      superjson,
    );
    expect([answer.status, answer.headers["x-svc-data-encoding"]]).toEqual([200, "superjson"]);
    expect(JSON.parse(answer.text)).toMatchObject({
      json: [
        ["a", 1],
        ["b", "2"],
      ],
      meta: { values: ["map", { "1.1": ["bigint"] }] },
    });
    expect(seen).toEqual([new Map([["a", 1]])]);
    expect(ran[0]?.[1]).toEqual(new Set([1]));
  });

  it("that looks at nothing leaves a scalar's answer as it came (middleware-13)", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => await next()),
    );
    const answer = await call({ json: { value: 5 } }, "/rpc/app/echo", superjson);
    expect([JSON.parse(answer.text), answer.headers["x-svc-data-type"]]).toEqual([
      { json: 5 },
      "number",
    ]);
    const failed = await call({ json: { how: "own" } }, "/rpc/app/fail", superjson);
    expect([failed.status, JSON.parse(failed.text)]).toMatchObject([
      404,
      { json: { message: "no tea left" } },
    ]);
  });

  it("that sets a cycle gives the procedure that cycle, and a caller who reads both its like (middleware-7)", async () => {
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        const ring: Record<string, unknown> = { name: "ring" };
        ring["self"] = ring;
        args.set("value", ring);
        return await next();
      }),
    );
    const answer = await call({ value: 1 }, "/rpc/app/echo", both);
    expect([answer.status, answer.headers["x-svc-data-encoding"]]).toEqual([200, "superjson"]);
    const plain = await call({ value: 1 }, "/rpc/app/echo", {
      "x-svc-data-encoding": "serialized",
    });
    expect([plain.status, plain.headers["x-svc-error"]]).toEqual([500, "ValueNotSerializable"]);
    for (const [given] of ran as [Record<string, unknown>][]) expect(given["self"]).toBe(given);
    expect(ran).toHaveLength(2);
  });

  it("that sets a cycle in a plain call leaves the caller a plain answer (middleware-7)", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        const ring: unknown[] = [];
        ring.push(ring);
        args.set("more", ring);
        return await next();
      }),
    );
    const answer = await call({ value: "a" });
    expect([answer.status, answer.text, answer.headers["x-svc-data-encoding"]]).toEqual([
      200,
      "a",
      undefined,
    ]);
  });
});
