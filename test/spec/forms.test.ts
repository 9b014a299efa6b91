import { describe, expect, it } from "vitest";

import { InvalidSerializedValue, NotFound, ValueNotSerializable } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { decodeSerialized, encodeSerialized } from "../../src/codec/serialized.ts";
import { setTrace } from "../../src/base/trace.ts";
import { decodeSuperjson, encodeSuperjson } from "../../src/codec/superjson/superjson.ts";
import { expectSame } from "../_same.ts";
import { callEndpoint, serialized } from "../_endpoint.ts";
import { wireCases } from "../_wire-cases.ts";
import { createWireClasses, Employee, OutOfStock, Person } from "../_wire-classes.ts";

const classes = createWireClasses();
const trusted = { classes, limits: defaultLimits, trusted: true } as const;
const formOf = (value: unknown, stacks = false): unknown =>
  JSON.parse(encodeSerialized(value, { classes, trusted: true, stacks }) as string);
const decode = (form: unknown): unknown => decodeSerialized(JSON.stringify(form), trusted);
const errorOf = (form: object): Error => decode(form) as Error;
const roundTrip = <T>(value: T): T => decode(formOf(value)) as T;
const mark = (name: string, rest: object = {}): object => ({ serialized: true, name, ...rest });
const day = new Date("2021-01-01T00:00:00.000Z");

