// Every kind of parameter: each procedure returns its arguments.
import type { Person } from "../people/people.ts";

export async function none(): Promise<string> {
  return "ran";
}

export async function plain(first: unknown, second: unknown): Promise<unknown> {
  return [first, second];
}

/** One parameter is optional by its default, one by its question mark. */
export async function optional(
  a: unknown,
  b: unknown = "b by default",
  c?: unknown,
): Promise<unknown> {
  return [a, b, c === undefined ? "no c" : c];
}

export async function object({
  width: across,
  height = 2,
}: {
  width: number;
  height?: number;
}): Promise<number> {
  return across * height;
}

export async function whole(
  { a = 1, b = 2 }: { a?: number; b?: number } = { a: 7, b: 8 },
): Promise<unknown> {
  return [a, b];
}

/** Only the defaults say which types these are. */
export async function untyped(
  number = 0,
  flag = false,
  big = -1n,
  { text = "0", days = [new Date(0)] } = {},
): Promise<unknown> {
  return [number + 1, !flag, typeof big, text + 1, days];
}

export async function array([first, , third = 3]: readonly [
  unknown,
  unknown?,
  unknown?,
]): Promise<unknown> {
  return [first, third];
}

export async function rest(by: string, ...names: readonly string[]): Promise<string> {
  return names.join(by);
}

export async function mixed(
  a: number,
  { b, c = 3 }: { b: number; c?: number },
  [d]: readonly [number],
  e: number = 5,
  ...f: readonly number[]
): Promise<unknown> {
  return [a, b, c, d, e, f];
}

export async function typed(
  number: number,
  flag?: boolean,
  big?: bigint,
  day?: Date,
): Promise<unknown> {
  return [number, flag, big, day];
}

export async function lists(
  numbers: readonly number[] = [],
  flags: boolean[] = [],
  bigs: Array<bigint> = [],
  days: Date[] = [],
  texts: string[] = [],
): Promise<unknown> {
  return [numbers, flags, bigs, days, texts];
}

/** Parameters named like inherited properties. */
export async function inherited(
  toString: unknown,
  valueOf: unknown = "no value",
): Promise<unknown> {
  return [toString, valueOf];
}

/** Its parameter has the name of the query parameter that selects a version. */
export async function edition(version: string = "none"): Promise<string> {
  return `edition ${version}`;
}

/** Takes a class instance with private state. */
export async function meet(who: Person): Promise<string> {
  return `${who.name}, born ${who.born?.getUTCFullYear() ?? "some day"}`;
}

export async function kindOf(value: unknown): Promise<string> {
  return value === null
    ? "null"
    : typeof value === "object"
      ? value.constructor.name
      : typeof value;
}

/** Whether a cycle arrives as a cycle. */
export async function closes(value: { readonly a: readonly unknown[] }): Promise<boolean> {
  return value.a[0] === value;
}

/** Omits a required argument, or passes `undefined`, as only untyped code can. */
export async function half(how: string): Promise<unknown> {
  const { second } = await import("../calls/second.ts");
  const untyped = second as (...values: unknown[]) => Promise<unknown>;
  return how === "left out" ? await untyped(1) : await untyped(1, undefined);
}
