// JSON by a type → the serialized form, so that dates and collections inside JSON can be written as plain text and
// lists. The service judges what doesn't fit.

import { parsedUrl } from "../../../src/base/url.ts";
import type { CallTypes, Literal, Type } from "../../console-state.ts";
import { marked } from "./argument-values.ts";

export type Definitions = CallTypes["definitions"];

type ObjectType = Extract<Type, { kind: "object" }>;

/** The type that a name stands for. */
export function resolved(type: Type, definitions: Definitions): Type {
  let found = type;
  while (found.kind === "ref") found = definitions[found.to] ?? { kind: "unknown" };
  return found;
}

/** The types of a value, besides `undefined`: the arms of a union and of unions in it, or the type alone. */
export function armsOf(type: Type, definitions: Definitions): readonly Type[] {
  const { kind, ...found } = resolved(type, definitions);
  if (kind === "undefined") return [];
  return kind === "union" && "arms" in found
    ? found.arms.flatMap((arm) => armsOf(arm, definitions))
    : [type];
}

export function serialized(type: Type, value: unknown, definitions: Definitions): unknown {
  const [arm, ...others] = armsOf(type, definitions).map((each) => resolved(each, definitions));
  if (arm === undefined) return value;
  const found = [arm, ...others].reduce((best, each) =>
    fits(each, value) > fits(best, value) ? each : best,
  );
  return serializedAs(found, value, definitions);
}

/** The serialized form of a literal. */
export function literalValue(literal: Literal): unknown {
  return typeof literal === "object" ? marked("BigInt", { value: literal.bigint }) : literal;
}

/** An object's members as data, also if one of them would make it look like a form. */
export function dataOf(members: Readonly<Record<string, unknown>>): object {
  return members["serialized"] === true ? marked("Object", { value: members }) : members;
}

function serializedAs(type: Type, value: unknown, definitions: Definitions): unknown {
  // Written by hand.
  if (isForm(value) && !(type.kind === "object" && Object.hasOwn(type.members, "serialized")))
    return value;
  if (fits(type, value) === 0) return value;
  const inside = (part: Type, item: unknown): unknown => serialized(part, item, definitions);
  const items = value as readonly unknown[];
  switch (type.kind) {
    case "date":
      return marked("Date", { value: new Date(value as string).toISOString() });
    case "url":
      return marked("Url", { value });
    case "bigint":
      return marked("BigInt", { value: String(value) });
    case "binary": {
      const kind = type.type === "ArrayBufferView" ? "Uint8Array" : type.type;
      return marked("Binary", { type: kind, base64: value });
    }
    case "array":
      return items.map((item) => inside(type.items, item));
    case "set":
      return marked("Set", { values: items.map((item) => inside(type.items, item)) });
    case "map": {
      const pairs = items as readonly (readonly [unknown, unknown])[];
      const keys = pairs.map(([key]) => inside(type.keys, key));
      const values = pairs.map(([, item]) => inside(type.values, item));
      return marked("Map", { entries: { keys, values } });
    }
    case "tuple": {
      const { first, rest = { kind: "unknown" } } = type;
      return items.map((item, at) => inside(first[at]?.type ?? rest, item));
    }
    case "object": {
      const members = Object.entries(value as object).map(([key, item]) => [
        key,
        inside(memberType(type, key), item),
      ]);
      return dataOf(Object.fromEntries(members) as Record<string, unknown>);
    }
    default:
      return value;
  }
}

function memberType({ members, index = [] }: ObjectType, key: string): Type {
  if (Object.hasOwn(members, key)) return members[key]!.type;
  return index.length === 1 ? index[0]!.values : { kind: "unknown" };
}

const dateText = /^\d{4}-\d\d-\d\d(?:T.*(?:Z|[+-]\d\d:?\d\d))?$/;

/** How well JSON fits a type: not at all, once it is converted, as it is. */
function fits(type: Type, value: unknown): 0 | 1 | 2 {
  const isText = typeof value === "string";
  switch (type.kind) {
    case "string":
    case "template":
      return isText ? 2 : 0;
    case "number":
    case "boolean":
      return typeof value === type.kind ? 2 : 0;
    case "null":
      return value === null ? 2 : 0;
    case "literals":
      return type.values.some((literal) => literal === value) ? 2 : 0;
    case "array":
    case "tuple":
      return Array.isArray(value) ? 2 : 0;
    case "object":
      return isObject(value) && fitsMembers(type, value) ? 2 : 0;
    case "date":
      return isText && dateText.test(value) && !Number.isNaN(Date.parse(value)) ? 1 : 0;
    case "url":
      return isText && parsedUrl(value) !== undefined ? 1 : 0;
    case "bigint":
      return (isText && /^-?\d+$/.test(value)) || Number.isSafeInteger(value) ? 1 : 0;
    case "binary":
      return isText ? 1 : 0;
    case "set":
      return Array.isArray(value) ? 1 : 0;
    case "map":
      return Array.isArray(value) && value.every(isPair) ? 1 : 0;
    default:
      return 0;
  }
}

/** Members that tell the arms of a union apart; and all that it needs are there. */
function fitsMembers({ members }: ObjectType, value: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(members).every(([key, { type, optional }]) =>
    Object.hasOwn(value, key)
      ? type.kind !== "literals" || type.values.some((literal) => literal === value[key])
      : optional === true,
  );
}

function isForm(value: unknown): boolean {
  return isObject(value) && value["serialized"] === true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2;
}
