import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { ValueNotSerializable } from "../../../src/base/errors.ts";
import { Classes, OpaqueClasses } from "../../../src/codec/classes.ts";
import { encodePlain } from "../../../src/codec/plain.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { Employee, Person, Team } from "../../_wire-classes.ts";
import { decode, encode, mark, outside, trusted } from "./_codec.ts";
import { processorMs } from "../../_processor-time.ts";

const { classes } = trusted;

describe("encoding is copy on write", () => {
  it("encoding leaves the value unchanged", () => {
    const inner = { n: 1n, at: new Date(0) };
    const value = { list: [inner, Number.NaN], other: inner };
    encode(value);
    expect(value).toStrictEqual({ list: [inner, Number.NaN], other: inner });
    expect(inner).toStrictEqual({ n: 1n, at: new Date(0) });
  });
  it("an object in several places is sent in each of them", () => {
    const shared = { n: 1n };
    expect(decode(JSON.parse(encode([shared, shared, { shared }])))).toEqual([
      shared,
      shared,
      { shared },
    ]);
  });
  it("objects with common parts are sent, and refused early if references would become millions of objects", () => {
    const common = Array.from({ length: 3 }, (_, index) => ({ index }));
    expect(encode(Array.from({ length: 100_000 }, (_, index) => ({ index, common })))).toMatch(
      /^\[\{"index":0,"common":\[/,
    );
    let value: unknown = new Date(0);
    for (let level = 0; level < 30; level++) value = [value, value];
    const started = processorMs();
    expect(() => encode(value)).toThrow(/too many places refer to the same objects$/);
    expect(processorMs() - started).toBeLessThan(2_000);
  });
  it("encoding returns a promise only if a Blob has to be read", async () => {
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
  it("Node's Buffer is sent as bytes, and a plain object of another realm as a plain object", () => {
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
      "result.a[0]: an instance of 'Hidden' can't be sent: no module of the application exports this class. Export it, or send its data",
    ],
    [
      "promise",
      { a: Promise.resolve(1) },
      "result.a: a promise can't be sent: an await is missing",
    ],
    [
      "stream",
      { a: (async function* () {})() },
      "result.a: a stream can't be sent inside of a value: make the procedure an async function* and yield* it, or answer with a route",
    ],
    [
      "iterator",
      { a: new Map().keys() },
      "result.a: a Map Iterator can't be sent: send a list of what it gives: [...values]",
    ],
    [
      "weak map",
      new WeakMap(),
      "result: a WeakMap can't be sent: send what it refers to, in a Map or a list",
    ],
    [
      "signal",
      { a: new AbortController().signal },
      "result.a: an AbortSignal can't be sent: pass the signal on by withOptions(procedure, { signal })",
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
  it("the message for a cycle has the path to where it closes", () => {
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
  it("a value that nests too deep for any receiver is refused", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => encode(deep)).toThrow(/levels of nesting/);
  });
  it("a field that holds a function is left out: the class makes it again", () => {
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
  it("the message for a getter that throws names the member", () => {
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
  it("a system error in a getter doesn't reach the caller", () => {
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
  it("instances of two classes with one key are both refused, with the classes' files", () => {
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

describe("a gateway without classes", () => {
  it("a gateway without classes passes instances on as they came, and can read the rest", () => {
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
