// Plain calls must be what the codec makes of them: a page uses either.

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { IncomingResponse } from "../../../src/base/ports.ts";
import { createCodec } from "../../../src/wire/outgoing/remote-codec.ts";
import { parseDated, plainAnswer, plainArguments } from "../../../src/wire/outgoing/plain-call.ts";
import { encodeResult } from "../../../src/wire/encode-result.ts";
import { incoming } from "../../_endpoint.ts";
import { wireCases } from "../../_wire-cases.ts";
import { classes, failing, text } from "./_remote.ts";

const codec = createCodec({ classes });
const args = (value: unknown): Map<string, unknown> => new Map([["value", value]]);
const answer = async (value: unknown): Promise<IncomingResponse> =>
  incoming(await encodeResult(value, "serialized, superjson", { classes }));

/** A page sends plain values itself, and leaves others to the codec. */
async function check(value: unknown): Promise<void> {
  const plain = plainArguments(args(value));
  if (plain !== undefined)
    expect({ body: plain, encoding: "serialized, superjson" }).toEqual(
      await codec.encode(args(value)),
    );
  // A value that can't be encoded isn't answered.
  const response = await answer(value).catch(() => undefined);
  if (response === undefined) return;
  for (const read of [plainAnswer(response), plainAnswer(response, parseDated)])
    if (read !== undefined) expect(read).toEqual(await codec.decode(response));
}

const as = (type: string, contentType = "application/json"): object => ({
  headers: { "x-svc-data-type": type, "content-type": contentType },
});

