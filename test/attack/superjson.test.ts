import { OpaqueClasses } from "../../src/codec/classes.ts";
import { describe, expect, it } from "vitest";
import { encodeCall } from "../../src/wire/superjson.ts";
import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf } from "./_sockets.ts";
import { processorMs } from "../_processor-time.ts";

// Known attacks on superjson and those that its format invites, at every service.

const sockets = await socketsForAll();

const echo = (content: unknown): Buffer =>
  bytesOf({
    target: "/rpc/a/echo",
    body: typeof content === "string" ? content : JSON.stringify(content),
    fields: ["x-svc-data-encoding: superjson"],
  });

/** A body with one argument and its meta. */
const about = (
  value: unknown,
  values?: unknown,
  referentialEqualities?: unknown,
  more: object = {},
): object => ({
  json: { value },
  meta: {
    v: 1,
    ...(values === undefined ? {} : { values }),
    ...(referentialEqualities === undefined ? {} : { referentialEqualities }),
    ...more,
  },
});
const typed = (value: unknown, ...annotation: readonly unknown[]): object =>
  about(value, { value: annotation });
const person = (content: unknown): object => typed(content, ["class", "a/Person"]);

async function refused(
  body: unknown,
  path: RegExp,
  at: readonly ("node" | "gateway" | "proxy")[] = callServices,
): Promise<void> {
  for (const answer of await attack(sockets, at, echo(body), 400)) {
    const { json } = JSON.parse(answer.body) as { json: { name: string; message: string } };
    expect(json.name).toBe("InvalidSerializedValue");
    expect(json.message).toMatch(path);
  }
}

describe("a superjson path to a prototype:", () => {
  it.each([
    "__proto__.polluted",
    "constructor.prototype.polluted",
    "value.__proto__.polluted",
    "value.constructor.prototype.polluted",
    "value.constructor",
    "value.toString",
    "value.hasOwnProperty.call",
    "value.list.length",
    "value.list.push",
    "value.list.-1",
    "value.list.1",
    "value.list.00",
    "value.list.1e0",
    "value.text.0",
    "value.nope",
    "",
  ])("%s answers 400 as the path of a value, of a reference and of its target", async (path) => {
    const value = { list: [1], text: "abc" };
    await refused(about(value, { [path]: ["Date"] }), /^args/, ["node"]);
    await refused(about(value, undefined, { value: [path] }), /^args/, ["node"]);
    await refused(about(value, undefined, { [path]: ["value.text"] }), /^args/, ["node"]);
    await refused(about(value, undefined, [[path]]), /^args/, ["proxy"]);
  });

  it("a prototype key, plain or escaped, answers 400 with its path", async () => {
    for (const key of ["__proto__", "\\u005f_proto__", "constructor", "prototype"]) {
      await refused(
        `{"json":{"value":{"a":[{"${key}":{"polluted":1}}]}}}`,
        /^args\.value\.a\[0\]\.\w+: this key is not allowed/,
      );
      await refused(
        `{"json":{"value":[{"a":{"${key}":1}}]},"meta":{"values":{"value":["set"]},"v":1}}`,
        /this key is not allowed/,
        ["node"],
      );
      await refused(
        `{"json":{"value":{"args":{},"fields":{"${key}":1}}},"meta":{"values":{"value":[["class","a/Person"]]},"v":1}}`,
        /^args\.value\.fields/,
        ["node"],
      );
    }
  });

  it("a parameter named __proto__ answers 400", async () => {
    await attack(
      sockets,
      callServices,
      echo('{"json":{"__proto__":{"polluted":1},"value":1}}'),
      400,
    );
  });
});

