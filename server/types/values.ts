// Questions about single values and types, for generated checks and for the explanation of faults.

import type { BinaryType, Literal, Member, ParameterType, Type, TypeModel } from "./model.ts";

/** The type of an object with members, of a list, and so on: its values have parts. */
export type ObjectType = Type & { readonly kind: "object" };
export type TupleType = Type & { readonly kind: "tuple" };
export type ArrayType = Type & { readonly kind: "array" };

/** A plain object, or an instance of an application's class; not a list or a built-in. */
export function isDataObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === Object.prototype ||
    prototype === null ||
    (!Array.isArray(value) && Object.prototype.toString.call(value) === "[object Object]")
  );
}

/** A member of an object, unless it comes from Object.prototype. */
export function memberOf(value: object, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(value, name)
    ? undefined
    : (value as Record<string, unknown>)[name];
}

/** Whether values of a type have parts that may be shared, or lead back to it. */
export function hasParts({ kind }: Type): boolean {
  return /^(?:array|tuple|object|map|set|union)$/.test(kind);
}

/**
 * Types whose values have parts, in the order in which generated code tests them. They are told apart by
 * identity: each stands in the model once.
 */
export function testedTypes(model: TypeModel): Type[] {
  const found: Type[] = [];
  const add = (type: Type): void => {
    if (!hasParts(type)) return;
    found.push(type);
    partsOf(type).forEach(add);
  };
  Object.values(model.definitions).forEach(add);
  usedTypes(model).forEach(add);
  return found;
}

/** The types of parameters and fields. */
function usedTypes({ classes, functions }: Pick<TypeModel, "classes" | "functions">): Type[] {
  return [
    ...Object.values(classes).flatMap(({ parameters, fields }) => [
      ...parameters.flatMap(typesOf),
      ...Object.values(fields).map(({ type }) => type),
    ]),
    ...Object.values(functions)
      .flat()
      .flatMap(({ parameters }) => parameters.flatMap(typesOf)),
  ];
}

/** The type of a parameter, or the types of the names in its pattern. */
export function typesOf(parameter: ParameterType): readonly Type[] {
  return parameter.kind === "plain" || parameter.kind === "rest"
    ? [parameter.type]
    : parameter.names.flatMap((name) => name?.type ?? []);
}

/** The part of a model that the calls of one of its functions need. */
export function modelOf({ functions, classes, definitions }: TypeModel, id: string): TypeModel {
  const own = { functions: { [id]: functions[id]! }, classes };
  const reached = new Map<string, Type>();
  const open = usedTypes(own);
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (type.kind !== "ref") open.push(...partsOf(type));
    else if (!reached.has(type.to) && Object.hasOwn(definitions, type.to)) {
      reached.set(type.to, definitions[type.to]!);
      open.push(definitions[type.to]!);
    }
  }
  return { ...own, definitions: Object.fromEntries(reached) };
}

/** The types of a value's parts. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "array":
    case "set":
      return [type.items];
    case "map":
      return [type.keys, type.values];
    case "tuple": {
      const { first, rest, last = [] } = type;
      return [...first.map((item) => item.type), ...(rest === undefined ? [] : [rest]), ...last];
    }
    case "object": {
      const { members, index = [] } = type;
      return [
        ...Object.values(members).map((member) => member.type),
        ...index.map(({ values }) => values),
      ];
    }
    case "union":
      return type.arms;
    default:
      return [];
  }
}

/** Whether a type, or a type of parts of its values, passes a test. `known` caches results. */
export function reaches(
  { definitions }: Pick<TypeModel, "definitions">,
  type: Type,
  test: (type: Type) => boolean,
  known: WeakMap<Type, boolean>,
): boolean {
  let result = known.get(type);
  if (result === undefined) {
    const seen = new Set<string>();
    const seek = (part: Type): boolean => {
      if (part.kind !== "ref") return test(part) || partsOf(part).some(seek);
      if (seen.has(part.to)) return false;
      seen.add(part.to);
      return Object.hasOwn(definitions, part.to) && seek(definitions[part.to]!);
    };
    known.set(type, (result = seek(type)));
  }
  return result;
}

export function isLiteral(literal: Literal, value: unknown): boolean {
  return typeof literal === "object"
    ? typeof value === "bigint" && String(value) === literal.bigint
    : literal === value;
}

/** The bound that a number breaks, as a message says it; `undefined` if it breaks none. */
export function brokenBound(
  { min, max, int }: Type & { readonly kind: "number" },
  value: number,
): string | undefined {
  if (min === undefined && max === undefined && !int) return undefined;
  if (!Number.isFinite(value)) return "a finite number";
  if (int && !Number.isSafeInteger(value)) return "a whole number";
  if (min !== undefined && value < min) return `at least ${min}`;
  return max !== undefined && value > max ? `at most ${max}` : undefined;
}

/** How many items a list had to have; `undefined` if it has as many. */
export function brokenLength(
  { minLength = 0, maxLength = Infinity }: ArrayType,
  length: number,
): string | undefined {
  if (length < minLength) return `at least ${items(minLength)}`;
  return length > maxLength ? `at most ${items(maxLength)}` : undefined;
}

