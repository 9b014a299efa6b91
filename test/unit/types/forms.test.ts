import { describe, expect, it } from "vitest";
import type { Type } from "../../../server/types/model.ts";
import { readAll } from "./_read.ts";

const string = { kind: "string" } as const;
const number = { kind: "number" } as const;
const boolean = { kind: "boolean" } as const;
const unknown = { kind: "unknown" } as const;
const date = { kind: "date" } as const;
const undefinedType = { kind: "undefined" } as const;
const nullType = { kind: "null" } as const;
const literals = (...values: (string | number | boolean | { bigint: string })[]): Type => ({
  kind: "literals",
  values,
});
const array = (items: Type): Type => ({ kind: "array", items });
const union = (...arms: Type[]): Type => ({ kind: "union", arms });
const ref = (to: string): Type => ({ kind: "ref", to });
/** A name that ends in `?` is an optional member. */
const object = (members: Readonly<Record<string, Type>>): Type & { kind: "object" } => ({
  kind: "object",
  members: Object.fromEntries(
    Object.entries(members).map(([name, type]) =>
      name.endsWith("?") ? [name.slice(0, -1), { type, optional: true }] : [name, { type }],
    ),
  ),
});
const record = (values: Type, keys: Type = string): Type => ({
  ...object({}),
  index: [{ keys, values }],
});

const declarations = `
import type { Format, Int, Max, MaxLength, Min, MinLength, Pattern } from "seamline/types";
import * as z from "zod";
import type { Missing } from "./missing.ts";

export interface Line { sku: string; metres: number }
export interface Line { note?: string }
interface Wide extends Line { width: number }
interface Tree { value: string; children: Tree[] }
interface Me { next?: this }
interface Page<T> { items: T[]; next: string | null }
interface Lines extends Array<Line> {}
interface Priced { price: number; total(): number }
interface Extending extends Missing { a: string; b: number }
type Aliased = { [K in Missing]?: string };
interface Store { load(): string }
interface Nest<T> { value: T; next?: Nest<T[]> }
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Without<T, U> = { [P in Exclude<keyof T, keyof U>]?: never };
type XOR<T, U> = T extends object ? (U extends object ? (Without<T, U> & U) | (Without<U, T> & T) : U) : T;
type Brand<T, N> = T & { readonly [brand]: N };
type Getters<T> = { [K in keyof T as \`get\${Capitalize<K & string>}\`]: T[K] };
type Boxed<T> = T extends string ? { text: T } : { other: T };
declare const brand: unique symbol;
declare const loose: any;
enum Level { low, high = 10 }
enum Colour { red = "r", blue = "b" }
enum Computed { now = loose.x }
const sizes = ["s", "m"] as const;
const defaults = { sku: "", metres: 1 };
const order = z.object({
  name: z.string().email(),
  age: z.number().optional(),
  size: z.enum(["s", "m"]),
  due: z.date().nullable(),
  id: z.string().brand<"Id">(),
  shape: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("a"), a: z.string() }),
    z.object({ kind: z.literal("b"), b: z.number() }),
  ]),
});
export class Money {
  #secret = 1;
  private hidden = 2;
  constructor(readonly amount: number, readonly currency = "EUR") {}
  get cents(): number { return this.amount * 100; }
  add(other: Money): Money { return other; }
}
`;

const circle = object({ kind: literals("circle"), radius: number });
const square = object({ kind: literals("square"), side: number });

