// Converts values of types that plain JSON, a query or a form can't express. A value that doesn't convert
// stays as it is, and the check reports it.

import { parsedUrl } from "../../src/base/url.ts";
import { indexTypes, type Matcher } from "./match.ts";
import type { BinaryType, Type, TypeModel } from "./model.ts";
import { dateOf, digitsOf } from "./text-rules.ts";
import { binaryOf, convertedTexts, itemOf, memberOf, reaches } from "./values.ts";

export interface ConvertOptions {
  readonly model: Pick<TypeModel, "definitions">;
  readonly matcher: Pick<Matcher, "matches" | "resolve" | "candidates">;
  /** The most digits of a bigint. */
  readonly maxDigits: number;
}

/**
 * A value of plain JSON, read by its type: a Date from ISO 8601, a bigint from decimal text or a safe
 * integer, a URL from text, a Set from a list, a Map from a list of pairs, bytes from base64.
 */
export function createConvert({
  model,
  matcher,
  maxDigits,
}: ConvertOptions): (type: Type, value: unknown) => unknown {
  const { matches, resolve, candidates } = matcher;
  const converted = new Map<object, Map<Type, unknown>>();
  return convert;

  function convert(reference: Type, value: unknown): unknown {
    const type = resolve(reference);
    if (!converts(model, type)) return value;
    if (typeof value !== "object" || value === null)
      return type.kind === "union" ? convertUnion(type, value) : leafOf(type, value, maxDigits);
    const types = converted.get(value) ?? new Map<Type, unknown>();
    const known = types.get(type);
    if (known !== undefined) return known;
    // Maps to itself until it is converted: values that middleware has set may be cyclic.
    converted.set(value, types.set(type, value));
    const result = convertParts(type, value);
    types.set(type, result);
    return result;
  }

  function convertParts(type: Type, value: object): unknown {
    switch (type.kind) {
      case "union":
        return convertUnion(type, value);
      case "array":
        return Array.isArray(value) ? mapped(value, (item) => convert(type.items, item)) : value;
      case "tuple":
        return Array.isArray(value)
          ? mapped(value, (item, index) => convert(itemOf(type, index, value.length).type, item))
          : value;
      case "set":
        return Array.isArray(value)
          ? new Set(value.map((item: unknown) => convert(type.items, item)))
          : value;
      case "map":
        return Array.isArray(value) && value.every(isPair)
          ? new Map(
              value.map(([key, item]) => [convert(type.keys, key), convert(type.values, item)]),
            )
          : value;
      case "object": {
        if (Array.isArray(value)) return value;
        let copy: Record<string, unknown> | undefined;
        for (const name of Object.keys(value)) {
          const member = Object.hasOwn(type.members, name) ? type.members[name]?.type : undefined;
          const memberType = member ?? indexTypes(type, name)[0];
          if (memberType === undefined) continue;
          const item = memberOf(value, name);
          const result = convert(memberType, item);
          if (result !== item) (copy ??= { ...value })[name] = result;
        }
        return copy ?? value;
      }
      default:
        return value;
    }
  }

  /**
   * A value that fits unconverted stays. Otherwise it must convert to exactly one arm; of several object
   * arms, the first counts.
   */
  function convertUnion(type: Type & { readonly kind: "union" }, value: unknown): unknown {
    const { arms } = type;
    const possible = candidates(arms, value);
    if (possible.length === 1) return convert(possible[0]!, value);
    if (possible.length > 1 && matches(type, value)) return value;
    const all = arms
      .map(resolve)
      .flatMap((part) => (part.kind === "union" ? part.arms.map(resolve) : [part]));
    // Don't guess from the text: `1234` is base64 too, and the next value may not be.
    if (typeof value === "string" && convertedTexts(all).length > 1) return value;
    const found = all.flatMap((arm) => {
      const result = convert(arm, value);
      return result !== value && matches(arm, result) ? [result] : [];
    });
    const isClear = found.length === 1 || (found.length > 1 && !Array.isArray(value));
    return isClear ? found[0] : value;
  }
}

const convertible = new WeakMap<Type, boolean>();

const convertedKinds: ReadonlySet<Type["kind"]> = new Set([
  "bigint",
  "binary",
  "date",
  "map",
  "set",
  "url",
]);

/** Whether values of a type, or parts of them, have no form of their own in plain JSON. */
export function converts(model: Pick<TypeModel, "definitions">, type: Type): boolean {
  return reaches(model, type, ({ kind }) => convertedKinds.has(kind), convertible);
}

