import { describe, expect, it } from "vitest";

import { BadRequest, InvalidSerializedValue } from "../../../src/errors.ts";
import { Classes } from "../../../src/serializer/classes.ts";
import { decodeSerialized } from "../../../src/serializer/serialized.ts";
import { Trap } from "../../_wire-classes.ts";
import { decode, mark, outside, trusted } from "./_codec.ts";

describe("decisions §3, decoding: what is refused with 400", () => {
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
    ["key that is no text", ada({ key: ["people/Person"] }), "args: 'key' must be text"],
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
    ["object of nothing", mark("Object", {}), "args: this is no Object form"],
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
      "args: a Date form has no members but name, value",
    ],
    ["date that is none", mark("Date", { value: "tomorrow" }), "args: this is no Date form"],
    ["date as a number", mark("Date", { value: 1 }), "args: 'value' must be text"],
    ["number that JSON has", mark("Number", { value: "12" }), "args: this is no Number form"],
    ["bigint that is none", mark("BigInt", { value: "0x12" }), "args: this is no BigInt form"],
    [
      "map with too few values",
      mark("Map", { entries: { keys: [1], values: [] } }),
      "args: this is no Map form",
    ],
    ["map of pairs", mark("Map", { entries: [[1, 2]] }), "args: 'entries' must be an object"],
    ["set of no list", mark("Set", { values: { length: 3 } }), "args: this is no Set form"],
    [
      "unknown binary",
      mark("Binary", { type: "Buffer", base64: "" }),
      "args: this is no Binary form",
    ],
    [
      "half an element",
      mark("Binary", { type: "Uint16Array", base64: "AQ==" }),
      "args: this is no Binary form",
    ],
    [
      "base64 that is none",
      mark("Binary", { type: "Uint8Array", base64: "$" }),
      "args: this is no Binary form",
    ],
    [
      "file without a name",
      mark("Binary", { type: "File", base64: "" }),
      "args: this is no Binary form",
    ],
    [
      "address that is none",
      { at: [mark("Url", { value: "nowhere" })] },
      "args.at[0]: this is no Url form",
    ],
    [
      "nested fault in a map",
      { m: mark("Map", { entries: { keys: [1], values: [{ a: mark("x") }] } }) },
      "args.m.entries.values[0].a: there is no serialized form of this name",
    ],
    [
      "expression from outside",
      mark("RegExp", { source: "(a+)+$", flags: "" }),
      "args: this form is taken from services only",
    ],
    [
      "error from outside",
      { e: mark("Error", { type: "Error", message: "" }) },
      "args.e: this form is taken from services only",
    ],
  ])("%s", (_, wire, message) => {
    const act = (): unknown => decode(wire);
    expect(act).toThrow(InvalidSerializedValue);
    expect(act).toThrow(message);
  });
  it.each(["__proto__", "constructor", "prototype"])(
    "the key %s, wherever it stands and however it is written",
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
  it("but such words as values", () => {
    expect(decode(["constructor", { a: "__proto__" }])).toEqual([
      "constructor",
      { a: "__proto__" },
    ]);
  });
  it("a marker that is written with escapes is a marker", () => {
    expect(
      decodeSerialized('{"\\u0073erialized":true,"name":"Undefined"}', outside),
    ).toBeUndefined();
  });
  it("constructs nothing that a message names but recorded classes", () => {
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
  it("tells nothing of what the system said to a constructor", () => {
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
  it("in plain mode forms are data", () => {
    const data = { a: mark("Date", { value: null }), b: mark("RegExp", { source: "a" }) };
    expect(decode(data, { plain: true })).toEqual(data);
  });
  it("cuts long paths and names", () => {
    const key = "k".repeat(100_000);
    expect(() => decode({ [key]: mark("class", { key }) })).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{10,600}$/) }),
    );
  });
});

describe("decisions §3, limits", () => {
  const nest = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  it("depth 128, counted on the text", () => {
    expect(() => decodeSerialized(nest(128), outside)).not.toThrow();
    expect(() => decodeSerialized(nest(129), outside)).toThrow(
      new BadRequest("More than 128 levels of nesting (limit 'depth')"),
    );
    expect(() => decodeSerialized("[".repeat(1_000_000), outside)).toThrow(BadRequest);
  });
  it("brackets inside of text don't count, escaped quotes don't end it", () => {
    const text = '[{"'.repeat(300) + '\\"'.repeat(3) + "\\\\";
    expect(decodeSerialized(JSON.stringify([text, text]), outside)).toEqual([text, text]);
    expect(() => decodeSerialized(`["\\\\",${nest(128)}]`, outside)).toThrow(/limit 'depth'/);
  });
  it("100,000 values", () => {
    expect(() => decodeSerialized(`[${"1,".repeat(99_997)}1]`, outside)).not.toThrow();
    expect(() => decodeSerialized(`[${"1,".repeat(100_000)}1]`, outside)).toThrow(
      new BadRequest("More than 100000 values (limit 'values')"),
    );
  });
  it("10,000 constructed objects", () => {
    const dates = (count: number): unknown =>
      Array.from({ length: count }, () => mark("Date", { value: null }));
    expect(() => decode(dates(10_000))).not.toThrow();
    expect(() => decode(dates(10_001))).toThrow(
      "args[10000]: more than 10000 constructed objects (limit 'objects')",
    );
  });
  it("10,000 digits", () => {
    expect(decode(mark("BigInt", { value: "9".repeat(10_000) }))).toBe(10n ** 10_000n - 1n);
    expect(decode(mark("BigInt", { value: `-${"9".repeat(10_000)}` }))).toBe(1n - 10n ** 10_000n);
    expect(() => decode(mark("BigInt", { value: "9".repeat(10_001) }))).toThrow(/limit 'digits'/);
    expect(() => decode(mark("BigInt", { value: `-${"9".repeat(10_001)}` }))).toThrow(
      /limit 'digits'/,
    );
  });
  it("text that is no JSON", () => {
    expect(() => decodeSerialized('{"a":', outside)).toThrow(new BadRequest("The text is no JSON"));
  });
});