/** The compiler's form of a type → the model's. References lead to the definitions below. */
const forms: [type: string, model: Type][] = [
  // primitives and literals
  ["string", string],
  ["number", number],
  ["boolean", boolean],
  ["bigint", { kind: "bigint" }],
  ["null", nullType],
  ["undefined", undefinedType],
  ["void", undefinedType],
  ["never", { kind: "never" }],
  ["unknown", unknown],
  ["any", unknown],
  ["object", { kind: "nonprimitive" }],
  ["{}", { kind: "defined" }],
  ["Object", { kind: "defined" }],
  ['"red" | "blue"', literals("blue", "red")],
  ["1 | 2n | -3n | true", literals(1, true, { bigint: "-3" }, { bigint: "2" })],
  ["true | false | 1", union(boolean, literals(1))],
  ["Level", literals(0, 10)],
  ["Level.high", literals(10)],
  ["Colour", literals("b", "r")],
  ["Computed", number],
  ["(typeof sizes)[number]", literals("m", "s")],
  // texts
  ["`a-${number}`", { kind: "template", parts: ["a-", number, ""] }],
  ["`${string}@${string}`", { kind: "template", parts: ["", string, "@", string, ""] }],
  ["`size-${'s' | 'm'}`", literals("size-m", "size-s")],
  ["Uppercase<string>", { kind: "string", case: "upper" }],
  [
    "Lowercase<`A${string}`>",
    { kind: "template", parts: ["a", { kind: "string", case: "lower" }, ""] },
  ],
  ["Capitalize<'red'>", literals("Red")],
  // lists
  ["string[]", array(string)],
  ["readonly string[]", array(string)],
  ["ReadonlyArray<Line>", array(ref("Line"))],
  ["Lines", array(ref("Line"))],
  ["[]", { kind: "tuple", first: [] }],
  [
    "[string, number?]",
    { kind: "tuple", first: [{ type: string }, { type: number, optional: true }] },
  ],
  [
    "readonly [at: string, ...more: number[]]",
    { kind: "tuple", first: [{ type: string }], rest: number },
  ],
  ["[...string[], number]", { kind: "tuple", first: [], rest: string, last: [number] }],
  [
    "Parameters<(line: Line, count?: number) => void>",
    { kind: "tuple", first: [{ type: ref("Line") }, { type: number, optional: true }] },
  ],
  // objects
  ["Line", ref("Line")],
  ["{ a: string; b?: number; readonly c: null }", object({ a: string, "b?": number, c: nullType })],
  ["{ a?: string | undefined }", object({ "a?": string })],
  ["{ a: string | undefined }", object({ a: union(string, undefinedType) })],
  ["{ 'a-b': string; 1: number }", object({ 1: number, "a-b": string })],
  ["{ toString: string }", object({ toString: string })],
  ["Wide", ref("Wide")],
  ["Priced", ref("Priced")],
  ["typeof defaults", object({ sku: string, metres: number })],
  ["Record<string, number>", record(number)],
  ["Record<'a' | 'b', number>", object({ a: number, b: number })],
  ["Record<Colour, number>", object({ r: number, b: number })],
  ["Partial<Record<'a', number>>", object({ "a?": number })],
  ["{ [id: number]: string }", record(string, number)],
  [
    "{ [key: `x-${string}`]: string; y: number }",
    {
      ...object({ y: number }),
      index: [{ keys: { kind: "template", parts: ["x-", string, ""] }, values: string }],
    },
  ],
  // what types are computed from
  ["Partial<Line>", object({ "sku?": string, "metres?": number, "note?": string })],
  ["Required<Line>", object({ sku: string, metres: number, note: string })],
  ["Pick<Line, 'sku' | 'note'>", object({ sku: string, "note?": string })],
  ["Omit<Line, 'sku'>", object({ metres: number, "note?": string })],
  ["Readonly<Line>", object({ sku: string, metres: number, "note?": string })],
  ["Getters<Line>", ref("Getters")],
  ["Boxed<'a'>", object({ text: literals("a") })],
  ["Line['metres']", number],
  ["keyof Line", literals("metres", "note", "sku")],
  ["NonNullable<Line['note']>", string],
  ["Awaited<Promise<Line>>", ref("Line")],
  ["NoInfer<Line>", ref("Line")],
  ["Extract<Shape, { kind: 'circle' }>", circle],
  ["Omit<Priced, 'price'> & { price: string }", object({ price: string })],
  // Prisma's generated client
  [
    "XOR<{ a: string }, { b: number; c?: string }>",
    union(
      object({ "a?": { kind: "never" }, b: number, "c?": string }),
      object({ "b?": { kind: "never" }, "c?": { kind: "never" }, a: string }),
    ),
  ],
  ["Page<Line>", ref("Page")],
  ["Page<string>", ref("Page2")],
  ["Tree", ref("Tree")],
  ["Me", ref("Me")],
  ["Json", ref("Json")],
  [
    "z.infer<typeof order>",
    object({
      name: string,
      size: literals("m", "s"),
      due: union(date, nullType),
      id: string,
      shape: union(
        object({ kind: literals("a"), a: string }),
        object({ kind: literals("b"), b: number }),
      ),
      "age?": number,
    }),
  ],
  // unions and intersections
  ["Shape", union(circle, square)],
  ["string | Line[] | null", union(array(ref("Line")), nullType, string)],
  ["Date | string", union(date, string)],
  ["{ a: string } & { b: number }", object({ a: string, b: number })],
  ["{ a: 'x' | 'y' } & { a: 'y' | 'z' }", object({ a: literals("y") })],
  [
    "Line & { width: number }",
    object({ sku: string, metres: number, "note?": string, width: number }),
  ],
  [
    "Shape & { id: string }",
    union(
      object({ kind: literals("circle"), radius: number, id: string }),
      object({ kind: literals("square"), side: number, id: string }),
    ),
  ],
  // brands
  ["string & { readonly __brand: 'Email' }", string],
  ["Brand<number, 'Metres'>", number],
  ["Brand<Date, 'Day'>", date],
  ["Brand<string[], 'Tags'>", array(string)],
  ["string & {}", string],
  ["'a' | (string & {})", union(literals("a"), string)],
  // built-ins
  ["Date", date],
  ["Map<string, Date>", { kind: "map", keys: string, values: date }],
  ["ReadonlyMap<number, Line>", { kind: "map", keys: number, values: ref("Line") }],
  ["Set<string>", { kind: "set", items: string }],
  ["ReadonlySet<number>", { kind: "set", items: number }],
  ["Uint8Array", { kind: "binary", type: "Uint8Array" }],
  ["Buffer", { kind: "binary", type: "Uint8Array" }],
  ["ArrayBuffer", { kind: "binary", type: "ArrayBuffer" }],
  ["ArrayBufferView", { kind: "binary", type: "ArrayBufferView" }],
  ["Float64Array<ArrayBuffer>", { kind: "binary", type: "Float64Array" }],
  ["URL", { kind: "url" }],
  ["import('node:url').URL", { kind: "url" }],
  ["RegExp", { kind: "regexp" }],
  ["File", { kind: "file" }],
  ["Blob", { kind: "blob" }],
  ["FormData", { kind: "form" }],
  ["Money", { kind: "instance", key: "app/Money" }],
  ["Pick<Money, 'amount' | 'cents'>", object({ amount: number, cents: number })],
  // constraints
  ["number & Min<0> & Max<10> & Int", { kind: "number", min: 0, max: 10, int: true }],
  ["(number & Min<-1.5>) | null", union(nullType, { kind: "number", min: -1.5 })],
  ["(number & Min<0>) & Min<2>", { kind: "number", min: 2 }],
  [
    "string & MinLength<1> & MaxLength<20> & Pattern<'^a+$'>",
    { kind: "string", minLength: 1, maxLength: 20, pattern: "^a+$" },
  ],
  ["string & Format<'email'>", { kind: "string", format: "email" }],
  ["Line[] & MinLength<1>", { kind: "array", items: ref("Line"), minLength: 1 }],
  ["`a${string}` & MaxLength<9>", { kind: "template", parts: ["a", string, ""], maxLength: 9 }],
  ["{ metres?: number & Min<0> }", object({ "metres?": { kind: "number", min: 0 } })],
];

