import { describe, expect, it } from "vitest";

import { BadRequest, InvalidSerializedValue } from "../../../src/base/errors.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { decodeSerialized } from "../../../src/codec/serialized.ts";
import { Trap } from "../../_wire-classes.ts";
import { decode, mark, outside, trusted } from "./_codec.ts";

describe("decoding: what is refused with 400", () => {
  const ada = (more: object): object => ({
    serialized: true,
    name: "class",
    key: "people/Person",
    ...more,
  });
  it.each<[string, unknown, string | RegExp]>([
    [
      "unknown form",
      { a: [mark("Function", { value: "x" })] },
      "args.a[0]: there is no serialized form of this name",
    ],
    ["form without a name", mark(undefined), /no serialized form/],
    ["name that is no text", mark(["Date"], { value: null }), /no serialized form/],
    [
      "unknown class",
      { who: ada({ key: "people/Nobody" }) },
      "args.who: there is no class 'people/Nobody'",
    ],
    ["class that is not recorded", ada({ key: "people/Trap" }), /no class/],
    ["class of the prototype", ada({ key: "constructor" }), /no class/],
    ["key that is no text", ada({ key: ["people/Person"] }), "args: 'key' must be a string"],
    [
      "undeclared field",
      ada({ fields: { born: null } }),
      "args.born: class 'people/Person' has no such field",
    ],
    [
      "undeclared argument",
      ada({ args: { 2: 1 } }),
      "args: class 'people/Person' has no constructor argument '2'",
    ],
    [
      "argument at a far place",
      mark("class", { key: "people/Team", args: { 99999: 1 } }),
      /no constructor argument/,
    ],
    ["argument at no place", ada({ args: { length: 1 } }), /no constructor argument/],
    ["args as a list", ada({ args: [1] }), "args: 'args' must be an object"],
    ["args that are null", ada({ args: null }), "args: 'args' must be an object"],
    ["fields that are null", ada({ fields: null }), "args: 'fields' must be an object"],
    ["object of nothing", mark("Object", {}), "args: this is not a valid Object form"],
    ["object that is null", mark("Object", { value: null }), "args: 'value' must be an object"],
    [
      "setter that throws",
      { p: ada({ args: { 0: "x" }, fields: { email: "nowhere" } }) },
      "args.p.email: 'nowhere' is no address",
    ],
    [
      "constructor that throws",
      { m: mark("class", { key: "people/Money", args: { 0: 1 } }) },
      "args.m: An amount is counted in whole cents",
    ],
    ["error as an instance", mark("class", { key: "people/OutOfStock" }), /no class/],
    [
      "extra member of a form",
      mark("Date", { value: null, more: 1 }),
      "args: a Date form can only have the members name, value",
    ],
    [
      "date that is none",
      mark("Date", { value: "tomorrow" }),
      "args: this is not a valid Date form",
    ],
    ["date as a number", mark("Date", { value: 1 }), "args: 'value' must be a string"],
    [
      "number that JSON has",
      mark("Number", { value: "12" }),
      "args: this is not a valid Number form",
    ],
    [
      "bigint that is none",
      mark("BigInt", { value: "0x12" }),
      "args: this is not a valid BigInt form",
    ],
    [
      "map with too few values",
      mark("Map", { entries: { keys: [1], values: [] } }),
      "args: this is not a valid Map form",
    ],
    ["map of pairs", mark("Map", { entries: [[1, 2]] }), "args: 'entries' must be an object"],
    [
      "set of no list",
      mark("Set", { values: { length: 3 } }),
      "args: this is not a valid Set form",
    ],
    [
      "unknown binary",
      mark("Binary", { type: "Buffer", base64: "" }),
      "args: this is not a valid Binary form",
    ],
    [
      "half an element",
      mark("Binary", { type: "Uint16Array", base64: "AQ==" }),
      "args: this is not a valid Binary form",
    ],
    [
      "base64 that is none",
      mark("Binary", { type: "Uint8Array", base64: "$" }),
      "args: this is not a valid Binary form",
    ],
    [
      "file without a name",
      mark("Binary", { type: "File", base64: "" }),
      "args: this is not a valid Binary form",
    ],
    [
      "address that is none",
      { at: [mark("Url", { value: "nowhere" })] },
      "args.at[0]: this is not a valid Url form",
    ],
    [
      "nested fault in a map",
      { m: mark("Map", { entries: { keys: [1], values: [{ a: mark("x") }] } }) },
      "args.m.entries.values[0].a: there is no serialized form of this name",
    ],
    [
      "expression from outside",
      mark("RegExp", { source: "(a+)+$", flags: "" }),
      "args: this form is accepted from services only",
    ],
    [
      "error from outside",
      { e: mark("Error", { type: "Error", message: "" }) },
      "args.e: this form is accepted from services only",
    ],
  ])("%s", (_, wire, message) => {
    const act = (): unknown => decode(wire);
    expect(act).toThrow(InvalidSerializedValue);
    expect(act).toThrow(message);
  });
  it.each(["__proto__", "constructor", "prototype"])(
    "the key %s is refused everywhere, however it is escaped",
    (key) => {
      const escaped = `\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}`;
      for (const written of [key, escaped])
        for (const text of [
          `{"${written}":{"polluted":1}}`,
          `[{"a":[{"${written}":1}]}]`,
          `{"a":{"${key}":1,"${written}":2}}`,
          `{"serialized":true,"name":"Object","value":{"serialized":true,"${written}":1}}`,
          `{"serialized":true,"name":"class","key":"people/Person","args":{"0":{"${written}":1}}}`,
          `{"serialized":true,"name":"class","key":"people/Person","fields":{"${written}":1}}`,
          `{"serialized":true,"name":"Map","entries":{"keys":["a"],"values":[{"${written}":1}]}}`,
        ])
          for (const plain of [false, true])
            expect(() => decodeSerialized(text, { ...trusted, plain }), text).toThrow(
              /this key is not allowed/,
            );
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );
  it("forbidden keys are allowed as values", () => {
    expect(decode(["constructor", { a: "__proto__" }])).toEqual([
      "constructor",
      { a: "__proto__" },
    ]);
  });
  it("a form that is written with escapes is a form", () => {
    expect(
      decodeSerialized('{"\\u0073erialized":true,"name":"Undefined"}', outside),
    ).toBeUndefined();
  });
  it("decoding constructs only recorded classes of those that a message names", () => {
    for (const key of [
      "people/Trap",
      "Trap",
      "../test/_wire-classes",
      "Date",
      "Function",
      "people/people",
    ])
      expect(() => decode(mark("class", { key }))).toThrow(InvalidSerializedValue);
    expect(Trap.sprung).toBe(0);
  });
  it("a system error in a constructor doesn't reach the sender", () => {
    class Reads {
      constructor() {
        throw Object.assign(new Error("ENOENT: no such file, open '/etc/x'"), { syscall: "open" });
      }
    }
    const classes = new Classes();
    classes.register(
      { key: "Reads", module: "reads", export: "Reads", args: [], fields: [] },
      Reads,
    );
    expect(() => decode(mark("class", { key: "Reads" }), { classes })).toThrow(
      new InvalidSerializedValue("args: Internal error"),
    );
  });
  it("forms are data in plain mode", () => {
    const data = { a: mark("Date", { value: null }), b: mark("RegExp", { source: "a" }) };
    expect(decode(data, { plain: true })).toEqual(data);
  });
  it("messages cut long paths and names", () => {
    const key = "k".repeat(100_000);
    expect(() => decode({ [key]: mark("class", { key }) })).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{10,600}$/) }),
    );
  });
});

