import { runInNewContext } from "node:vm";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BadRequest, Forbidden, InvalidSerializedValue, ValueNotSerializable } from "../../../src/errors.ts";
import { Classes } from "../../../src/serializer/classes.ts";
import { defaultLimits } from "../../../src/serializer/limits.ts";
import {
  decodeMembers,
  decodeSerialized,
  type DecodeOptions,
  encodeArguments,
  encodeSerialized,
} from "../../../src/serializer/serialized.ts";
import { traceOf } from "../../../src/trace.ts";
import { wireCases } from "../../_wire-cases.ts";
import { createWireClasses, Employee, OutOfStock, Person, Refused, Team, Trap } from "../../_wire-classes.ts";

const classes = createWireClasses();
const options: DecodeOptions = { classes, limits: defaultLimits, trusted: true };
const outside: DecodeOptions = { ...options, trusted: false };
const encode = (value: unknown): string => encodeSerialized(value, { classes, path: "result" }) as string;
const decode = (wire: unknown, more: Partial<DecodeOptions> = {}): unknown =>
  decodeSerialized(JSON.stringify(wire), { ...outside, path: "args", ...more });
const mark = (name: unknown, rest: object = {}): object => ({ serialized: true, name, ...rest });

describe.each(wireCases)("decisions §3, serialized form: $name", (one) => {
  it("encodes to the form", () => {
    expect(JSON.parse(encode(one.value))).toEqual(one.wire);
  });
  it("decodes to the value", () => {
    expect(decode(one.wire, options)).toStrictEqual("decoded" in one ? one.decoded : one.value);
  });
  it("comes back as the same form", () => {
    expect(JSON.parse(encode(decode(one.wire, options)))).toEqual(one.wire);
  });
  it("decodes from outside only when nothing in it needs trust", () => {
    if (one.trusted) expect(() => decode(one.wire)).toThrow(InvalidSerializedValue);
    else expect(decode(one.wire)).toStrictEqual("decoded" in one ? one.decoded : one.value);
  });
});

describe("encoding is copy on write", () => {
  it("leaves the value as it was", () => {
    const inner = { n: 1n, at: new Date(0) };
    const value = { list: [inner, Number.NaN], other: inner };
    encode(value);
    expect(value).toStrictEqual({ list: [inner, Number.NaN], other: inner });
    expect(inner).toStrictEqual({ n: 1n, at: new Date(0) });
  });
  it("sends an object that stands in several places in each of them", () => {
    const shared = { n: 1n };
    expect(decode(JSON.parse(encode([shared, shared, { shared }])))).toEqual([shared, shared, { shared }]);
  });
  it("gives a promise only when a Blob has to be read", async () => {
    const blob = new Blob(["täxt"], { type: "text/plain" });
    const text = encodeSerialized({ file: [blob], n: 1 }, { classes });
    expect(text).toBeInstanceOf(Promise);
    expect(JSON.parse(await text)).toEqual({ file: [mark("Binary", { type: "Blob", mediaType: "text/plain", base64: "dMOkeHQ=" })], n: 1 });
    const back = decodeSerialized(await text, outside) as { file: Blob[] };
    expect(back.file[0]).toBeInstanceOf(Blob);
    expect(back.file[0]?.type).toBe("text/plain");
    expect(await back.file[0]?.text()).toBe("täxt");
  });
  it("takes Node's Buffer as bytes, and plain objects of another realm as plain", () => {
    expect(JSON.parse(encode([Buffer.from("hi")]))).toEqual([mark("Binary", { type: "Uint8Array", base64: "aGk=" })]);
    expect(JSON.parse(encode(runInNewContext("({ a: { b: 1n } })")))).toEqual({ a: { b: mark("BigInt", { value: "1" }) } });
    expect(JSON.parse(encode(Object.assign(Object.create(null), { a: 1 })))).toEqual({ a: 1 });
  });
  it.each([
    ["function", { people: [0, 1, 2, { born: () => 1 }] }, "result.people[3].born: a function can't be sent"],
    ["symbol", Symbol("x"), "result: a symbol can't be sent"],
    ["odd key", { "a b": [Symbol("x")] }, 'result["a b"][0]: a symbol can\'t be sent'],
    ["in a map", new Map([["a", [() => 1]]]), "result.values[0][0]: a function can't be sent"],
    ["in a set", new Set([() => 1]), "result[0]: a function can't be sent"],
    ["in an instance", { person: new Person("a", (() => 1) as never) }, "result.person.born: a function can't be sent"],
    [
      "class that is not exported",
      { a: [new (class Hidden {})()] },
      "result.a[0]: an instance of 'Hidden' can't be sent: no module of the application exports this class",
    ],
    [
      "promise",
      { a: Promise.resolve(1) },
      "result.a: an instance of 'Promise' can't be sent: no module of the application exports this class",
    ],
    ["key that no receiver takes", { a: { constructor: 1 } }, "result.a.constructor: no receiver takes this key"],
  ])("refuses with the path: %s", (_, value, message) => {
    expect(() => encode(value)).toThrow(new ValueNotSerializable(message));
  });
  it("finds where a cycle closes", () => {
    const value: Record<string, unknown> = { a: [{ b: {} }] };
    ((value["a"] as Record<string, unknown>[])[0] as Record<string, unknown>)["b"] = value["a"];
    expect(() => encode(value)).toThrow(new ValueNotSerializable("result.a[0].b: a cycle can't be sent"));
    const map = new Map<string, unknown>();
    map.set("self", map);
    expect(() => encode({ map })).toThrow(ValueNotSerializable);
    const employee = new Employee("x");
    employee.tags.set("me", employee);
    expect(() => encode(employee)).toThrow(/^result\.tags\.values\[0\]: a cycle/);
  });
  it("refuses what nests too deep for any receiver", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => encode(deep)).toThrow(/levels of nesting/);
  });
  it("leaves out a field that holds a function: the class makes it again", () => {
    class Greeter {
      name: string;
      greet = (): string => `hello ${this.name}`;
      constructor(name: string) {
        this.name = name;
      }
    }
    const own = new Classes();
    own.register({ key: "Greeter", module: "greeter", export: "Greeter", args: ["name"], fields: ["greet"] }, Greeter);
    const text = encodeSerialized(new Greeter("Ada"), { classes: own }) as string;
    expect(JSON.parse(text)).toEqual({ serialized: true, key: "Greeter", name: "class", args: { 0: "Ada" }, fields: {} });
    expect((decodeSerialized(text, { ...outside, classes: own }) as Greeter).greet()).toBe("hello Ada");
  });
  it("names the member whose getter throws", () => {
    class Odd {
      get a(): never {
        throw new Error("not now");
      }
    }
    const own = new Classes();
    own.register({ key: "Odd", module: "odd", export: "Odd", args: ["a"], fields: [] }, Odd);
    expect(() => encodeSerialized({ odd: new Odd() }, { classes: own })).toThrow(new ValueNotSerializable("value.odd.a: not now"));
  });
});

