// Values that JSON would leave out or change without a word: refused with its path, as an argument and as
// a result, in both encodings.

import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { ValueNotSerializable } from "../../../src/base/errors.ts";
import { encodePlain } from "../../../src/codec/plain.ts";
import { encodeArguments, encodeSerialized } from "../../../src/codec/serialized.ts";
import {
  decodeSuperjson,
  encodeSuperjson,
  encodeSuperjsonArguments,
} from "../../../src/codec/superjson/superjson.ts";
import { createWireClasses, Employee, Team } from "../../_wire-classes.ts";
import { decode, encode, trusted } from "./_codec.ts";

const classes = createWireClasses();
const ways: readonly (readonly [string, (value: unknown) => unknown, string])[] = [
  [
    "serialized, as a result",
    (value) => encodeSerialized(value, { classes, path: "result" }),
    "result",
  ],
  [
    "serialized, as an argument",
    (value) => encodeArguments(new Map([["value", value]]), { classes }),
    "args.value",
  ],
  [
    "superjson, as a result",
    (value) => encodeSuperjson(value, { classes, path: "result" }),
    "result",
  ],
  [
    "superjson, as an argument",
    (value) => encodeSuperjsonArguments(new Map([["value", value]]), { classes }),
    "args.value",
  ],
];

const holes: unknown[] = [1, 2];
holes[4] = 3;
const sparse = (length: number): unknown[] => Object.assign([], { length });
const holeAndMember = Object.assign(sparse(2), { 1: "b", total: 1 });
const branded = (object: object): object => Object.assign(object, { [Symbol("brand")]: 1 });
const teamOf = (people: unknown): Team => Object.assign(new Team("core"), { people });

const member = (object: object): object => Object.assign(copyOf(object), { extra: 1 });
const content = (kind: string): string => `what this ${kind} has besides its content can't be sent`;

/** So that no two rows share one. */
function copyOf(object: object): object {
  return new (object.constructor as new (from: object) => object)(
    object instanceof ArrayBuffer
      ? (0 as never)
      : object instanceof DataView
        ? object.buffer
        : object,
  );
}

const hole = "a hole of a sparse array can't be sent";
const more = "what this Array has besides its content can't be sent";
const symbol = "a symbol key can't be sent";
const lost: readonly (readonly [string, unknown, string])[] = [
  ["a hole", { people: holes }, `.people[2]: ${hole}`],
  ["nothing but holes", [sparse(3)], `[0][0]: ${hole}`],
  ["a hole where a rest parameter takes an array", teamOf(sparse(1)), `.people[0]: ${hole}`],
  [
    "a further member of an array",
    { match: Object.assign(["a"], { index: 4 }) },
    `.match.index: ${more}`,
  ],
  ["a further member of an empty array", Object.assign([], { total: 0 }), `.total: ${more}`],
  [
    "a further member where a rest parameter takes an array",
    teamOf(Object.assign([], { total: 0 })),
    `.people.total: ${more}`,
  ],
  ["a symbol key of an object", { a: [branded({ b: 1 })] }, `.a[0][Symbol(brand)]: ${symbol}`],
  ["a symbol key and no other", branded({}), `[Symbol(brand)]: ${symbol}`],
  ["a symbol key of an array", { list: branded([1]) }, `.list[Symbol(brand)]: ${symbol}`],
  [
    "a symbol key of an object of another realm",
    runInNewContext("({ [Symbol('brand')]: 1 })"),
    `[Symbol(brand)]: ${symbol}`,
  ],
  [
    "a symbol key of an object without a prototype",
    branded(Object.create(null) as object),
    `[Symbol(brand)]: ${symbol}`,
  ],
  [
    "a symbol key of what looks like a form",
    branded({ serialized: true }),
    `[Symbol(brand)]: ${symbol}`,
  ],
  [
    "a symbol key of an instance",
    { one: branded(new Employee("Bob")) },
    `.one[Symbol(brand)]: ${symbol}`,
  ],
  ...[
    new Map([[1, 2]]),
    new Set([1]),
    new Date(0),
    /a/,
    new Uint8Array(2),
    new Float64Array(5_000),
  ].flatMap((value) => {
    const kind = value.constructor.name;
    const marked = [
      `a symbol key of a ${kind}`,
      { a: branded(copyOf(value)) },
      `.a[Symbol(brand)]: ${symbol}`,
    ] as const;
    return value instanceof Float64Array
      ? [marked]
      : [
          marked,
          [`a member of a ${kind}`, [member(value)], `[0].extra: ${content(kind)}`] as const,
        ];
  }),
];
// superjson carries none of these, whatever they have.
const buffers: typeof lost = [
  [
    "a member of an ArrayBuffer",
    [member(new ArrayBuffer(1))],
    `[0].extra: ${content("ArrayBuffer")}`,
  ],
  [
    "a member of a DataView",
    [member(new DataView(new ArrayBuffer(1)))],
    `[0].extra: ${content("DataView")}`,
  ],
  ["a symbol key of an ArrayBuffer", branded(new ArrayBuffer(1)), `[Symbol(brand)]: ${symbol}`],
];