function mapped(
  list: readonly unknown[],
  convert: (item: unknown, index: number) => unknown,
): unknown[] | readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const result = convert(item, index);
    if (result !== item) (copy ??= [...list])[index] = result;
  }
  return copy ?? list;
}

function isPair(item: unknown): item is [unknown, unknown] {
  return Array.isArray(item) && item.length === 2;
}

function leafOf(type: Type, value: unknown, maxDigits: number): unknown {
  if (type.kind === "bigint" && Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value !== "string") return value;
  switch (type.kind) {
    case "date":
      return dateOf(value) ?? value;
    case "bigint":
      return bigintOf(value, maxDigits) ?? value;
    case "url":
      return parsedUrl(value) ?? value;
    case "binary":
      return bytesOf(type.type, value) ?? value;
    default:
      return value;
  }
}

function bigintOf(text: string, maxDigits: number): bigint | undefined {
  const digits = digitsOf(text) ?? Infinity;
  return digits <= maxDigits ? BigInt(text) : undefined;
}

function bytesOf(type: BinaryType, text: string): object | undefined {
  // `Buffer.from` takes anything, and drops what isn't base64.
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text);
  return isBase64
    ? binaryOf(type === "ArrayBufferView" ? "Uint8Array" : type, Buffer.from(text, "base64"))
    : undefined;
}

/**
 * The value of a query parameter or form field, which came once or several times; the texts themselves
 * where they don't convert. Literals first; a union with `string` stays text; else the only arm counts
 * that converts.
 */
export function fromFields(
  reference: Type,
  fields: readonly (string | Blob)[],
  { matcher: { resolve, matches }, maxDigits }: Omit<ConvertOptions, "model">,
): unknown {
  const whole: unknown = fields.length === 1 ? fields[0] : fields;
  const found = new Set<unknown>();
  const arms = flat(reference);
  const lists = arms.filter(isList);
  const single = arms.filter((arm) => !isList(arm));
  if (fields.length === 1) {
    const [field] = fields;
    if (typeof field !== "string")
      return lists.length > 0 && single.length === 0 ? listOf(lists[0]!) : field;
    const result = textOf(single, field);
    if (result !== undefined) return result;
  }
  for (const list of lists) {
    const value = listOf(list);
    if (matches(list, value)) found.add(value);
  }
  if (found.size === 1) return [...found][0];
  // Then only those items are refused that don't convert.
  const [only] = lists;
  return lists.length === 1 && single.length === 0 ? listOf(only!) : whole;

  function flat(type: Type): Type[] {
    const target = resolve(type);
    return target.kind === "union" ? target.arms.flatMap(flat) : [target];
  }

  function listOf(list: ListType): unknown {
    const items = fields.map((field, index) => {
      const type = list.kind === "tuple" ? itemOf(list, index, fields.length).type : list.items;
      return typeof field === "string" ? (textOf(flat(type), field) ?? field) : field;
    });
    return list.kind === "set" ? new Set(items) : items;
  }

  function textOf(possible: readonly Type[], text: string): unknown {
    for (const arm of possible)
      if (arm.kind === "literals") {
        const literal = arm.values.find(
          (value) => (typeof value === "object" ? value.bigint : String(value)) === text,
        );
        if (literal !== undefined)
          return typeof literal === "object" ? BigInt(literal.bigint) : literal;
      }
    if (possible.some(({ kind }) => textKinds.has(kind))) return text;
    const values = possible.flatMap((arm) => {
      const value = fieldOf(arm, text, maxDigits);
      return value === undefined ? [] : [value];
    });
    return values.length === 1 ? values[0] : undefined;
  }
}

type ListType = Extract<Type, { readonly kind: "array" | "tuple" | "set" }>;

function isList(type: Type): type is ListType {
  return type.kind === "array" || type.kind === "tuple" || type.kind === "set";
}

/** The kinds of which a text itself can be a value. */
const textKinds: ReadonlySet<Type["kind"]> = new Set(["string", "template", "unknown", "defined"]);

function fieldOf(type: Type, text: string, maxDigits: number): unknown {
  switch (type.kind) {
    // Decimal numbers as in JSON, plus `+1`, `.5` and `1.`. `Number` alone would accept `0x10` and spaces
    // as well.
    case "number":
      return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) &&
        Number.isFinite(Number(text))
        ? Number(text)
        : undefined;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    default: {
      const value = leafOf(type, text, maxDigits);
      return value === text ? undefined : value;
    }
  }
}
