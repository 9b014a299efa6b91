import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BadRequest, Forbidden } from "../../../src/base/errors.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { parseText } from "../../../src/codec/values/text.ts";
import { encodePlain } from "../../../src/codec/plain.ts";
import {
  decodeMembers,
  decodeSerialized,
  encodeSerialized,
} from "../../../src/codec/serialized.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";
import { setTrace } from "../../../src/base/trace.ts";
import { expectSame } from "../../_same.ts";
import { Draft, Employee, OutOfStock, Person, Team } from "../../_wire-classes.ts";
import { encode, outside, trusted } from "./_codec.ts";

// Many runs, and machines that do other things beside them.
describe("properties", { timeout: 60_000 }, () => {
  // Halves of surrogate pairs among them.
  const anyText = fc
    .array(fc.nat(0xffff), { maxLength: 8 })
    .map((codes) => String.fromCharCode(...codes));
  const leaf = fc.oneof(
    fc.string({ unit: "binary" }),
    anyText,
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
    .oneof(fc.string(), anyText, fc.constantFrom("serialized", "name", "then", "args", "key"))
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
      tie("employee"),
      tie("team"),
      tie("error"),
      tie("several"),
      tie("own"),
      tie("draft"),
      tie("dom"),
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
    employee: fc
      .tuple(fc.string(), tie("any"), fc.dictionary(key, tie("any")))
      .map(([name, salary, tags]) =>
        Object.assign(new Employee(name), { salary, tags: new Map(Object.entries(tags)) }),
      ),
    // Each member may be undefined, where the class has a default.
    draft: fc
      .tuple(tie("any"), tie("any"), tie("any"), tie("any"), tie("any"))
      .map(([pages, extra, three, dotted, computed]) =>
        Object.assign(new Draft(), {
          pages,
          extra,
          3: three,
          "a.b": dotted,
          computed,
        } as Partial<Draft>),
      ),
    dom: fc
      .tuple(
        fc.constantFrom("AbortError", "TimeoutError", "NotFoundError", "Error", "Own", ""),
        anyText,
        fc.array(fc.string()),
      )
      .map(([name, message, lines]) => {
        const error = new DOMException(message, name);
        setTrace(error, lines);
        return error;
      }),
    team: fc
      .tuple(fc.string(), fc.array(tie("any")))
      .map(([title, people]) => new Team(title, undefined, ...(people as never[]))),
    error: fc
      .tuple(
        fc.constantFrom(Error, TypeError, BadRequest, Forbidden),
        fc.string(),
        tie("any"),
        fc.dictionary(
          key.filter(
            (one) => !["name", "message", "stack", "cause", "trace", "errors"].includes(one),
          ),
          tie("any").filter((one) => one !== undefined),
        ),
        fc.array(fc.string()),
      )
      .map(([Class, message, cause, fields, lines]) => {
        const error = Object.assign(
          new Class(message, cause === undefined ? undefined : { cause }),
          fields,
        );
        setTrace(error, lines);
        return error;
      }),
    several: fc
      .tuple(fc.array(tie("any")), fc.string())
      .map(([errors, message]) => new AggregateError(errors, message)),
    own: fc
      .tuple(fc.string(), fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }))
      .map(([sku, since]) => Object.assign(new OutOfStock(sku), { since })),
    person: fc
      .tuple(fc.string(), fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }))
      .map(([name, born]) => new Person(name, born)),
  })).any;

  it("decode(encode(x)) equals x", () => {
    fc.assert(
      fc.property(value, (one) => {
        const text = encode(one);
        const back = decodeSerialized(text, {
          ...trusted,
          limits: { ...defaultLimits, maxDepth: 1000 },
        });
        expect(back).toStrictEqual(one);
        expect(encode(back)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("decode(encode(x)) equals x with files in it, in both encodings", async () => {
    const file = fc
      .tuple(
        fc.uint8Array(),
        anyText,
        fc.constantFrom("", "text/plain", "image/svg+xml"),
        fc.nat(),
        fc.boolean(),
      )
      .map(([bytes, name, type, lastModified, named]) =>
        named ? new File([bytes], name, { type, lastModified }) : new Blob([bytes], { type }),
      );
    const holder = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        file,
        leaf,
        fc.array(tie("any"), { maxLength: 4 }),
        fc.dictionary(key, file, { maxKeys: 3 }).map((one) => ({ ...one })),
        tie("map"),
      ),
      map: fc
        .tuple(tie("any"), tie("any"))
        .map(
          ([one, other]) => new Map([[one, Object.assign(new Employee("x"), { salary: other })]]),
        ),
    })).any;
    await fc.assert(
      fc.asyncProperty(holder, async (one) => {
        const text = await encodeSerialized(one, trusted);
        const back = decodeSerialized(text, trusted);
        await expectSame(back, one);
        expect(await encodeSerialized(back, trusted)).toBe(text);
        // superjson refuses values that it can't carry; files aren't among them.
        const superjson = await Promise.resolve(one)
          .then((value) => encodeSuperjson(value, trusted))
          .catch((error: Error) =>
            expect(error.message).toMatch(
              /superjson can't carry (an invalid date|a BigInt64Array|\S+ in a Float64Array)/,
            ),
          );
        if (typeof superjson === "string")
          await expectSame(decodeSuperjson(superjson, trusted), one);
      }),
      { numRuns: 200 },
    );
  });

  it("plain data never fails, and is what JSON carries", () => {
    fc.assert(
      fc.property(value, (one) => {
        const text = encodePlain(one) as string;
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("a key that reaches prototypes is refused by both sides, at any depth and in any form", () => {
    const around = fc.constantFrom<(inner: object) => unknown>(
      (inner) => [inner],
      (inner) => ({ a: inner }),
      (inner) => new Map([["a", inner]]),
      (inner) => new Map([[inner, 1]]),
      (inner) => new Set([inner]),
      (inner) => new Person(inner as never),
      (inner) => Object.assign(new Employee("x"), { salary: inner }),
      (inner) => new Error("x", { cause: inner }),
      (inner) => new AggregateError([inner]),
      (inner) => Object.assign(new OutOfStock("x"), { since: inner }),
      (inner) => ({ serialized: true, a: inner }),
    );
    const forbidden = fc.constantFrom("__proto__", "constructor", "prototype");
    fc.assert(
      fc.property(forbidden, fc.array(around, { maxLength: 6 }), (name, layers) => {
        const bad: object = Object.defineProperty({}, name, {
          value: { polluted: true },
          enumerable: true,
        });
        const wrap = (inner: object): unknown =>
          layers.reduce<unknown>((value, layer) => layer(value as object), inner);
        expect(() => encode(wrap(bad))).toThrow("no receiver takes this key");
        // As a sender would write it that doesn't mind.
        const text = encode(wrap({ forbiddenKey: { polluted: true } })).replace(
          "forbiddenKey",
          name,
        );
        expect(() => decodeSerialized(text, trusted)).toThrow("this key is not allowed");
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }),
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
    "1",
    "mediaType",
    "fileName",
    "lastModified",
    "dom",
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
      "File",
      "people/Draft",
      "AbortError",
      "12",
      "http://a.b",
    ),
    fc.jsonValue(),
  );
  const hostile = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, content, fc.array(tie("any")), tie("object"), tie("form")),
    object: fc.array(fc.tuple(word, tie("any"))).map((pairs) => Object.fromEntries(pairs)),
    form: fc
      .tuple(
        fc.constantFrom("class", "Date", "Map", "Set", "Binary", "Error", "Object", "Url"),
        tie("object"),
      )
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
            decodeMembers(parseText(text, outside.limits), { ...outside, trusted, plain });
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