describe.each(ways)("%s", (_, act, root) => {
  it.each([...lost, ...buffers])("%s is refused with its path", (__, value, message) => {
    expect(() => act(value)).toThrow(new ValueNotSerializable(root + message));
  });
  it("a hole inside an instance's map is refused with its path", () => {
    const employee = new Employee("Bob");
    employee.tags.set("list", holes);
    expect(() => act(employee)).toThrow(/\.tags\S+\[2\]: a hole of a sparse array can't be sent$/);
  });
  it("as many further members as holes are refused as well", () => {
    expect(() => act(holeAndMember)).toThrow(
      /: (a hole of a sparse array|what this Array has besides its content) can't be sent$/,
    );
  });
});

describe("members that aren't data don't travel", () => {
  it("members of arrays and objects that aren't enumerable are left out", () => {
    const texts = ((strings: TemplateStringsArray, ..._: unknown[]) => strings)`a${1}b`;
    const object = Object.defineProperty({ a: 1 }, Symbol("hidden"), { value: 1 });
    expect(decode(JSON.parse(encode([texts, object])))).toStrictEqual([["a", "b"], { a: 1 }]);
    expect(
      decodeSuperjson(encodeSuperjson([texts, object], { classes }) as string, trusted),
    ).toStrictEqual([["a", "b"], { a: 1 }]);
  });
  it("enumerable members on Object.prototype are left out", () => {
    Object.assign(Object.prototype, { extend: () => {} });
    const texts: unknown[] = [];
    try {
      texts.push(encode({ a: [{ b: 1n }] }), encodePlain({ a: [{ b: 1n }] }));
    } finally {
      delete (Object.prototype as { extend?: unknown }).extend;
    }
    expect(texts).toEqual([
      '{"a":[{"b":{"serialized":true,"name":"BigInt","value":"1"}}]}',
      '{"a":[{"b":"1"}]}',
    ]);
  });
  it("members that an object of another realm inherits are left out", () => {
    const inherited = runInNewContext("Object.prototype.extend = () => {}; ({ a: 1 })") as object;
    expect(encode(inherited)).toBe('{"a":1}');
    expect(encodePlain(inherited)).toBe('{"a":1}');
  });
});

describe("a null prototype", () => {
  const bare = (members: object): object => Object.assign(Object.create(null) as object, members);
  it("an object with a null prototype travels as a plain object, at any depth, in both encodings", () => {
    const value = bare({ a: [bare({ b: bare({}) })] });
    expect(decode(JSON.parse(encode(value)))).toStrictEqual({ a: [{ b: {} }] });
    expect(decodeSuperjson(encodeSuperjson(value, { classes }) as string, trusted)).toStrictEqual({
      a: [{ b: {} }],
    });
    expect(encodePlain(value)).toBe('{"a":[{"b":{}}]}');
  });
});

describe("plain answers follow JSON's rules", () => {
  it("in a plain answer a hole is null; further members of arrays and symbol keys are left out", () => {
    expect(
      encodePlain({
        holes,
        list: branded(Object.assign([1], { total: 1 })),
        object: branded({ a: 1 }),
      }),
    ).toBe('{"holes":[1,2,null,null,3],"list":[1],"object":{"a":1}}');
  });
});

describe("a class that extends a collection", () => {
  class Tagged extends Map<string, number> {
    #tag = "t";
    get tag(): string {
      return this.#tag;
    }
    set tag(tag: string) {
      this.#tag = tag;
    }
  }
  class Counted extends Set<number> {
    get total(): number {
      return this.size;
    }
  }
  class Listed extends Array<number> {
    #tag = "t";
    get tag(): string {
      return this.#tag;
    }
    set tag(tag: string) {
      this.#tag = tag;
    }
  }
  const known = createWireClasses();
  const record = { module: "own/kids", args: [] };
  known.register({ ...record, key: "own/Tagged", export: "Tagged", fields: ["tag"] }, Tagged);
  known.register({ ...record, key: "own/Counted", export: "Counted", fields: [] }, Counted);
  known.register({ ...record, key: "own/Listed", export: "Listed", fields: ["tag"] }, Listed);
  it.each([
    ["serialized", encodeSerialized],
    ["superjson", encodeSuperjson],
  ])(
    "an instance of a class that extends a collection is refused if it has data of its own: %s",
    (_, act) => {
      const send = (value: unknown): unknown => act(value, { classes: known, path: "result" });
      expect(() => send([new Tagged()])).toThrow(
        new ValueNotSerializable(`result[0].tag: ${content("Map")}`),
      );
      expect(() => send({ list: Listed.of(1) })).toThrow(
        new ValueNotSerializable(`result.list.tag: ${content("Array")}`),
      );
      expect(send(new Counted([1]))).toContain("1");
    },
  );
});