describe("an invalid superjson annotation:", () => {
  it.each<[string, object]>([
    ["an unknown one", typed("a", "nope")],
    ["a name of every object", typed("a", "toString")],
    ["custom", typed("a", ["custom", "a"])],
    ["a symbol", typed("iterator", ["symbol", "iterator"])],
    ["an empty list", typed("a")],
    ["a list of three", typed("a", "Date", {}, {})],
    ["a number", about("a", { value: 5 })],
    ["null", about("a", { value: null })],
    ["two for one place", about(["a:b"], { "value.0": ["URL"], value: ["set", { 0: ["URL"] }] })],
    ["an unknown member of meta", about(1, undefined, undefined, { custom: {} })],
    ["a version to come", about(1, undefined, undefined, { v: 2 })],
    ["meta that is a list", { json: { value: 1 }, meta: [] }],
    ["a third member beside json and meta", { json: { value: 1 }, meta: { v: 1 }, more: 1 }],
    ["no json", { meta: {} }],
    ["equalities of numbers", about([1, 2], undefined, { "value.0": [1] })],
    [
      "equalities that contradict",
      about([[], [], []], undefined, { "value.0": ["value.2"], "value.1": ["value.2"] }),
    ],
    ["a path with half an escape", about({ a: 1 }, { "value\\a": ["Date"] })],
    ["arguments that are no plain object", { json: { value: 1 }, meta: { values: ["map"], v: 1 } }],
  ])("%s answers 400", async (_, body) => {
    await refused(body, /^args/);
  });

  it("a cycle of equalities is accepted, since it is only redundant", async () => {
    const [answer] = await attack(
      sockets,
      callServices,
      echo(about([[], []], undefined, { "value.0": ["value.1"], "value.1": ["value.0"] })),
      200,
    );
    expect(JSON.parse(answer?.body ?? "")).toEqual({
      json: [[], null],
      meta: { referentialEqualities: { 0: ["1"] }, v: 1 },
    });
  });
});

describe("an invalid superjson value:", () => {
  it.each<[string, object]>([
    ["a date", typed("yesterday", "Date")],
    ["a date of a day that isn't", typed("2021-02-30T00:00:00.000Z", "Date")],
    ["a date from a number", typed(8.64e15, "Date")],
    ["a bigint", typed("0x10", "bigint")],
    ["a bigint over its limit", typed("9".repeat(10_001), "bigint")],
    ["a number", typed("constructor", "number")],
    ["undefined", typed("a", "undefined")],
    ["an address", typed("nope", "URL")],
    ["a set of text", typed("abc", "set")],
    ["a set of what looks like a list", typed({ length: 1e9 }, "set")],
    ["a set with the same twice", typed([1, 1], "set")],
    ["a map of no pairs", typed([[1]], "map")],
    [
      "a map with the same key twice",
      typed(
        [
          ["a", 1],
          ["a", 2],
        ],
        "map",
      ),
    ],
    ["a typed array as long as a number says", typed(4e9, ["typed-array", "Float64Array"])],
    [
      "a typed array as long as an object says",
      typed({ length: 4e9 }, ["typed-array", "Uint8Array"]),
    ],
    ["a typed array of other things", typed(["1"], ["typed-array", "Uint8Array"])],
    ["a typed array of too great numbers", typed([256], ["typed-array", "Uint8Array"])],
    ["an array of a strange type", typed([1], ["typed-array", "Array"])],
    ["an array of a type of every object", typed([1], ["typed-array", "constructor"])],
    ["a pattern", typed("/(a+)+$/", "regexp")],
    ["an error", typed({ name: "NotFound", message: "x" }, "Error")],
    ["an error of a class", typed({ name: "NotFound", message: "x" }, ["class", "a/Person"])],
    ["a class that isn't there", typed({ args: {}, fields: {} }, ["class", "a/Nope"])],
    [
      "a class of every realm",
      typed({ args: { 0: "return process" }, fields: {} }, ["class", "Function"]),
    ],
    ["a class by its path", typed({ args: {}, fields: {} }, ["class", "../../etc/passwd"])],
    ["an instance from a list", person([])],
    ["an instance with more members", person({ args: {}, fields: {}, then: 1 })],
    ["a field that isn't declared", person({ args: { 0: "Ada" }, fields: { role: "admin" } })],
    ["a far argument", person({ args: { 4294967295: 1 } })],
    ["arguments that are a list", person({ args: ["Ada"] })],
    [
      "more objects than may be",
      about(
        Array.from({ length: 10_001 }, () => "a:b"),
        Object.fromEntries(
          Array.from({ length: 10_001 }, (_, index) => [`value.${index}`, ["URL"]]),
        ),
      ),
    ],
  ])("%s answers 400 with its path", async (_, body) => {
    await refused(body, /^args\.value/, ["node"]);
    await refused(body, /^args\.value/, ["proxy"]);
  });
});

