// What JSON would leave out or change without a word: refused with its path, as an argument and as a result, in both encodings.

import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { ValueNotSerializable } from "../../../src/errors.ts";
import { encodePlain } from "../../../src/serializer/plain.ts";
import { encodeArguments, encodeSerialized } from "../../../src/serializer/serialized.ts";
import { decodeSuperjson, encodeSuperjson, encodeSuperjsonArguments } from "../../../src/serializer/superjson.ts";
import { createWireClasses, Employee, Team } from "../../_wire-classes.ts";
import { decode, encode, trusted } from "./_codec.ts";

const classes = createWireClasses();
const ways: readonly (readonly [string, (value: unknown) => unknown, string])[] = [
  ["serialized, as a result", (value) => encodeSerialized(value, { classes, path: "result" }), "result"],
  ["serialized, as an argument", (value) => encodeArguments(new Map([["value", value]]), { classes }), "args.value"],
  ["superjson, as a result", (value) => encodeSuperjson(value, { classes, path: "result" }), "result"],
  ["superjson, as an argument", (value) => encodeSuperjsonArguments(new Map([["value", value]]), { classes }), "args.value"],
];

const holes: unknown[] = [1, 2];
holes[4] = 3;
const sparse = (length: number): unknown[] => Object.assign([], { length });
const holeAndMember = Object.assign(sparse(2), { 1: "b", total: 1 });
const branded = (object: object): object => Object.assign(object, { [Symbol("brand")]: 1 });
const teamOf = (people: unknown): Team => Object.assign(new Team("core"), { people });

const hole = "a hole of a sparse array can't be sent";
const more = "what an array has besides its items can't be sent";
const symbol = "a symbol key can't be sent";
const lost: readonly (readonly [string, unknown, string])[] = [
  ["a hole", { people: holes }, `.people[2]: ${hole}`],
  ["nothing but holes", [sparse(3)], `[0][0]: ${hole}`],
  ["a hole where a rest parameter takes an array", teamOf(sparse(1)), `.people[0]: ${hole}`],
  ["a further member of an array", { match: Object.assign(["a"], { index: 4 }) }, `.match.index: ${more}`],
  ["a further member of an empty array", Object.assign([], { total: 0 }), `.total: ${more}`],
  ["a further member where a rest parameter takes an array", teamOf(Object.assign([], { total: 0 })), `.people.total: ${more}`],
  ["a symbol key of an object", { a: [branded({ b: 1 })] }, `.a[0][Symbol(brand)]: ${symbol}`],
  ["a symbol key and no other", branded({}), `[Symbol(brand)]: ${symbol}`],
  ["a symbol key of an array", { list: branded([1]) }, `.list[Symbol(brand)]: ${symbol}`],
  ["a symbol key of an object of another realm", runInNewContext("({ [Symbol('brand')]: 1 })"), `[Symbol(brand)]: ${symbol}`],
  ["a symbol key of an object without a prototype", branded(Object.create(null) as object), `[Symbol(brand)]: ${symbol}`],
  ["a symbol key of what looks like a form", branded({ serialized: true }), `[Symbol(brand)]: ${symbol}`],
];

describe.each(ways)("%s", (_, act, root) => {
  it.each(lost)("%s is refused with its path", (__, value, message) => {
    expect(() => act(value)).toThrow(new ValueNotSerializable(root + message));
  });
  it("a hole inside of an instance's map is refused with its path", () => {
    const employee = new Employee("Bob");
    employee.tags.set("list", holes);
    expect(() => act(employee)).toThrow(/\.tags\S+\[2\]: a hole of a sparse array can't be sent$/);
  });
  it("as many further members as holes don't make up for each other", () => {
    expect(() => act(holeAndMember)).toThrow(/: (a hole of a sparse array|what an array has besides its items) can't be sent$/);
  });
});

describe("what is no data travels along no more than before", () => {
  it("members that no loop sees, of arrays and objects", () => {
    const texts = ((strings: TemplateStringsArray, ..._: unknown[]) => strings)`a${1}b`;
    const object = Object.defineProperty({ a: 1 }, Symbol("hidden"), { value: 1 });
    expect(decode(JSON.parse(encode([texts, object])))).toStrictEqual([["a", "b"], { a: 1 }]);
    expect(decodeSuperjson(encodeSuperjson([texts, object], { classes }) as string, trusted)).toStrictEqual([["a", "b"], { a: 1 }]);
  });
  it("members that somebody has put on Object.prototype", () => {
    Object.assign(Object.prototype, { extend: () => {} });
    const texts: unknown[] = [];
    try {
      texts.push(encode({ a: [{ b: 1n }] }), encodePlain({ a: [{ b: 1n }] }));
    } finally {
      delete (Object.prototype as { extend?: unknown }).extend;
    }
    expect(texts).toEqual(['{"a":[{"b":{"serialized":true,"name":"BigInt","value":"1"}}]}', '{"a":[{"b":"1"}]}']);
  });
  it("members that an object of another realm inherits", () => {
    const inherited = runInNewContext("Object.prototype.extend = () => {}; ({ a: 1 })") as object;
    expect(encode(inherited)).toBe('{"a":1}');
    expect(encodePlain(inherited)).toBe('{"a":1}');
  });
});

describe("a null prototype", () => {
  const bare = (members: object): object => Object.assign(Object.create(null) as object, members);
  it("is carried as a plain object, at any depth, in both encodings", () => {
    const value = bare({ a: [bare({ b: bare({}) })] });
    expect(decode(JSON.parse(encode(value)))).toStrictEqual({ a: [{ b: {} }] });
    expect(decodeSuperjson(encodeSuperjson(value, { classes }) as string, trusted)).toStrictEqual({ a: [{ b: {} }] });
    expect(encodePlain(value)).toBe('{"a":[{"b":{}}]}');
  });
});

describe("plain answers follow JSON's rules", () => {
  it("a hole is null; further members of arrays and symbol keys are left out", () => {
    expect(encodePlain({ holes, list: branded(Object.assign([1], { total: 1 })), object: branded({ a: 1 }) })).toBe(
      '{"holes":[1,2,null,null,3],"list":[1],"object":{"a":1}}',
    );
  });
});
