import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { ValueNotSerializable } from "../../../src/errors.ts";
import { Classes, OpaqueClasses } from "../../../src/serializer/classes.ts";
import { encodePlain } from "../../../src/serializer/plain.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/serializer/serialized.ts";
import { Employee, Person, Team } from "../../_wire-classes.ts";
import { decode, encode, mark, outside, trusted } from "./_codec.ts";

const { classes } = trusted;

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
    expect(decode(JSON.parse(encode([shared, shared, { shared }])))).toEqual([
      shared,
      shared,
      { shared },
    ]);
  });
  it("sends many objects of which each has some in common, and refuses soon where the same few would be millions", () => {
    const common = Array.from({ length: 3 }, (_, index) => ({ index }));
    expect(encode(Array.from({ length: 100_000 }, (_, index) => ({ index, common })))).toMatch(
      /^\[\{"index":0,"common":\[/,
    );
    let value: unknown = new Date(0);
    for (let level = 0; level < 30; level++) value = [value, value];
    const started = performance.now();
    expect(() => encode(value)).toThrow(/the same few in many places would be too many objects$/);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
  it("gives a promise only when a Blob has to be read", async () => {
    const blob = new Blob(["täxt"], { type: "text/plain" });
    const text = encodeSerialized({ file: [blob], n: 1 }, { classes });
    expect(text).toBeInstanceOf(Promise);
    expect(JSON.parse(await text)).toEqual({
      file: [mark("Binary", { type: "Blob", mediaType: "text/plain", base64: "dMOkeHQ=" })],
      n: 1,
    });
    const back = decodeSerialized(await text, outside) as { file: Blob[] };
    expect(back.file[0]).toBeInstanceOf(Blob);
    expect(back.file[0]?.type).toBe("text/plain");
    expect(await back.file[0]?.text()).toBe("täxt");
  });
  it("a Blob that can't be read is a ValueNotSerializable", async () => {
    const gone = Object.assign(new Blob(["x"]), {
      arrayBuffer: () =>
        Promise.reject(new DOMException("The blob could not be read", "NotReadableError")),
    });
    for (const text of [encodeSerialized([gone], { classes }), encodePlain([gone])])
      await expect(text).rejects.toThrow(/^(value|result): The blob could not be read$/);
  });
  it("a list of a class that extends Array is copied without that class's constructor", () => {
    class Stack extends Array<unknown> {
      constructor(owner: string) {
        super();
        Object.defineProperty(this, "owner", { value: owner.toUpperCase() });
      }
    }
    const stack = new Stack("me");
    stack.push(1n);
    expect(JSON.parse(encode([stack]))).toEqual([[mark("BigInt", { value: "1" })]]);
  });
  it("takes Node's Buffer as bytes, and plain objects of another realm as plain", () => {
    expect(JSON.parse(encode([Buffer.from("hi")]))).toEqual([
      mark("Binary", { type: "Uint8Array", base64: "aGk=" }),
    ]);
    expect(JSON.parse(encode(runInNewContext("({ a: { b: 1n } })")))).toEqual({
      a: { b: mark("BigInt", { value: "1" }) },
    });
    expect(JSON.parse(encode(Object.assign(Object.create(null), { a: 1 })))).toEqual({ a: 1 });
  });
  it.each([
    [
      "function",
      { people: [0, 1, 2, { born: () => 1 }] },
      "result.people[3].born: a function can't be sent",
    ],
    ["symbol", Symbol("x"), "result: a symbol can't be sent"],
    ["odd key", { "a b": [Symbol("x")] }, 'result["a b"][0]: a symbol can\'t be sent'],
    ["in a map", new Map([["a", [() => 1]]]), "result.values[0][0]: a function can't be sent"],
    ["in a set", new Set([() => 1]), "result[0]: a function can't be sent"],
    [
      "in an instance",
      { person: new Person("a", (() => 1) as never) },
      "result.person.born: a function can't be sent",
    ],
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
    [
      "stream",
      { a: (async function* () {})() },
      /^result\.a: an instance of 'AsyncGenerator' can't be sent/,
    ],
    [
      "key that no receiver takes",
      { a: { constructor: 1 } },
      "result.a.constructor: no receiver takes this key",
    ],
  ])("refuses with the path: %s", (_, value, message) => {
    expect(() => encode(value)).toThrow(
      typeof message === "string" ? new ValueNotSerializable(message) : message,
    );
  });
  it("finds where a cycle closes", () => {
    const value: Record<string, unknown> = { a: [{ b: {} }] };
    ((value["a"] as Record<string, unknown>[])[0] as Record<string, unknown>)["b"] = value["a"];
    expect(() => encode(value)).toThrow(
      new ValueNotSerializable("result.a[0].b: a cycle can't be sent"),
    );
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
    own.register(
      { key: "Greeter", module: "greeter", export: "Greeter", args: ["name"], fields: ["greet"] },
      Greeter,
    );
    const text = encodeSerialized(new Greeter("Ada"), { classes: own }) as string;
    expect(JSON.parse(text)).toEqual({
      serialized: true,
      key: "Greeter",
      name: "class",
      args: { 0: "Ada" },
      fields: {},
    });
    expect((decodeSerialized(text, { ...outside, classes: own }) as Greeter).greet()).toBe(
      "hello Ada",
    );
  });
  it("names the member whose getter throws", () => {
    class Odd {
      get a(): never {
        throw new Error("not now");
      }
    }
    const own = new Classes();
    own.register({ key: "Odd", module: "odd", export: "Odd", args: ["a"], fields: [] }, Odd);
    expect(() => encodeSerialized({ odd: new Odd() }, { classes: own })).toThrow(
      new ValueNotSerializable("value.odd.a: not now"),
    );
  });
  it("tells nothing of what the system said to a getter", () => {
    class Reads {
      get a(): never {
        throw Object.assign(new Error("ENOENT: no such file, open '/etc/x'"), { syscall: "open" });
      }
    }
    const own = new Classes();
    own.register(
      { key: "Reads", module: "reads", export: "Reads", args: ["a"], fields: [] },
      Reads,
    );
    expect(() => encodeSerialized(new Reads(), { classes: own })).toThrow(
      new ValueNotSerializable("value.a: Internal error"),
    );
  });
  it("refuses both of two classes with one key, and names their files (decisions §6)", () => {
    class One {}
    class Two {}
    const own = new Classes();
    const record = {
      key: "x/Same",
      export: "Same",
      args: [],
      fields: [],
      clash: "src/x/one.ts and src/x/two.ts",
    };
    own.register({ ...record, module: "x/one" }, One);
    own.register({ ...record, module: "x/two" }, Two);
    for (const value of [new One(), new Two()])
      expect(() => encodeSerialized({ value }, { classes: own })).toThrow(
        /^value\.value: an instance of 'Same' can't be sent: src\/x\/one\.ts and src\/x\/two\.ts both/,
      );
    const form = '{"serialized":true,"key":"x/Same","name":"class","args":{},"fields":{}}';
    expect(() => decodeSerialized(form, { ...outside, classes: own })).toThrow(
      "there is no class 'x/Same'",
    );
  });
});

describe("decisions §5, a gateway without classes", () => {
  it("passes instances on as they came, and can look at the rest", () => {
    const wire = encode({
      team: new Team("core", 1, new Person("Ada", new Date(0))),
      at: new Date(0),
    });
    const there = decodeSerialized(wire, { ...outside, classes: new OpaqueClasses() }) as {
      at: Date;
    };
    expect(there.at).toEqual(new Date(0));
    expect(encodeSerialized(there, { classes: new OpaqueClasses() })).toBe(wire);
    expect(() => encodeSerialized(new Person("x"), { classes: new OpaqueClasses() })).toThrow(
      ValueNotSerializable,
    );
  });
});