describe("superjson references:", () => {
  it("exponential sharing isn't expanded, neither in memory nor in the answer", async () => {
    const levels = 200;
    const value = Array.from({ length: levels }, () => [null, null]);
    const same: Record<string, string[]> = {};
    for (let level = 1; level < levels; level++)
      same[`value.${level - 1}`] = [`value.${level}.0`, `value.${level}.1`];
    const [answer] = await attack(sockets, ["node"], echo(about(value, undefined, same)), 200);
    expect(answer?.body.length).toBeLessThan(20_000);
  });

  it("exponential sharing isn't expanded in an outbound call, and takes little time", async () => {
    let value: unknown = new Date(0);
    for (let level = 0; level < 30; level++) value = [value, value];
    const started = processorMs();
    const { body, encoding } = await encodeCall(
      new Map([["value", value]]),
      { classes: new OpaqueClasses() },
      "serialized, superjson",
    );
    expect([encoding, (body as string).length < 20_000]).toEqual(["superjson", true]);
    expect(processorMs() - started).toBeLessThan(2_000);
  });

  it("a long chain of forward references answers 400", async () => {
    const length = 5_000;
    const value = Array.from({ length }, () => [null]);
    const same = Object.fromEntries(
      Array.from({ length: length - 1 }, (_, index) => [
        `value.${index + 1}`,
        [`value.${index}.0`],
      ]),
    );
    await refused(about(value, undefined, same), /levels of nesting/, ["node"]);
  });

  it("ten thousand references to one nested value take little time", async () => {
    const count = 10_000;
    const value = {
      set: Array.from({ length: count }, (_, index) => [index]),
      refs: Array.from({ length: count }, () => null),
    };
    const same = {
      [`value.set.${count - 1}`]: Array.from(
        { length: count },
        (_, index) => `value.refs.${index}`,
      ),
    };
    const started = processorMs();
    await attack(sockets, ["node"], echo(about(value, { "value.set": ["set"] }, same)), 200);
    expect(processorMs() - started).toBeLessThan(5_000);
  });

  it("a cycle through a constructor's argument answers 400", async () => {
    await refused(
      about(
        { args: { 0: null }, fields: {} },
        { value: [["class", "a/Person"]] },
        { value: ["value.args.0"] },
      ),
      /a cycle goes through an argument/,
    );
  });

  it("a path around a cycle answers 400 if it is deeper than json may be", async () => {
    const round = (count: number): string => Array.from({ length: count }, () => "value").join(".");
    const started = processorMs();
    await refused(
      {
        json: { value: null },
        meta: { v: 1, referentialEqualities: [["value", `${round(150_000)}.x`]] },
      },
      /limit 'maxDepth'/,
      ["node"],
    );
    const list = Array.from({ length: 40_000 }, () => null);
    const same = { [round(50_000)]: list.map((_, index) => `list.${index}`) };
    await refused(
      { json: { value: null, list }, meta: { v: 1, referentialEqualities: [["value"], same] } },
      /limit 'maxDepth'/,
      ["node"],
    );
    await attack(
      sockets,
      ["node"],
      echo({
        json: { value: null },
        meta: { v: 1, referentialEqualities: [["value", round(126)]] },
      }),
      200,
    );
    expect(processorMs() - started).toBeLessThan(5_000);
  });

  it("an answer that would repeat a long path thousands of times is a 500", async () => {
    const long = "k".repeat(100_000);
    const many = 20_000;
    const list = Array.from({ length: many }, () => null);
    const unset = {
      [`value.${long}`]: Object.fromEntries(list.map((_, index) => [index, ["undefined"]])),
    };
    const same = {
      "value.o": [`value.${long}`],
      "value.o.0": list.slice(1).map((_, index) => `value.o.${index + 1}`),
    };
    const started = processorMs();
    // A path of sixty short keys is written again at each level.
    const deep = ["value", ...Array.from({ length: 60 }, () => "k")];
    const nested = deep.slice(1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), list);
    for (const body of [
      about({ [long]: list }, unset),
      about({ [long]: null, o: [{}, ...list.slice(1)] }, undefined, same),
      about(nested, { [deep.join(".")]: unset[`value.${long}`] }),
    ])
      for (const answer of await attack(sockets, ["node"], echo(body), 500))
        expect(JSON.parse(answer.body)).toMatchObject({
          json: { name: "ValueNotSerializable", message: expect.stringMatching(/too many paths/) },
        });
    expect(processorMs() - started).toBeLessThan(5_000);
  });

  it("too many levels in json or in meta answer 400", async () => {
    const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    await attack(sockets, callServices, echo(`{"json":{"value":${deep(200)}}}`), 400);
    await attack(
      sockets,
      callServices,
      echo(`{"json":{"value":1},"meta":{"values":${'{"value":'.repeat(200)}1${"}".repeat(200)}}}`),
      400,
    );
  });
});
