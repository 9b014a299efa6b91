// One table for every codec: encode, decode, round trip, in memory, over a socket and in Chromium.

import { BadRequest, Forbidden, Teapot } from "../src/base/errors.ts";
import { setTrace } from "../src/base/trace.ts";
import { Draft, Employee, Money, OutOfStock, Person, Refused, Team } from "./_wire-classes.ts";

export interface WireCase {
  readonly name: string;
  readonly value: unknown;
  /** The serialized form after `JSON.parse`. */
  readonly wire: unknown;
  /** Where a plain answer differs from JSON.stringify's. */
  readonly plain?: unknown;
  /** Decodes in trusted calls only. */
  readonly trusted?: true;
  /** The decoded value has another type. */
  readonly decoded?: unknown;
}

const mark = (name: string, rest: object = {}): object => ({ serialized: true, name, ...rest });
const instance = (name: string, args: object, fields: object): object => ({
  serialized: true,
  key: `people/${name}`,
  name: "class",
  args,
  fields,
});
const missing = mark("Undefined");
const date = new Date("2021-01-01T00:00:00.000Z");
const dateForm = mark("Date", { value: "2021-01-01T00:00:00.000Z" });

function build<T>(value: T, act: (value: T) => void): T {
  act(value);
  return value;
}

export const wireCases: readonly WireCase[] = [
  // Values that JSON carries by itself
  { name: "text", value: "ä \u0000 \ud83e\uddf5 \ufeff", wire: "ä \u0000 \ud83e\uddf5 \ufeff" },
  { name: "text that isn't well-formed", value: "\udd75 ä \ud83e", wire: "\udd75 ä \ud83e" },
  {
    name: "texts that aren't well-formed",
    value: { "\ud800": ["\udfff"] },
    wire: { "\ud800": ["\udfff"] },
  },
  { name: "number", value: 12.5, wire: 12.5 },
  { name: "boolean", value: false, wire: false },
  { name: "null", value: null, wire: null },
  { name: "array", value: [1, [2, []]], wire: [1, [2, []]] },
  { name: "plain object", value: { a: { b: [{ c: "d" }] } }, wire: { a: { b: [{ c: "d" }] } } },
  { name: "then as data", value: { then: { then: 1 } }, wire: { then: { then: 1 } } },
  { name: "undefined property", value: { a: undefined, b: 1 }, wire: { b: 1 }, decoded: { b: 1 } },
  {
    name: "object without a prototype",
    value: { a: Object.assign(Object.create(null) as object, { b: 1 }) },
    wire: { a: { b: 1 } },
    decoded: { a: { b: 1 } },
  },
  // Numbers and undefined
  { name: "undefined", value: undefined, wire: mark("Undefined") },
  {
    name: "undefined in an array",
    value: [undefined, 1],
    wire: [mark("Undefined"), 1],
    plain: [null, 1],
  },
  { name: "NaN", value: Number.NaN, wire: mark("Number", { value: "NaN" }) },
  {
    name: "infinities and minus zero",
    value: [Infinity, -Infinity, -0, 0],
    wire: [
      mark("Number", { value: "Infinity" }),
      mark("Number", { value: "-Infinity" }),
      mark("Number", { value: "-0" }),
      0,
    ],
    plain: [null, null, 0, 0],
  },
  {
    name: "bigint",
    value: { n: -(2n ** 70n) },
    wire: { n: mark("BigInt", { value: "-1180591620717411303424" }) },
    plain: { n: "-1180591620717411303424" },
  },
  // Dates, collections, text-like objects
  { name: "date", value: date, wire: dateForm },
  {
    name: "date of a far year",
    value: new Date(8.64e15),
    wire: mark("Date", { value: "+275760-09-13T00:00:00.000Z" }),
  },
  {
    name: "invalid date",
    value: new Date(Number.NaN),
    wire: mark("Date", { value: null }),
    plain: null,
  },
  {
    name: "map of everything",
    value: new Map<unknown, unknown>([
      ["a", date],
      [undefined, new Set([1n])],
      [Number.NaN, undefined],
    ]),
    wire: mark("Map", {
      entries: {
        keys: ["a", mark("Undefined"), mark("Number", { value: "NaN" })],
        values: [
          dateForm,
          mark("Set", { values: [mark("BigInt", { value: "1" })] }),
          mark("Undefined"),
        ],
      },
    }),
    plain: [
      ["a", "2021-01-01T00:00:00.000Z"],
      [null, ["1"]],
      [null, null],
    ],
  },
  {
    name: "empty map and set",
    value: [new Map(), new Set()],
    wire: [mark("Map", { entries: { keys: [], values: [] } }), mark("Set", { values: [] })],
    plain: [[], []],
  },
  {
    name: "expression",
    value: /a+"\//gi,
    wire: mark("RegExp", { source: 'a+"\\/', flags: "gi" }),
    plain: '/a+"\\//gi',
    trusted: true,
  },
  {
    name: "address",
    value: new URL("http://a.b/c?d=%20#e"),
    wire: mark("Url", { value: "http://a.b/c?d=%20#e" }),
    plain: "http://a.b/c?d=%20#e",
  },
  // Bytes
  {
    name: "bytes",
    value: { bytes: new Uint8Array([1, 2, 253, 254, 255]) },
    wire: { bytes: mark("Binary", { type: "Uint8Array", base64: "AQL9/v8=" }) },
    plain: { bytes: "AQL9/v8=" },
  },
  {
    name: "no bytes",
    value: [new Uint8Array()],
    wire: [mark("Binary", { type: "Uint8Array", base64: "" })],
    plain: [""],
  },
  {
    name: "buffer",
    value: [new Uint8Array([9, 8]).buffer],
    wire: [mark("Binary", { type: "ArrayBuffer", base64: "CQg=" })],
    plain: ["CQg="],
  },
  {
    name: "typed arrays",
    value: [
      new Float64Array([0.5]),
      new Int16Array([-2]),
      new BigInt64Array([-1n]),
      new Uint8ClampedArray([300]),
    ],
    wire: [
      mark("Binary", { type: "Float64Array", base64: "AAAAAAAA4D8=" }),
      mark("Binary", { type: "Int16Array", base64: "/v8=" }),
      mark("Binary", { type: "BigInt64Array", base64: "//////////8=" }),
      mark("Binary", { type: "Uint8ClampedArray", base64: "/w==" }),
    ],
    plain: ["AAAAAAAA4D8=", "/v8=", "//////////8=", "/w=="],
  },
  {
    name: "only the bytes of the view",
    value: [new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)],
    wire: [mark("Binary", { type: "DataView", base64: "AgM=" })],
    plain: ["AgM="],
    decoded: [new DataView(new Uint8Array([2, 3]).buffer)],
  },
  {
    name: "files",
    value: [
      new File([new Uint8Array([0, 255, 128])], 'ä "1"\n.svg', {
        type: "image/svg+xml",
        lastModified: 86_400_000,
      }),
      { in: new File([], "", { lastModified: 0 }) },
    ],
    wire: [
      mark("Binary", {
        type: "File",
        mediaType: "image/svg+xml",
        fileName: 'ä "1"\n.svg',
        lastModified: 86_400_000,
        base64: "AP+A",
      }),
      {
        in: mark("Binary", {
          type: "File",
          mediaType: "",
          fileName: "",
          lastModified: 0,
          base64: "",
        }),
      },
    ],
    plain: ["AP+A", { in: "" }],
  },
  {
    name: "blob",
    value: { in: [new Blob([new Uint8Array([0, 255, 128])], { type: "image/x-thread" })] },
    wire: { in: [mark("Binary", { type: "Blob", mediaType: "image/x-thread", base64: "AP+A" })] },
    plain: { in: ["AP+A"] },
  },
  // Data that looks like a form
  {
    name: "serialized as data",
    value: { serialized: true, name: "Date", value: 0 },
    wire: mark("Object", { value: { serialized: true, name: "Date", value: 0 } }),
  },
  {
    name: "serialized as data, nested",
    value: { a: [{ serialized: true, b: { serialized: true, at: date } }] },
    wire: {
      a: [
        mark("Object", {
          value: {
            serialized: true,
            b: mark("Object", { value: { serialized: true, at: dateForm } }),
          },
        }),
      ],
    },
  },
  {
    name: "serialized, but not true",
    value: { serialized: 1, name: "Date" },
    wire: { serialized: 1, name: "Date" },
  },
  // Classes of the application
  {
    name: "instance",
    value: new Person("Ada", date),
    wire: instance("Person", { 0: "Ada", 1: dateForm }, { email: missing }),
    plain: { born: "2021-01-01T00:00:00.000Z" },
  },
  {
    name: "instance with an accessor pair",
    value: build(new Person("Ada"), (person) => (person.email = "ada@a.b")),
    wire: instance("Person", { 0: "Ada", 1: missing }, { email: "ada@a.b" }),
    plain: {},
  },
  {
    name: "instances inside an instance, parents' members included",
    value: build(new Employee("Bob", date), (bob) => {
      bob.salary = new Money(12n);
      bob.tags.set("since", date);
    }),
    wire: instance(
      "Employee",
      { 0: "Bob", 1: dateForm },
      {
        email: missing,
        salary: instance("Money", { 0: mark("BigInt", { value: "12" }), 1: "EUR" }, {}),
        tags: mark("Map", { entries: { keys: ["since"], values: [dateForm] } }),
      },
    ),
    plain: {
      born: "2021-01-01T00:00:00.000Z",
      salary: { cents: "12", currency: "EUR" },
      tags: [["since", "2021-01-01T00:00:00.000Z"]],
    },
  },
  {
    name: "rest parameter of a constructor, and one that nothing reads",
    value: new Team("core", undefined, new Person("Ada"), new Person("Bob")),
    wire: instance(
      "Team",
      {
        0: "core",
        2: instance("Person", { 0: "Ada", 1: missing }, { email: missing }),
        3: instance("Person", { 0: "Bob", 1: missing }, { email: missing }),
      },
      {},
    ),
    plain: { title: "core", people: [{}, {}] },
  },
  {
    name: "members of an instance that aren't identifiers",
    value: build(new Draft(7), (draft) =>
      Object.assign(draft, { 3: "y", 16: "z", "a.b": date, computed: [1n] }),
    ),
    wire: instance(
      "Draft",
      { 0: 7 },
      { 3: "y", 16: "z", extra: null, "a.b": dateForm, computed: [mark("BigInt", { value: "1" })] },
    ),
    plain: {
      3: "y",
      16: "z",
      extra: null,
      "a.b": "2021-01-01T00:00:00.000Z",
      computed: ["1"],
      pages: 7,
    },
  },
  {
    name: "undefined where the class has a default",
    value: build(new Draft(), (draft) =>
      Object.assign(draft, { extra: undefined, 3: undefined, "a.b": undefined, pages: undefined }),
    ),
    wire: instance(
      "Draft",
      { 0: missing },
      { 3: missing, 16: "hexadecimal", extra: missing, "a.b": missing, computed: 2 },
    ),
    plain: { 16: "hexadecimal", computed: 2 },
  },
  // Errors
  {
    name: "error with a cause",
    value: new RangeError("too far", { cause: new Error("because") }),
    wire: mark("Error", {
      type: "RangeError",
      message: "too far",
      trace: [],
      fields: {},
      cause: mark("Error", { type: "Error", message: "because", trace: [], fields: {} }),
    }),
    plain: { name: "RangeError", message: "too far" },
    trusted: true,
  },
  {
    name: "framework errors with fields and trace",
    value: [
      build(new Forbidden("not you"), (error) =>
        setTrace(Object.assign(error, { at: date }), ["[a/b | v1.0.0]"]),
      ),
      new Teapot(),
      new BadRequest(),
    ],
    wire: [
      mark("Error", {
        type: "Forbidden",
        message: "not you",
        trace: ["[a/b | v1.0.0]"],
        outside: "fields",
        fields: { at: dateForm },
      }),
      mark("Error", { type: "Teapot", message: "I'm a teapot", trace: [], fields: {} }),
      mark("Error", { type: "BadRequest", message: "Invalid request", trace: [], fields: {} }),
    ],
    plain: [
      { name: "Forbidden", message: "not you" },
      { name: "Teapot", message: "I'm a teapot" },
      { name: "BadRequest", message: "Invalid request" },
    ],
    trusted: true,
  },
  {
    name: "errors of the platform's own class",
    value: [
      new DOMException("Nobody waits any more", "AbortError"),
      build(new DOMException("late", "TimeoutError"), (error) =>
        setTrace(error, ["[a/b | v1.0.0]"]),
      ),
      new Error("outer", { cause: new DOMException("x") }),
    ],
    wire: [
      mark("Error", {
        type: "AbortError",
        message: "Nobody waits any more",
        trace: [],
        fields: {},
        dom: true,
      }),
      mark("Error", {
        type: "TimeoutError",
        message: "late",
        trace: ["[a/b | v1.0.0]"],
        fields: {},
        dom: true,
      }),
      mark("Error", {
        type: "Error",
        message: "outer",
        trace: [],
        fields: {},
        cause: mark("Error", { type: "Error", message: "x", trace: [], fields: {}, dom: true }),
      }),
    ],
    plain: [
      { name: "AbortError", message: "Nobody waits any more" },
      { name: "TimeoutError", message: "late" },
      { name: "Error", message: "outer" },
    ],
    trusted: true,
  },
  {
    name: "application errors",
    value: [build(new OutOfStock("tea"), (error) => (error.since = date)), new Refused("no", 7)],
    wire: [
      mark("Error", {
        type: "OutOfStock",
        message: "Nothing left of tea",
        trace: [],
        key: "people/OutOfStock",
        args: { 0: "tea" },
        fields: { since: dateForm },
      }),
      mark("Error", {
        type: "Refused",
        message: "no",
        trace: [],
        key: "people/Refused",
        args: { 0: "no", 1: 7 },
        fields: {},
      }),
    ],
    plain: [
      { name: "OutOfStock", message: "Nothing left of tea" },
      { name: "Refused", message: "no" },
    ],
    trusted: true,
  },
];