/** As {@link brokenLength}, of a tuple. */
export function brokenCount(
  { first, rest, last = [] }: TupleType,
  length: number,
): string | undefined {
  const least = first.filter(({ optional }) => !optional).length + last.length;
  if (rest !== undefined) return length < least ? `at least ${items(least)}` : undefined;
  const most = first.length;
  if (length >= least && length <= most) return undefined;
  return least === most ? items(most) : `${least} to ${items(most)}`;
}

function items(count: number): string {
  return count === 1 ? "1 item" : `${count} items`;
}

/** The type of an item of a tuple with so many items. */
export function itemOf(
  { first, rest, last = [] }: TupleType,
  index: number,
  length: number,
): Member {
  if (index < first.length) return first[index]!;
  const fromEnd = index - (length - last.length);
  return { type: (fromEnd >= 0 ? last[fromEnd] : rest) ?? { kind: "never" } };
}

const views: Readonly<Record<BinaryType, new (buffer: ArrayBuffer) => object>> = {
  ArrayBuffer,
  ArrayBufferView: Uint8Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
  Float32Array,
  Float64Array,
  Int16Array,
  Int32Array,
  Int8Array,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  Uint8ClampedArray,
};

export function isBinary(type: BinaryType, value: unknown): boolean {
  return type === "ArrayBufferView" ? ArrayBuffer.isView(value) : value instanceof views[type];
}

/** Bytes as a value of a binary type; `undefined` if their number doesn't fit it. */
export function binaryOf(type: BinaryType, bytes: Uint8Array): object | undefined {
  const View = views[type];
  const buffer = new Uint8Array(bytes).buffer;
  const size = (View as { readonly BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  if (buffer.byteLength % size !== 0) return undefined;
  return type === "ArrayBuffer" ? buffer : new View(buffer);
}

/** A type whose values are those of a built-in class. */
export type Leaf = "date" | "url" | "regexp" | "file" | "blob" | "form";

// Functions, since Node loads a library when the name `FormData` is first used.
const leaves: Readonly<Record<Leaf, (value: unknown) => boolean>> = {
  date: (value) => value instanceof Date,
  url: (value) => value instanceof URL,
  regexp: (value) => value instanceof RegExp,
  file: (value) => value instanceof File,
  blob: (value) => value instanceof Blob,
  form: (value) => value instanceof FormData,
};

export function isLeaf(kind: Leaf, value: unknown): boolean {
  return leaves[kind](value);
}

/** The name of a built-in class with its article: `an Int8Array`, `a Uint8Array`, `a URL`. */
function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}

/** The kind of a value, in the words of a message. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return "text";
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) return "a list";
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (tag === "Object") return "an object";
  return withArticle(tag);
}

const ownPhrases: Readonly<Partial<Record<Type["kind"], string>>> = {
  never: "nothing",
  unknown: "anything",
  defined: "a value",
  nonprimitive: "an object",
  string: "text",
  array: "a list",
  tuple: "a list",
  object: "an object",
  map: "a Map",
  set: "a Set",
  url: "a URL",
  regexp: "a RegExp",
  file: "a file",
  blob: "a Blob",
  form: "a FormData",
};

const plainPhrases: Readonly<Partial<Record<Type["kind"], string>>> = {
  bigint: "a whole number, or text of one",
  date: "a date (ISO 8601)",
  map: "a list of pairs",
  set: "a list",
  url: "text of a URL",
  binary: "text in base64",
  regexp: "a RegExp, which needs an encoding",
};

const textForms: ReadonlySet<Type["kind"]> = new Set(["bigint", "binary", "date", "url"]);

/** The arms of a union that are text in plain JSON, though their values aren't: two can't be told apart. */
export function convertedTexts(arms: readonly Type[]): Type[] {
  return arms.filter(({ kind }) => textForms.has(kind));
}

/** The most arms or literals that a message names. */
const maxNamed = 6;

/** The values that a type takes, in the words of a message. */
export function phraseOf(type: Type, resolve: (type: Type) => Type, plain: boolean): string {
  const phrases = namedBy(type, resolve, plain);
  const shown = phrases.length > maxNamed ? [...phrases.slice(0, maxNamed), "…"] : phrases;
  return shown.length < 2
    ? (shown[0] ?? "nothing")
    : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

function namedBy(reference: Type, resolve: (type: Type) => Type, plain: boolean): string[] {
  const type = resolve(reference);
  switch (type.kind) {
    case "literals":
      return type.values.map((value) =>
        typeof value === "object" ? `${value.bigint}n` : JSON.stringify(value),
      );
    case "union":
      return [...new Set(type.arms.flatMap((arm) => namedBy(arm, resolve, plain)))];
    case "template":
      return [`text of the form ${type.parts.map(holeName).join("")}`];
    case "binary":
      return [plain ? plainPhrases.binary! : withArticle(type.type)];
    case "instance":
      return [`an instance of '${type.key}'`];
    default:
      return [
        (plain ? plainPhrases[type.kind] : undefined) ?? ownPhrases[type.kind] ?? wordOf(type.kind),
      ];
  }
}

function wordOf(kind: Type["kind"]): string {
  return kind === "date" ? "a Date" : kind;
}

function holeName(part: string | Type): string {
  return typeof part === "string" ? part : `{${part.kind === "string" ? "text" : part.kind}}`;
}
