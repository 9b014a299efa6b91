import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BadRequest } from "../../../src/errors.ts";
import { defaultLimits } from "../../../src/serializer/limits.ts";
import { decodeMembers, decodeSerialized } from "../../../src/serializer/serialized.ts";
import { Person } from "../../_wire-classes.ts";
import { encode, outside } from "./_codec.ts";

// Many runs, and machines that do other things beside them.
describe("properties", { timeout: 60_000 }, () => {
  const leaf = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.float64Array(),
    fc.bigInt64Array(),
    fc.webUrl().map((url) => new URL(url)),
  );
  const key = fc
    .oneof(fc.string(), fc.constantFrom("serialized", "name", "then", "args", "key"))
    .filter((one) => !["__proto__", "constructor", "prototype"].includes(one));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      leaf,
      tie("list"),
      tie("object"),
      tie("map"),
      tie("set"),
      tie("marked"),
      tie("person"),
    ),
    list: fc.array(tie("any")),
    object: fc
      .dictionary(
        key,
        tie("any").filter((one) => one !== undefined),
      )
      .map((one) => ({ ...one })),
    map: fc.array(fc.tuple(tie("any"), tie("any"))).map((pairs) => new Map(pairs)),
    set: fc.array(tie("any")).map((items) => new Set(items)),
    marked: fc
      .dictionary(
        key,
        tie("any").filter((one) => one !== undefined),
      )
      .map((one) => ({ ...one, serialized: true })),
    person: fc
      .tuple(fc.string(), fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }))
      .map(([name, born]) => new Person(name, born)),
  })).any;

  it("decode(encode(x)) equals x", () => {
    fc.assert(
      fc.property(value, (one) => {
        const text = encode(one);
        const back = decodeSerialized(text, { ...outside, limits: { ...defaultLimits, depth: 1000 } });
        expect(back).toStrictEqual(one);
        expect(encode(back)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  const word = fc.constantFrom(
    "serialized",
    "name",
    "value",
    "key",
    "args",
    "fields",
    "entries",
    "keys",
    "values",
    "type",
    "base64",
    "message",
    "trace",
    "cause",
    "__proto__",
    "constructor",
    "then",
    "0",
  );
  const content = fc.oneof(
    fc.constantFrom<unknown>(
      true,
      "class",
      "Date",
      "Map",
      "Set",
      "Binary",
      "BigInt",
      "RegExp",
      "Url",
      "Number",
      "Undefined",
      "Error",
      "Object",
      "people/Person",
      "people/Refused",
      "NaN",
      "Blob",
      "12",
      "http://a.b",
    ),
    fc.jsonValue(),
  );
  const hostile = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, content, fc.array(tie("any")), tie("object"), tie("form")),
    object: fc.array(fc.tuple(word, tie("any"))).map((pairs) => Object.fromEntries(pairs)),
    form: fc
      .tuple(fc.constantFrom("class", "Date", "Map", "Set", "Binary", "Error", "Object", "Url"), tie("object"))
      .map(([name, rest]) => ({ ...(rest as object), serialized: true, name })),
  })).any;

  it("decode(anything) is a listed error or a value, and changes nothing", () => {
    const before = [
      Object.getOwnPropertyNames(Object.prototype),
      Object.getOwnPropertyNames(globalThis),
      Object.getOwnPropertyNames(Array.prototype),
    ];
    fc.assert(
      fc.property(
        fc.oneof(
          hostile.map((one) => JSON.stringify(one)),
          fc.string(),
          fc.json(),
        ),
        fc.boolean(),
        fc.boolean(),
        (text, trusted, plain) => {
          try {
            decodeSerialized(text, { ...outside, trusted, plain });
            decodeMembers(text, { ...outside, trusted, plain });
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(BadRequest);
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect([
      Object.getOwnPropertyNames(Object.prototype),
      Object.getOwnPropertyNames(globalThis),
      Object.getOwnPropertyNames(Array.prototype),
    ]).toEqual(before);
  });
});