const definitions: Record<string, Type> = {
  Line: object({ sku: string, metres: number, "note?": string }),
  Wide: object({ width: number, sku: string, metres: number, "note?": string }),
  Priced: object({ price: number }),
  Getters: object({ getSku: string, getMetres: number, "getNote?": string }),
  Page: object({ items: array(ref("Line")), next: union(nullType, string) }),
  Page2: object({ items: array(string), next: union(nullType, string) }),
  Tree: object({ value: string, children: array(ref("Tree")) }),
  Me: object({ "next?": ref("Me") }),
  Json: union(array(ref("Json")), boolean, nullType, number, record(ref("Json")), string),
};

const refused: [type: string, message: string][] = [
  ["Missing", "x: its type can't be resolved: 'Missing'"],
  ["Missing[]", "x[]: its type can't be resolved: 'Missing'"],
  ["{ deep: { missing: Missing } }", "x.deep.missing: its type can't be resolved: 'Missing'"],
  ["Record<Missing, string>", "x: its type can't be resolved: 'Missing'"],
  ["{ [K in Missing]: 1 }", "x: its type can't be resolved: 'Missing'"],
  ["Missing extends string ? 1 : 2", "x: its type can't be resolved: 'Missing'"],
  ["Partial<Missing>", "x: its type can't be resolved: 'Partial<Missing>'"],
  ["Extending", "x: its type can't be resolved: 'Missing'"],
  ["Extending[]", "x[]: its type can't be resolved: 'Missing'"],
  ["Omit<Extending, 'b'>", "x: its type can't be resolved: 'Missing'"],
  ["Aliased", "x: its type can't be resolved: 'Missing'"],
  ["Undeclared", "x: its type can't be resolved: 'Undeclared'"],
  ["Map<string, Undeclared>", "x.values(): its type can't be resolved: 'Undeclared'"],
  ["Promise<string>", "x: a value of this type can't arrive: 'Promise<string>'"],
  ["() => void", "x: a function can't arrive: '() => void'"],
  ["string | (() => string)", "x: a function can't arrive: '() => string'"],
  ["{ onDone?: () => void }", "x.onDone: a function can't arrive: '() => void'"],
  ["typeof Money", "x: a function can't arrive: 'typeof Money'"],
  ["symbol", "x: a symbol can't arrive: 'symbol'"],
  ["typeof brand", "x: a symbol can't arrive: 'unique symbol'"],
  ["Iterable<string>", "x: what has only methods can't arrive: 'Iterable<string>'"],
  ["Store", "x: what has only methods can't arrive: 'Store'"],
  ["ArrayLike<string>", "x: a value of this type can't arrive: 'ArrayLike<string>'"],
  ["Request", "x: a value of this type can't arrive: 'Request'"],
  ["ReadableStream", "x: a value of this type can't arrive: 'ReadableStream<any>'"],
  ["Error", "x: a value of this type can't arrive: 'Error'"],
  ["WeakMap<object, string>", "x: a value of this type can't arrive: 'WeakMap<object, string>'"],
  [
    "import('node:events').EventEmitter",
    "x: a value of this type can't arrive: 'EventEmitter<DefaultEventMap>'",
  ],
  [
    "import('magic-string').default",
    "x: an instance of 'MagicString' can't arrive: no module of the application exports this class",
  ],
  [
    "{ prototype: string }",
    "x.prototype: a member can't be called 'prototype': no data may have such a key",
  ],
  [
    "{ ['__proto__']: string }",
    "x.__proto__: a member can't be called '__proto__': no data may have such a key",
  ],
  [
    "Date & Map<string, string>",
    "x: what has several types at once can't be checked: 'Date & Map<string, string>'",
  ],
  [
    "Uppercase<string> & `A${string}`",
    "x: what has several types at once can't be checked: 'Uppercase<string> & `A${string}`'",
  ],
  ["string & Min<3>", "x: Min says nothing about the kind 'string', or is there twice"],
  ["number & Min<number>", "x: the argument of a constraint has to be a literal: 'Min<number>'"],
  ["string & Pattern<'a'>", "x: a Pattern needs a MaxLength of at most 4096"],
  ["string & MaxLength<9> & Pattern<'(a'>", "x: '(a' is not a regular expression"],
  ["string & MaxLength<9> & Pattern<'(a+)+b'>", "x: a pattern takes exponential time"],
];

