// Values that superjson writes as one string or list, checked as strictly as serialized forms.
// superjson itself is less strict: given `1e9` for a typed array, it allocates a gigabyte, and it
// takes anything between two slashes for a pattern.

import { Fault } from "../values/fault.ts";
import type { ValueLimits } from "../../base/limits.ts";
import { bigIntFrom, regExpFrom, specialNumber, urlFrom } from "../values/scalars.ts";

type NumberArray = { new (items: ArrayLike<number>): ArrayLike<number> & object };

/** The typed arrays that superjson knows, by name. */
export const numberArrays: ReadonlyMap<string, NumberArray> = new Map(
  [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
  ].map((type) => [type.name, type]),
);

/** A typed array of these numbers. Throws a {@link Fault} for a number that it can't hold. */
export function numberArrayFrom(name: string, raw: unknown): object {
  const Kind = numberArrays.get(name);
  if (Kind === undefined) throw new Fault(`there is no typed array '${name.slice(0, 64)}'`);
  // A number would make an array of that length.
  if (!Array.isArray(raw)) throw new Fault(`a ${name} must be a list of numbers`);
  const array = new Kind(raw as number[]);
  const changed = raw.findIndex((number, index) => !Object.is(number, array[index]));
  if (changed >= 0) throw new Fault(`a ${name} can't hold number ${changed} of the list`);
  return array;
}

/** The value of text, or null, with an annotation. Throws a {@link Fault}. */
export function scalarFrom(type: string, raw: unknown, limits: ValueLimits): unknown {
  if (type === "undefined") {
    if (raw !== null) throw new Fault("undefined must be null");
    return undefined;
  }
  if (typeof raw !== "string") throw new Fault(`a ${type} must be a string`);
  switch (type) {
    case "number": {
      const number = specialNumber(raw);
      if (number === undefined) break;
      return number;
    }
    case "bigint": {
      const integer = bigIntFrom(raw, limits);
      if (integer === undefined) break;
      return integer;
    }
    case "Date": {
      const date = new Date(raw);
      // Accept only text that a Date writes: February 30, for example, would become another day.
      if (Number.isNaN(date.getTime()) || date.toISOString() !== raw) break;
      return date;
    }
    case "URL": {
      const url = urlFrom(raw);
      if (url === undefined) break;
      return url;
    }
    case "regexp": {
      const end = raw.lastIndexOf("/");
      const expression =
        raw.startsWith("/") && end > 0
          ? regExpFrom(raw.slice(1, end), raw.slice(end + 1))
          : undefined;
      if (expression === undefined) break;
      return expression;
    }
    default:
  }
  throw new Fault(`this is not a valid ${type}`);
}