describe("limits", () => {
  const nest = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  it("more than 128 levels are refused before anything is decoded, at any length of the text", () => {
    expect(() => decodeSerialized(nest(128), outside)).not.toThrow();
    expect(() => decodeSerialized(nest(129), outside)).toThrow(
      new BadRequest("More than 128 levels of nesting (limit 'maxDepth')"),
    );
    expect(() => decodeSerialized("[".repeat(1_000_000), outside)).toThrow(BadRequest);
    // Short texts are counted after they're parsed, long ones before. Objects count as lists do.
    const object = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
    for (const padding of ["", " ".repeat(300_000)])
      for (const plain of [false, true]) {
        const options = { ...outside, plain };
        for (const text of [nest(128), `[${nest(127)},1]`, object(128), `[1,${object(127)}]`])
          expect(() => decodeSerialized(text + padding, options)).not.toThrow();
        for (const text of [nest(129), `[${nest(128)},1]`, object(129), `[1,${object(128)}]`])
          expect(() => decodeSerialized(text + padding, options)).toThrow(/limit 'maxDepth'/);
        // No stack is deep enough for these.
        for (const text of [nest(99_999), object(30_000)])
          expect(() => decodeSerialized(text + padding, options)).toThrow(/limit 'maxDepth'/);
      }
  });
  it("brackets inside strings don't count, and escaped quotes don't end a string", () => {
    const text = '[{"'.repeat(300) + '\\"'.repeat(3) + "\\\\";
    expect(decodeSerialized(JSON.stringify([text, text]), outside)).toEqual([text, text]);
    expect(() => decodeSerialized(`["\\\\",${nest(128)}]`, outside)).toThrow(/limit 'maxDepth'/);
  });
  it("more than 100,000 values are refused", () => {
    expect(() => decodeSerialized(`[${"1,".repeat(99_997)}1]`, outside)).not.toThrow();
    expect(() => decodeSerialized(`[${"1,".repeat(100_000)}1]`, outside)).toThrow(
      new BadRequest("More than 100000 values (limit 'maxValues')"),
    );
  });
  it("more than 10,000 constructed objects are refused", () => {
    const dates = (count: number): unknown =>
      Array.from({ length: count }, () => mark("Date", { value: null }));
    expect(() => decode(dates(10_000))).not.toThrow();
    expect(() => decode(dates(10_001))).toThrow(
      "args[10000]: more than 10000 constructed objects (limit 'maxObjects')",
    );
  });
  it("more than 10,000 digits are refused", () => {
    expect(decode(mark("BigInt", { value: "9".repeat(10_000) }))).toBe(10n ** 10_000n - 1n);
    expect(decode(mark("BigInt", { value: `-${"9".repeat(10_000)}` }))).toBe(1n - 10n ** 10_000n);
    expect(() => decode(mark("BigInt", { value: "9".repeat(10_001) }))).toThrow(
      /limit 'maxDigits'/,
    );
    expect(() => decode(mark("BigInt", { value: `-${"9".repeat(10_001)}` }))).toThrow(
      /limit 'maxDigits'/,
    );
  });
  it("text that is not JSON is a BadRequest", () => {
    expect(() => decodeSerialized('{"a":', outside)).toThrow(
      new BadRequest("The text is not JSON"),
    );
  });
});

describe("a form with a member that it doesn't have", () => {
  it.each<[string, object, readonly string[]]>([
    ["Undefined", {}, []],
    ["Object", { value: {} }, ["value"]],
    ["Number", { value: "NaN" }, ["value"]],
    ["BigInt", { value: "1" }, ["value"]],
    ["Date", { value: null }, ["value"]],
    ["Map", { entries: { keys: [], values: [] } }, ["entries"]],
    ["Set", { values: [] }, ["values"]],
    ["Url", { value: "https://shop.example/" }, ["value"]],
    ["RegExp", { source: "a", flags: "" }, ["source", "flags"]],
  ])("A %s form is taken as it is, and refused with one member more", (name, members, known) => {
    expect(() => decode({ a: mark(name, members) }, trusted)).not.toThrow();
    expect(() => decode({ a: mark(name, { ...members, more: 1 }) }, trusted)).toThrow(
      `a ${name} form can only have the members ${["name", ...known].join(", ")}`,
    );
  });
});