describe("decisions §3, decoding: what is refused with 400", () => {
  const ada = (more: object): object => ({ serialized: true, name: "class", key: "people/Person", ...more });
  it.each<[string, unknown, string | RegExp]>([
    ["unknown form", { a: [mark("Function", { value: "x" })] }, "args.a[0]: there is no serialized form of this name"],
    ["form without a name", mark(undefined), /no serialized form/],
    ["name that is no text", mark(["Date"], { value: null }), /no serialized form/],
    ["unknown class", { who: ada({ key: "people/Nobody" }) }, "args.who: there is no class 'people/Nobody'"],
    ["class that is not recorded", ada({ key: "people/Trap" }), /no class/],
    ["class of the prototype", ada({ key: "constructor" }), /no class/],
    ["key that is no text", ada({ key: ["people/Person"] }), "args: 'key' must be text"],
    ["undeclared field", ada({ fields: { born: null } }), "args: class 'people/Person' has no field 'born'"],
    ["undeclared argument", ada({ args: { 2: 1 } }), "args: class 'people/Person' has no constructor argument '2'"],
    ["argument at a far place", mark("class", { key: "people/Team", args: { 99999: 1 } }), /no constructor argument/],
    ["argument at no place", ada({ args: { length: 1 } }), /no constructor argument/],
    ["args as a list", ada({ args: [1] }), "args: 'args' must be an object"],
    ["setter that throws", { p: ada({ args: { 0: "x" }, fields: { email: "nowhere" } }) }, "args.p.email: 'nowhere' is no address"],
    [
      "constructor that throws",
      { m: mark("class", { key: "people/Money", args: { 0: 1 } }) },
      "args.m: An amount is counted in whole cents",
    ],
    ["error as an instance", mark("class", { key: "people/OutOfStock" }), /no class/],
    ["extra member of a form", mark("Date", { value: null, more: 1 }), "args: a Date form has no 'more'"],
    ["date that is none", mark("Date", { value: "tomorrow" }), "args: this is no Date form"],
    ["date as a number", mark("Date", { value: 1 }), "args: 'value' must be text"],
    ["number that JSON has", mark("Number", { value: "12" }), "args: this is no Number form"],
    ["bigint that is none", mark("BigInt", { value: "0x12" }), "args: this is no BigInt form"],
    ["map with too few values", mark("Map", { entries: { keys: [1], values: [] } }), "args: this is no Map form"],
    ["map of pairs", mark("Map", { entries: [[1, 2]] }), "args: 'entries' must be an object"],
    ["set of no list", mark("Set", { values: { length: 3 } }), "args: this is no Set form"],
    ["unknown binary", mark("Binary", { type: "Buffer", base64: "" }), "args: this is no Binary form"],
    ["half an element", mark("Binary", { type: "Uint16Array", base64: "AQ==" }), "args: this is no Binary form"],
    ["base64 that is none", mark("Binary", { type: "Uint8Array", base64: "$" }), /^args: /],
    ["address that is none", mark("Url", { value: "nowhere" }), /^args: .*URL/],
    [
      "nested fault in a map",
      { m: mark("Map", { entries: { keys: [1], values: [{ a: mark("x") }] } }) },
      "args.m.entries.values[0].a: there is no serialized form of this name",
    ],
    ["expression from outside", mark("RegExp", { source: "(a+)+$", flags: "" }), "args: this form is taken from services only"],
    ["error from outside", { e: mark("Error", { type: "Error", message: "" }) }, "args.e: this form is taken from services only"],
  ])("%s", (_, wire, message) => {
    const act = (): unknown => decode(wire);
    expect(act).toThrow(InvalidSerializedValue);
    expect(act).toThrow(message);
  });
  it.each(["__proto__", "constructor", "prototype"])("the key %s, wherever it stands and however it is written", (key) => {
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
          expect(() => decodeSerialized(text, { ...options, plain }), text).toThrow(/this key is not allowed/);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
  it("but such words as values", () => {
    expect(decode(["constructor", { a: "__proto__" }])).toEqual(["constructor", { a: "__proto__" }]);
  });
  it("a marker that is written with escapes is a marker", () => {
    expect(decodeSerialized('{"\\u0073erialized":true,"name":"Undefined"}', outside)).toBeUndefined();
  });
  it("constructs nothing that a message names but recorded classes", () => {
    for (const key of ["people/Trap", "Trap", "../test/_wire-classes", "Date", "Function", "people/people"])
      expect(() => decode(mark("class", { key }))).toThrow(InvalidSerializedValue);
    expect(Trap.sprung).toBe(0);
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
    expect(() => decodeSerialized(nest(129), outside)).toThrow(new BadRequest("More than 128 levels of nesting (limit 'depth')"));
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
    const dates = (count: number): unknown => Array.from({ length: count }, () => mark("Date", { value: null }));
    expect(() => decode(dates(10_000))).not.toThrow();
    expect(() => decode(dates(10_001))).toThrow("args[10000]: more than 10000 constructed objects (limit 'objects')");
  });
  it("10,000 digits", () => {
    expect(decode(mark("BigInt", { value: "9".repeat(10_000) }))).toBe(10n ** 10_000n - 1n);
    expect(() => decode(mark("BigInt", { value: "9".repeat(10_002) }))).toThrow(/limit 'digits'/);
  });
  it("text that is no JSON", () => {
    expect(() => decodeSerialized('{"a":', outside)).toThrow(new BadRequest("The text is no JSON"));
  });
});

describe("arguments of a call", () => {
  it("names are no data: a parameter may be called serialized, undefined is sent, nothing is escaped", () => {
    const args = new Map<string, unknown>([
      ["serialized", true],
      ["name", undefined],
      ["...rest", [new Date(0)]],
    ]);
    const text = encodeArguments(args, { classes }) as string;
    expect(JSON.parse(text)).toEqual({
      serialized: true,
      name: mark("Undefined"),
      "...rest": [mark("Date", { value: "1970-01-01T00:00:00.000Z" })],
    });
    expect(decodeMembers(text, outside)).toEqual(args);
  });
  it("names that are refused as data are unknown names", () => {
    expect([...decodeMembers('{"__proto__":1,"constructor":{"a":1}}', outside)]).toEqual([
      ["__proto__", 1],
      ["constructor", { a: 1 }],
    ]);
  });
  it("names the parameter in the path", () => {
    expect(() => decodeMembers('{"people":[{"serialized":true,"name":"x"}]}', outside)).toThrow("args.people[0]: there is no");
    expect(() => encodeArguments(new Map([["people", [() => 1]]]), { classes })).toThrow("args.people[0]: a function");
  });
  it.each(["[]", "null", "1", '"a"', '[{"serialized":true}]'])("a body that is no object: %s", (text) => {
    expect(() => decodeMembers(text, outside)).toThrow(new BadRequest("The body must be a JSON object"));
  });
});

describe("§7.1 errors on the wire", () => {
  const send = (error: unknown, more: Partial<DecodeOptions> = {}, stacks = false): Error =>
    decodeSerialized(encodeSerialized(error, { classes, stacks }) as string, { ...options, ...more }) as Error;
  it("are instances of their own class", () => {
    expect(send(new Forbidden("x"))).toBeInstanceOf(Forbidden);
    const stock = send(new OutOfStock("tea")) as OutOfStock;
    expect(stock).toBeInstanceOf(OutOfStock);
    expect(stock.sku).toBe("tea");
    expect((send(new Refused("no", 7)) as Refused).code).toBe(7);
    expect(send(new TypeError("x"))).toBeInstanceOf(TypeError);
  });
  it("keep the name when nothing here has the class, and the status of the answer tells the nearest", () => {
    const wire = encodeSerialized(new OutOfStock("tea"), { classes }) as string;
    const read = (status?: number): Error =>
      decodeSerialized(wire, { ...options, classes: new Classes(), ...(status === undefined ? {} : { status }) }) as Error;
    expect(read()).toMatchObject({ name: "OutOfStock", message: "Nothing left of tea" });
    expect(read(404).constructor.name).toBe("NotFound");
    expect(read(404).name).toBe("OutOfStock");
    expect(read(500).constructor).toBe(Error);
  });
  it("pass a service that has no such class unchanged", () => {
    const error = new OutOfStock("tea");
    error.since = new Date(0);
    const wire = encodeSerialized(error, { classes }) as string;
    for (const between of [new Classes(), "opaque"] as const) {
      const there = decodeSerialized(wire, { ...options, classes: between });
      const back = decodeSerialized(encodeSerialized(there, { classes: between }) as string, options) as OutOfStock;
      expect(back).toBeInstanceOf(OutOfStock);
      expect(back).toMatchObject({ sku: "tea", since: new Date(0) });
    }
  });
  it("carry a stack only when asked to", () => {
    const error = new Error("x", { cause: new Error("y") });
    expect(encodeSerialized(error, { classes })).not.toContain("stack");
    expect(send(error, {}, true).stack).toBe(error.stack);
    expect((send(error, {}, true).cause as Error).stack).toBe((error.cause as Error).stack);
  });
  it("keep trace, cause and own fields out of sight where errors have them", () => {
    const back = send(Object.assign(new Error("x", { cause: "y" }), { code: 5 }));
    expect(Object.keys(back)).toEqual(["code"]);
    expect(back.cause).toBe("y");
    expect(traceOf(back)).toEqual([]);
  });
  it("of the system tell outsiders nothing, and services everything", () => {
    const system = Object.assign(new Error("ENOENT: no such file, open '/etc/x'"), {
      errno: -2,
      code: "ENOENT",
      syscall: "open",
      path: "/etc/x",
    });
    expect(encodeSerialized(new Error("outer", { cause: system }), { classes })).not.toMatch(/etc|errno|ENOENT/);
    expect(send(system, {}, true)).toMatchObject({ message: system.message, code: "ENOENT" });
  });
  it("of a library's class leave what they carry between services", () => {
    class RequestFailed extends Error {
      config = { authorization: "secret" };
    }
    expect(encodeSerialized(new RequestFailed("x"), { classes })).not.toContain("secret");
    expect(send(new RequestFailed("x"), {}, true)).toMatchObject({ config: { authorization: "secret" } });
  });
  it("of a class that isn't exported are those of the nearest parent that is", () => {
    class Local extends OutOfStock {}
    expect(send(new Local("tea"))).toBeInstanceOf(OutOfStock);
  });
  it.each([
    [{ type: 1, message: "" }, "needs a type"],
    [{ type: "Error", message: "", trace: [1] }, "needs a type"],
    [{ type: "Error", message: "", fields: { stack: "x" } }, "no field of an error"],
    [{ type: "Error", message: "", key: "people/Person" }, "is no error"],
  ])("refuse a wrong form: %j", (form, message) => {
    expect(() => decode(mark("Error", form), { trusted: true })).toThrow(message);
  });
});

describe("decisions §5, a gateway without classes", () => {
  it("passes instances on as they came, and can look at the rest", () => {
    const wire = encode({ team: new Team("core", 1, new Person("Ada", new Date(0))), at: new Date(0) });
    const there = decodeSerialized(wire, { ...outside, classes: "opaque" }) as { at: Date };
    expect(there.at).toEqual(new Date(0));
    expect(encodeSerialized(there, { classes: "opaque" })).toBe(wire);
    expect(() => encodeSerialized(new Person("x"), { classes: "opaque" })).toThrow(ValueNotSerializable);
  });
});

describe("properties", () => {
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
    map: fc.array(fc.tuple(tie("any"), tie("any"))).map((pairs) => new Map(pairs as [unknown, unknown][])),
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
            decodeSerialized(text, { ...options, trusted, plain });
            decodeMembers(text, { ...options, trusted, plain });
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