describe("the serialized form of each type", () => {
  it.each(wireCases)("forms-7: every form has `serialized: true` and a name: $name", ({ wire }) => {
    const expectNames = (form: unknown): void => {
      if (typeof form !== "object" || form === null) return;
      const { serialized: marked, name } = form as { serialized?: unknown; name?: unknown };
      if (marked === true) expect(name).toBeTypeOf("string");
      // The content of an Object form is data.
      Object.values(marked === true && name === "Object" ? {} : form).forEach(expectNames);
    };
    expectNames(wire);
    expect(() => decode({ serialized: true, value: 1 })).toThrow(
      "there is no serialized form of this name",
    );
  });
  it("forms-8: values nest: a Date in a Map in an instance stays a Date", () => {
    const bob = new Employee("Bob");
    bob.tags.set("since", [new Set([day])]);
    expect(roundTrip({ in: [bob] })).toStrictEqual({ in: [bob] });
    expect([...([...roundTrip(bob).tags.values()] as [Set<unknown>][])[0]![0]][0]).toBeInstanceOf(
      Date,
    );
  });
  it("forms-9: an instance has key, args and fields", () => {
    const ada = new Person("Ada", day);
    ada.email = "ada@a.b";
    expect(formOf(ada)).toEqual({
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: mark("Date", { value: "2021-01-01T00:00:00.000Z" }) },
      fields: { email: "ada@a.b" },
    });
    expect(roundTrip(ada)).toStrictEqual(ada);
  });
  it("forms-10: a Date is its ISO text in UTC", () => {
    expect(formOf(day)).toEqual(mark("Date", { value: "2021-01-01T00:00:00.000Z" }));
    for (const short of ["2021-01-01T00:00Z", "2021-01-01T00:00:00Z"])
      expect(decode(mark("Date", { value: short }))).toEqual(day);
    for (const invalid of [
      "2021-02-30T00:00:00Z",
      "2021 Jan 5 Z",
      "2021-01-01",
      "2021-01-01T24:00:00Z",
      "2021-01-01T00:00:00+01:00",
      "Z",
      "",
    ])
      expect(() => decode(mark("Date", { value: invalid })), invalid).toThrow(
        InvalidSerializedValue,
      );
  });
  it("forms-11: an invalid Date is null", () => {
    expect(formOf(new Date(NaN))).toEqual(mark("Date", { value: null }));
    expect(roundTrip(new Date(NaN)).getTime()).toBeNaN();
  });
  it("forms-12: a Map is a list of keys and a list of values, of any types", () => {
    const map = new Map<unknown, unknown>([[{ a: 1 }, new Map([[NaN, day]])]]);
    expect(formOf(new Map([["a", 1]]))).toEqual(
      mark("Map", { entries: { keys: ["a"], values: [1] } }),
    );
    expect(roundTrip(map)).toStrictEqual(map);
    expect(() => decode(mark("Map", { entries: { keys: [1] } }))).toThrow(
      "this is not a valid Map form",
    );
  });
  it("forms-13: a Set is a list of its values", () => {
    expect(formOf(new Set([1, "a"]))).toEqual(mark("Set", { values: [1, "a"] }));
    expect(roundTrip(new Set([new Set([day])]))).toStrictEqual(new Set([new Set([day])]));
    expect(() => decode(mark("Set", { values: "ab" }))).toThrow("this is not a valid Set form");
  });
  const views = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
  ];
  it.each([...views, BigInt64Array, BigUint64Array, DataView, ArrayBuffer])(
    "forms-14: binary data is base64 text with the name of its type, ArrayBuffer, DataView or any typed array: %o",
    (Type) => {
      const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 255]);
      const value =
        (Type as unknown) === ArrayBuffer
          ? buffer
          : new (Type as new (source: ArrayBuffer) => object)(buffer);
      expect(formOf(value)).toEqual(mark("Binary", { type: Type.name, base64: "AQIDBAUGB/8=" }));
      expect(roundTrip(value)).toStrictEqual(value);
      expect(() => decode(mark("Binary", { type: `${Type.name}x`, base64: "" }))).toThrow(
        "this is not a valid Binary form",
      );
    },
  );
  it("forms-15: only the bytes that a view shows travel", () => {
    const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
    const view = roundTrip(new Uint16Array(buffer, 2, 1));
    expect([view.byteOffset, view.buffer.byteLength, view[0]]).toEqual([0, 2, 0x0403]);
  });
  it("forms-16: elements of several bytes are little-endian", () => {
    expect(formOf(new Uint32Array([1]))).toEqual(
      mark("Binary", { type: "Uint32Array", base64: "AQAAAA==" }),
    );
    expect(decode(mark("Binary", { type: "Uint16Array", base64: "AQI=" }))).toEqual(
      new Uint16Array([0x0201]),
    );
  });
  it("forms-17: Node's Buffer arrives as Uint8Array", () => {
    const arrived = roundTrip<Uint8Array>(Buffer.from("hi"));
    expect(arrived.constructor).toBe(Uint8Array);
    expect(arrived).toEqual(new Uint8Array([104, 105]));
  });
  it("forms-18: a bigint is sent as its digits", () => {
    expect(formOf([2n ** 70n, -1n])).toEqual([
      mark("BigInt", { value: "1180591620717411303424" }),
      mark("BigInt", { value: "-1" }),
    ]);
    expect(roundTrip([2n ** 70n, -1n, 0n])).toEqual([2n ** 70n, -1n, 0n]);
    for (const invalid of ["", "-", "+1", "1.0", "1e3", "0x1", " 1", "1n", "--1"])
      expect(() => decode(mark("BigInt", { value: invalid })), invalid).toThrow(
        InvalidSerializedValue,
      );
  });
  it("forms-19: a RegExp has source and flags, and a URL its address", () => {
    expect(formOf([/a+/gi, new URL("http://a.b/c")])).toEqual([
      mark("RegExp", { source: "a+", flags: "gi" }),
      mark("Url", { value: "http://a.b/c" }),
    ]);
    expect(roundTrip([/a+/gi, new URL("http://a.b/c")])).toStrictEqual([
      /a+/gi,
      new URL("http://a.b/c"),
    ]);
    for (const form of [
      mark("RegExp", { source: "(", flags: "" }),
      mark("RegExp", { source: "a", flags: "xx" }),
      mark("Url", { value: "a.b" }),
    ])
      expect(() => decode(form)).toThrow(InvalidSerializedValue);
  });
  it("forms-20: NaN, the infinities and -0 are sent by name", () => {
    expect(formOf([NaN, Infinity, -Infinity, -0])).toEqual(
      ["NaN", "Infinity", "-Infinity", "-0"].map((value) => mark("Number", { value })),
    );
    expect(roundTrip([NaN, Infinity, -Infinity, -0])).toStrictEqual([NaN, Infinity, -Infinity, -0]);
    expect(() => decode(mark("Number", { value: "0" }))).toThrow("this is not a valid Number form");
  });
  it("forms-21: undefined in a list, as a key or value of a Map, or as a member of an instance has a form; a hole has none", () => {
    expect(formOf([undefined])).toEqual([mark("Undefined")]);
    expect(roundTrip([undefined, 1])).toStrictEqual([undefined, 1]);
    expect(formOf(new Person("Ada"))).toMatchObject({
      args: { 1: mark("Undefined") },
      fields: { email: mark("Undefined") },
    });
    expect(() => formOf(Object.assign([], { length: 1 }))).toThrow(
      new ValueNotSerializable("value[0]: a hole of a sparse array can't be sent"),
    );
    expect(roundTrip(new Map([[undefined, undefined]]))).toStrictEqual(
      new Map([[undefined, undefined]]),
    );
    expect(roundTrip(new Set([undefined]))).toStrictEqual(new Set([undefined]));
  });
  it("forms-22: a plain object's property that is undefined is left out", () => {
    expect(formOf({ a: undefined, b: { c: undefined } })).toEqual({ b: {} });
  });
  it("forms-23: an error has type, message, trace, cause and fields", () => {
    const error = Object.assign(new RangeError("far", { cause: new Error("near") }), { by: 5n });
    setTrace(error, ["[a/b | v1.0.0]"]);
    expect(formOf(error)).toEqual(
      mark("Error", {
        type: "RangeError",
        message: "far",
        trace: ["[a/b | v1.0.0]"],
        cause: mark("Error", { type: "Error", message: "near", trace: [], fields: {} }),
        fields: { by: mark("BigInt", { value: "5" }) },
      }),
    );
    expect(roundTrip(error)).toStrictEqual(error);
  });
  it("forms-24: an application's error has its class's key and arguments as well", () => {
    expect(formOf(new OutOfStock("tea"))).toEqual(
      mark("Error", {
        type: "OutOfStock",
        message: "Nothing left of tea",
        trace: [],
        key: "people/OutOfStock",
        args: { 0: "tea" },
        fields: { since: mark("Undefined") },
      }),
    );
    expect(roundTrip(new OutOfStock("tea"))).toStrictEqual(new OutOfStock("tea"));
  });
  it("forms-25: only holders of the trust key get stacks", async () => {
    const error = new NotFound("x", { cause: new Error("y") });
    const run = (): never => {
      throw error;
    };
    const [outside, inside] = await Promise.all(
      [false, true].map((isTrusted) =>
        callEndpoint({ parameters: [], run, trusted: isTrusted }, { headers: serialized }),
      ),
    );
    expect(outside?.text).not.toMatch(/stack|forms\.test/);
    expect(JSON.parse(inside?.text ?? "")).toMatchObject({
      stack: error.stack,
      cause: { stack: (error.cause as Error).stack },
    });
  });
  it("forms-26: a plain object with an own `serialized: true` is wrapped, so that data never passes for a form", () => {
    const data = {
      serialized: true,
      name: "Date",
      value: null,
      at: { serialized: true, name: "class", key: "people/Person" },
    };
    expect(formOf(data)).toEqual(
      mark("Object", { value: { ...data, at: mark("Object", { value: data.at }) } }),
    );
    expect(roundTrip(data)).toStrictEqual(data);
    expect(() => formOf(Object.assign(new Map(), { serialized: true }))).toThrow(
      new ValueNotSerializable(
        "value.serialized: what this Map has besides its content can't be sent",
      ),
    );
  });
  it("forms-48: an object without a prototype is carried as a plain object", () => {
    const bare = Object.assign(Object.create(null) as object, { a: [Object.create(null)] });
    expect(formOf(bare)).toEqual({ a: [{}] });
    expect(roundTrip(bare)).toStrictEqual({ a: [{}] });
  });
  it("forms-49: holes of an array, its members besides items, and symbol keys are a ValueNotSerializable with the path", () => {
    for (const [value, message] of [
      [
        { a: Object.assign([1], { length: 2 }) },
        "value.a[1]: a hole of a sparse array can't be sent",
      ],
      [
        { a: Object.assign([1], { total: 2 }) },
        "value.a.total: what this Array has besides its content can't be sent",
      ],
      [{ a: { [Symbol("s")]: 1 } }, "value.a[Symbol(s)]: a symbol key can't be sent"],
    ] as const)
      expect(() => formOf(value)).toThrow(new ValueNotSerializable(message));
  });
  it("forms-50: a DOMException stays one, with its name, message, code, cause and lines; nothing else is looked up by a name", () => {
    const late = Object.defineProperty(new DOMException("late", "TimeoutError"), "cause", {
      value: day,
    });
    setTrace(late, ["[a/b | v1.0.0]"]);
    expect(formOf(late)).toMatchObject({
      type: "TimeoutError",
      message: "late",
      trace: ["[a/b | v1.0.0]"],
      dom: true,
    });
    const back = roundTrip(late);
    expect(back).toBeInstanceOf(DOMException);
    expect([back.name, back.message, back.code, (back as { cause?: unknown }).cause]).toEqual([
      "TimeoutError",
      "late",
      23,
      day,
    ]);
    expect(roundTrip(new DOMException("gone", "AbortError")).code).toBe(DOMException.ABORT_ERR);
    // An error with such a name is not a DOMException, and the name of a platform class makes no
    // instance.
    expect(roundTrip(Object.assign(new Error("x"), { name: "AbortError" }))).not.toBeInstanceOf(
      DOMException,
    );
    const form = { message: "x", trace: [], fields: {} };
    expect(errorOf(mark("Error", { ...form, type: "DOMException" })).constructor).toBe(Error);
    expect(
      errorOf(mark("Error", { ...form, type: "AbortError", dom: "Function" })).constructor,
    ).toBe(Error);
    expect(() =>
      errorOf(mark("Error", { ...form, type: "AbortError", dom: true, code: 20 })),
    ).toThrow("can only have the members");
  });
  it("plain-11: a Blob is a Binary form with its media type", async () => {
    const text = await encodeSerialized(
      { in: new Blob(["hi"], { type: "text/plain" }) },
      { classes },
    );
    expect(JSON.parse(text)).toEqual({
      in: mark("Binary", { type: "Blob", mediaType: "text/plain", base64: "aGk=" }),
    });
    const { in: blob } = decodeSerialized(text, trusted) as { in: Blob };
    expect([blob.type, await blob.text()]).toEqual(["text/plain", "hi"]);
    expect((decode(mark("Binary", { type: "Blob", base64: "" })) as Blob).type).toBe("");
    expect(() => decode(mark("Binary", { type: "Blob", mediaType: 1, base64: "" }))).toThrow(
      "this is not a valid Binary form",
    );
    expect(() =>
      decode(mark("Binary", { type: "Uint8Array", mediaType: "a/b", base64: "" })),
    ).toThrow("this is not a valid Binary form");
  });
  it("plain-12: a File is a Binary form with its media type, name and time", async () => {
    const file = new File(["hi"], 'ä "1".txt', { type: "text/plain", lastModified: 86_400_000 });
    const form = {
      type: "File",
      mediaType: "text/plain",
      fileName: 'ä "1".txt',
      lastModified: 86_400_000,
      base64: "aGk=",
    };
    const text = await encodeSerialized([file, { in: file }], { classes });
    expect(JSON.parse(text)).toEqual([mark("Binary", form), { in: mark("Binary", form) }]);
    await expectSame(decodeSerialized(text, trusted), [file, { in: file }]);
    const superjson = await encodeSuperjson({ in: [file] }, { classes });
    expect(JSON.parse(superjson)).toEqual({
      json: { in: [form] },
      meta: { values: { "in.0": [["custom", "Binary"]] }, v: 1 },
    });
    await expectSame(decodeSuperjson(superjson, trusted), { in: [file] });
  });
});
