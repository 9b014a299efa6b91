// The worst messages of 1 MiB and 100,000 values for each form of types.

import { describe, expect, it } from "vitest";
import type { CheckOptions } from "../../../server/types/check.ts";
import { processorMs } from "../../_processor-time.ts";
import { checksOf } from "./_check.ts";

const arms = Array.from({ length: 50 }, (_, index) => `{ a?: string; m${index}: number }`);
const declarations = `
import type { Format, MaxLength, Pattern } from "seamline/types";
type Overlapping = { next?: Overlapping; x: 1 } | { next?: Overlapping; y: 2 } | { next?: Overlapping; z: 3 };
type OverlappingLists = { items: OverlappingLists[]; x: 1 } | { items: OverlappingLists[]; y: 2 };
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Many = ${arms.join(" | ")};
interface Line { sku: string; metres: number }
type Dated = { at: Date; next?: Dated } | { at: Date; last: true };
`;

const mebi = 2 ** 20;
const many = (count: number, make: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => make(index));
const nested = (depth: number, make: (inner: unknown) => unknown, innermost: unknown): unknown => {
  let value = innermost;
  for (let level = 0; level < depth; level++) value = make(value);
  return value;
};
const chain = nested(120, (next) => ({ next, x: 1, y: 2, z: 3 }), { next: 1 });
const lists = nested(60, (inner) => ({ items: [inner, inner, inner, inner], x: 1, y: 2 }), {
  items: [],
  x: 0,
});
const wideLists = { x: 1, y: 2, items: many(12_000, () => ({ items: [], x: 1, y: 2 })) };

const worst: [what: string, type: string, value: unknown, options?: Partial<CheckOptions>][] = [
  ["a template's holes", "`${string}a${string}a${string}b`", "a".repeat(mebi)],
  ["adjacent holes", "`${string}${string}${number}`", "1".repeat(mebi)],
  ["digits in a template", "`${number}-${bigint}`", `${"1".repeat(mebi)}-`],
  ["a text in lower case", "Uppercase<string>", `${"A".repeat(mebi)}a`],
  ["a text of surrogates", "string & MaxLength<600000>", "😀".repeat(mebi / 4)],
  ["a long text for a pattern", "string & MaxLength<4000> & Pattern<'^(a|b)*c'>", "a".repeat(mebi)],
  ["an address without an end", "string & Format<'email'>", `${"a.".repeat(mebi / 2)}@`],
  ["texts against many literals", "('a' | 'b' | 'c' | 'd' | 'e' | 'f')[]", many(90_000, () => "g")],
  [
    "right items before a wrong one",
    "Line[]",
    [...many(33_000, () => ({ sku: "a", metres: 1 })), 1],
  ],
  ["wrong items", "Line[]", many(50_000, () => ({ sku: 1 }))],
  ["unknown members", "Line[]", many(25_000, () => ({ sku: "", metres: 1, a: 1 }))],
  [
    "an object with many unknown members",
    "Line",
    Object.fromEntries(many(60_000, (index) => [`k${index}`, 1]) as [string, number][]),
  ],
  [
    "keys of a record",
    "Record<`x-${string}-${number}`, number>",
    Object.fromEntries(
      many(45_000, (index) => [`x-${"-".repeat(8)}${index}`, ""]) as [string, string][],
    ),
  ],
  ["objects that fit the last of 50 arms", "Many[]", many(30_000, () => ({ m49: 1 }))],
  ["objects that fit none of 50 arms", "Many[]", many(45_000, () => ({ z: 1 }))],
  ["arms that overlap, deep", "Overlapping", chain],
  ["arms that overlap, shared", "OverlappingLists", lists],
  ["arms that overlap, wide", "OverlappingLists", wideLists],
  ["nested lists", "Json", nested(120, (inner) => [inner, ...many(300, () => [1])], 1n)],
  ["a wide record", "Json", many(33_000, () => ({ a: null }))],
  ["dates", "Date[]", many(40_000, () => "2026-02-29T00:00:00Z"), { plain: true }],
  [
    "dates in arms",
    "Dated",
    nested(120, (next) => ({ at: "2026-01-01", next }), { at: "x", last: true }),
    { plain: true },
  ],
  ["digits of a bigint", "bigint", "1".repeat(mebi), { plain: true, maxDigits: 10_000 }],
  ["what isn't base64", "Uint8Array", `${"A".repeat(mebi - 1)}!`, { plain: true }],
  ["a URL", "URL", `https://${"a.".repeat(mebi / 2)}`, { plain: true }],
  [
    "pairs",
    "Map<string, Date>",
    many(30_000, (index) => [String(index), "2026-01-01"]),
    { plain: true },
  ],
  [
    "lists that share a list",
    "number[][][][]",
    nested(
      3,
      (inner) => many(1_000, () => inner),
      many(1_000, () => 1),
    ),
  ],
];

/** The time to write, read and visit a message of 1 MiB once: a slower machine needs longer for all of it. */
function plainMs(): number {
  const members = Object.fromEntries(
    many(45_000, (at) => [`x-${"-".repeat(8)}${at}`, ""]) as [string, string][],
  );
  const started = processorMs();
  const keys = Object.keys(JSON.parse(JSON.stringify(members)) as object);
  expect(keys.every((key) => /^x-.*-\d+$/.test(key))).toBe(true);
  return processorMs() - started;
}

describe("a check of the worst 1 MiB", () => {
  const { check } = checksOf(
    declarations,
    worst.map(([, type]) => type),
  );

  it.each(
    worst.map(([what, type, value, options], index) => ({ what, type, value, options, index })),
  )(
    "takes at most 50 ms, or half as long again as plain JSON here: $what",
    ({ value, options, index }) => {
      let quickest = Infinity;
      let plain = Infinity;
      for (let run = 0; run < 10 && quickest >= 50; run++) {
        if (run > 1) plain = Math.min(plain, plainMs());
        const started = processorMs();
        check(index, value, { isTree: index !== worst.length - 1, ...options });
        quickest = Math.min(quickest, processorMs() - started);
      }
      // Half as long again: two quickest runs differ by chance.
      expect(quickest).toBeLessThan(plain === Infinity ? 50 : Math.max(50, 1.5 * plain));
    },
  );
});
