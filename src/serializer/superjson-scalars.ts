// What superjson writes as one text or list, checked as strictly as a serialized form, and more strictly than superjson does: to it a
// typed array of 1e9 is a gigabyte, and a pattern is whatever stands between two slashes.

import { attempt, Fault } from "./fault.ts";
import type { ValueLimits } from "./limits.ts";

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
  ].map((one) => [one.name, one]),
);

/** The array of these numbers. Throws a {@link Fault} unless each is one that it can hold. */
export function numberArrayFrom(name: string, raw: unknown): object {
  const Kind = numberArrays.get(name);
  if (Kind === undefined) throw new Fault(`there is no typed array '${name.slice(0, 64)}'`);
  // From a number, one would be made that is so long.
  if (!Array.isArray(raw)) throw new Fault(`a ${name} must be a list of numbers`);
  const array = new Kind(raw as number[]);
  const strange = raw.findIndex((one, index) => !Object.is(one, array[index]));
  if (strange >= 0) throw new Fault(`number ${strange} is none that a ${name} holds`);
  return array;
}

/** The value of an annotation that stands on text or null; `undefined` is one. Throws a {@link Fault}. */
export function scalarFrom(type: string, raw: unknown, limits: ValueLimits): unknown {
  if (type === "undefined") {
    if (raw !== null) throw new Fault("undefined must be null");
    return undefined;
  }
  if (typeof raw !== "string") throw new Fault(`a ${type} must be text`);
  switch (type) {
    case "number":
      if (!/^(NaN|-?Infinity|-0)$/.test(raw)) break;
      return Number(raw);
    case "bigint":
      if (!/^-?\d+$/.test(raw)) break;
      if (raw.replace("-", "").length > limits.digits)
        throw new Fault(`more than ${limits.digits} digits (limit 'digits')`);
      return BigInt(raw);
    case "Date": {
      const date = new Date(raw);
      // What a date writes itself. Others, a 30th of February for one, would become a different text.
      if (Number.isNaN(date.getTime()) || date.toISOString() !== raw) break;
      return date;
    }
    case "URL": {
      const url = attempt(() => new URL(raw));
      if (url === undefined) break;
      return url;
    }
    case "regexp": {
      const end = raw.lastIndexOf("/");
      const expression =
        raw.startsWith("/") && end > 0
          ? attempt(() => new RegExp(raw.slice(1, end), raw.slice(end + 1)))
          : undefined;
      if (expression === undefined) break;
      return expression;
    }
    default:
  }
  throw new Fault(`this is no ${type}`);
}