describe("a plain call", () => {
  test.each(wireCases)("writes and reads $name as the codec does, or leaves it", async (row) => {
    await check(row.value);
    await check([row.value]);
    await check({ member: row.value });
  });

  test("writes and reads any JSON as the codec does, or leaves it", async () => {
    await fc.assert(fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), check), {
      numRuns: 100,
    });
    const dated = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.date({ noInvalidDate: false }),
        fc.constantFrom(null, "2026-02-30T00:00:00.000Z", 1),
        fc.array(tie("value")),
        fc.dictionary(fc.constantFrom("a", "value", "name"), tie("value")),
      ),
    })).value;
    await fc.assert(fc.asyncProperty(dated, check), { numRuns: 200 });
    const anything = fc.anything({ withDate: true, withMap: true, withNullPrototype: true });
    const names = fc.constantFrom("serialized", "__proto__", "toJSON", "constructor", "a");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, anything), async (value) => {
        const plain = plainArguments(args(value));
        if (plain !== undefined) expect(plain).toBe((await codec.encode(args(value))).body);
      }),
      { numRuns: 100 },
    );
  });

  test.each<[string, unknown]>([
    ["text", "ä"],
    ["a number", 12.5],
    ["a boolean", true],
    ["null", null],
    ["nested lists and objects", [{ a: [1, { b: "serialized" }], "c d": null }]],
    ["members that are undefined", { limit: 20, tag: undefined, at: [{ page: undefined }] }],
  ])("needs no codec for %s", async (_, value) => {
    expect(plainArguments(args(value))).toBe(JSON.stringify({ value }));
    expect(plainAnswer(await answer(value))).toEqual({ value });
  });

  test("needs no codec for dates in arguments, nor in a page for those in an answer", async () => {
    const at = new Date("2026-11-28T12:00:00.000Z");
    for (const value of [at, [at, at], { list: [{ at }], text: "\u0001 é" }]) {
      expect(plainArguments(args(value))).toBe((await codec.encode(args(value))).body);
      const response = await answer(value);
      expect(plainAnswer(response, parseDated)).toEqual(await codec.decode(response));
      expect(plainAnswer(response, parseDated)?.value).toBeDefined();
      // A service has the codec, which is faster.
      expect(plainAnswer(response)).toBeUndefined();
    }
  });

  const date = (form: string): string => `{"a":[{"serialized":true,${form}}]}`;
  test.each([
    ["another form", date('"name":"Map","entries":{}')],
    ["a date with a member", date('"name":"Date","value":"2026-11-28T12:00:00.000Z","more":1')],
    ["the 30th of February", date('"name":"Date","value":"2026-02-30T12:00:00.000Z"')],
    ["a date that isn't one", date('"name":"Date","value":null')],
    ["the day of a date alone", date('"name":"Date","value":"2026-11-28"')],
    ["a number as a date", date('"name":"Date","value":0')],
    ["a mark that isn't `true`", '{"a":{"serialized":1,"name":"Date","value":null}}'],
    ["a forbidden key", '{"__proto__":{"a":1}}'],
    ["a forbidden key with an escape", '{"a":[{"\\u005f_proto__":{"a":1}}]}'],
    ["a forbidden key beside a date", `{"constructor":1,${date('"name":"Date"').slice(1)}`],
  ])("leaves an answer in a page to the codec: %s", (_, body) => {
    expect(plainAnswer(text(body, as("object")), parseDated)).toBeUndefined();
  });

  test("needs no codec for an answer without a value, or with a node's name", async () => {
    expect(plainAnswer(await answer(undefined))).toEqual({ value: undefined });
    const named = text("ä", { headers: { "x-svc-data-type": "string", "x-svc-node": "east" } });
    expect(plainAnswer(named)).toEqual({ value: "ä", node: "east" });
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  const shared = Array.from({ length: 30 }).reduce<unknown>((inner) => [inner, inner], 1);
  const hidden = Object.defineProperty([1, 2], "length", { value: 3 });
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["undefined in a list", [undefined]],
    ["-0", -0],
    ["NaN", NaN],
    ["a function", () => {}],
    ["a symbol", Symbol("s")],
    ["a date without a time", new Date(NaN)],
    ["a date of a class", new (class Day extends Date {})()],
    ["a date with a member", Object.assign(new Date(0), { toJSON: () => "lost" })],
    ["an object of no class", Object.create(null)],
    ["an instance", new (class Extended {})()],
    ["an array of a class", new (class List extends Array {})()],
    ["a hole", [1, , 2]], // oxlint-disable-line no-sparse-arrays
    ["an array with a longer length", hidden],
    ["an array with a member", Object.assign([1], { more: 1 })],
    ["a member of a symbol", { [Symbol("s")]: 1 }],
    ["toJSON", { toJSON: () => 1 }],
    ["what looks like a form", { serialized: true }],
    ["a key that reaches a prototype", JSON.parse('{ "__proto__": 1 }')],
    ["the key 'constructor'", { constructor: 1 }],
    ["a cycle", cycle],
    ["one object in a thousand million places", shared],
    ["a hundred levels", Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], 1)],
    ["twenty thousand values", Array.from({ length: 20_000 }).fill(1)],
  ])("leaves arguments to the codec: %s", (_, value) => {
    expect(plainArguments(args([value]))).toBeUndefined();
  });

  test("leaves arguments to the codec if a library has given all objects toJSON", () => {
    // oxlint-disable-next-line no-extend-native -- what such a library does
    Object.defineProperty(Object.prototype, "toJSON", { value: () => "lost", configurable: true });
    try {
      expect(plainArguments(args("text"))).toBeUndefined();
    } finally {
      Reflect.deleteProperty(Object.prototype, "toJSON");
    }
  });

  test.each<[string, ReturnType<typeof text>]>([
    ["a form", text('{"a":{"serialized":true,"name":"Map"}}', as("object"))],
    ["a form with an escape", text('{"\\u0073erialized":true}', as("object"))],
    ["a key that reaches a prototype", text('{"__proto__":{}}', as("object"))],
    ["NaN", text("NaN", as("number"))],
    ["a bigint", text("12", as("bigint"))],
    ["a number that says it is an object", text("12", as("object"))],
    ["an object that says it is a number", text("{}", as("number"))],
    ["what isn't JSON", text("<html>", as("object"))],
    ["an answer without a type", text("12", { headers: {} })],
    ["a redirect", text("", { status: 301 })],
    ["superjson", text('{"json":1}', { headers: { "x-svc-data-encoding": "superjson" } })],
  ])("leaves an answer to the codec: %s", (_, response) => {
    expect(plainAnswer(response)).toBeUndefined();
  });

  test("leaves errors to the codec", async () => {
    expect(plainAnswer(await failing(new Error("torn")))).toBeUndefined();
  });
});