describe("types of parameters", () => {
  const all = [...forms.map(([type]) => type), ...refused.map(([type]) => type), "Nest<string>"];
  const { model, problems, notes, unchecked } = readAll(declarations, all);
  const typeAt = (index: number): Type | undefined => {
    const [parameter] = model.functions[`f${index}`]?.[0]?.parameters ?? [];
    return parameter?.kind === "plain" ? parameter.type : undefined;
  };
  const problemsAt = (index: number): string[] =>
    problems.flatMap(({ message }) =>
      message.startsWith(`f${index}: `) ? [message.slice(`f${index}: `.length)] : [],
    );

  it.each(forms.map(([type, expected], index) => ({ type, expected, index })))(
    "$type has its model",
    ({ expected, index }) => {
      expect(problemsAt(index)).toEqual([]);
      expect(typeAt(index)).toEqual(expected);
    },
  );

  it("Types with a name are definitions, and so are those that contain themselves", () => {
    expect(model.definitions).toEqual(definitions);
  });

  it("A class has the types of its constructor's parameters and of its members, private ones too", () => {
    expect(model.classes).toEqual({
      "app/Money": {
        parameters: [
          { kind: "plain", name: "amount", type: number },
          { kind: "plain", name: "currency", type: string, optional: true },
        ],
        fields: {
          amount: { type: number },
          currency: { type: string },
          hidden: { type: number },
          cents: { type: number },
        },
      },
    });
  });

  it.each(refused.map(([type, message], at) => ({ type, message, index: forms.length + at })))(
    "$type is refused",
    ({ message, index }) => {
      expect(problemsAt(index)).toEqual([message]);
      expect(typeAt(index)).toBeUndefined();
    },
  );

  it("A type that unfolds without end is refused, with the beginning of its path", () => {
    const [message] = problemsAt(all.length - 1);
    expect(message).toMatch(
      /^x(?:\.next){15}.{4}…: its type unfolds without end: Nest contains 500 different instantiations of itself$/,
    );
  });

  it("An object of a library is refused by the first of what it has", () => {
    const { problems: found } = readAll('import * as z from "zod";', ["z.ZodString"]);
    expect(found).toHaveLength(5);
    expect(found[0]!.message).toMatch(/^f0: x\.\S+: a function can't arrive: '/);
  });

  it("A union of more than 50 types is refused if only trying tells them apart", () => {
    const many = (count: number, arm: (index: number) => string): string =>
      Array.from({ length: count }, (_, index) => arm(index)).join(" | ");
    const { problems: found } = readAll("", [
      many(50, (index) => `{ m${index}: string }`),
      many(51, (index) => `{ m${index}: string }`),
      many(300, (index) => `{ kind: ${index}; value: string }`),
      many(51, (index) => `\`${index}-\${string}\``),
      `{ kind: "a" } | { kind: "b" } | ${many(50, (index) => `{ kind?: "c"; m${index}: string }`)}`,
    ]);
    const says = "types that only trying tells apart can't be checked: at most 50";
    expect(found.map(({ message }) => message)).toEqual([
      `f1: x: a union of 51 ${says}`,
      `f3: x: a union of 51 ${says}`,
      `f4: x: a union of 52 ${says}`,
    ]);
  });

  it("A Buffer is noted, as a Uint8Array arrives", () => {
    expect(notes.map(({ message }) => message)).toEqual([
      `f${all.indexOf("Buffer")}: x: a Buffer arrives as a Uint8Array`,
    ]);
  });

  it("What takes anything is listed with the reason", () => {
    expect(unchecked).toEqual({
      [`f${all.indexOf("unknown")}`]: [{ path: "x", reason: "unknown" }],
      [`f${all.indexOf("any")}`]: [{ path: "x", reason: "any" }],
      [`f${all.indexOf("object")}`]: [{ path: "x", reason: "unknown" }],
    });
  });
});
