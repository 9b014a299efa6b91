import { describe, expect, it } from "vitest";
import { fromFields } from "../../../server/types/convert.ts";
import { createMatcher } from "../../../server/types/match.ts";
import { checksOf } from "./_check.ts";

const declarations = `
export interface Order { due: Date; lines: { sku: string; until?: Date }[] }
interface Linked { at: Date; next?: Linked }
type Event = { kind: "at"; at: Date } | { kind: "in"; in: bigint };
type Loose = { a: Date } | { a: URL };
enum Level { low, high = 10 }
export class Money { constructor(readonly amount: number) {} }
`;

const day = new Date("2026-12-01T00:00:00Z");

/** A type, plain JSON of it, and the value that arrives, or the text of a refusal. */
const rows: [type: string, json: unknown, arrives: unknown][] = [
  ["Date", "2026-12-01", day],
  ["Date", "2026-12-01T01:00:00+01:00", day],
  ["Date", "2026-12-01T00:00:00.000Z", day],
  ["Date", "2026-12-01T00:00:00", "x: expected a date (ISO 8601), got text"],
  ["Date", "2026-02-30", "x: expected a date (ISO 8601), got text"],
  ["Date", "soon", "x: expected a date (ISO 8601), got text"],
  ["Date", 0, "x: expected a date (ISO 8601), got number"],
  [
    "Order",
    { due: "2026-12-01", lines: [{ sku: "2026-12-01", until: "2026-12-01", more: 1 }] },
    { due: day, lines: [{ sku: "2026-12-01", until: day }] },
  ],
  [
    "Order",
    { due: "soon", lines: [{ until: 1 }] },
    "x.due: expected a date (ISO 8601), got text\nx.lines[0].sku: missing\nx.lines[0].until: expected a date (ISO 8601), got number",
  ],
  ["Linked", { at: "2026-12-01", next: { at: "2026-12-01" } }, { at: day, next: { at: day } }],
  ["bigint", "-12", -12n],
  ["bigint", 12, 12n],
  ["bigint", 1.5, "x: expected a whole number, or text of one, got number"],
  ["bigint", "1.5", "x: expected a whole number, or text of one, got text"],
  ["bigint", "-1234567890", -1234567890n],
  ["bigint", "-12345678901", "x: more than 10 digits (limit 'maxDigits')"],
  ["bigint", "12345678901.5", "x: expected a whole number, or text of one, got text"],
  ["bigint | null", "12345678901", "x: more than 10 digits (limit 'maxDigits')"],
  [
    "{ ids: bigint[] }",
    { ids: ["12345678901"] },
    "x.ids[0]: more than 10 digits (limit 'maxDigits')",
  ],
  ["number", "12", "x: expected number, got text"],
  ["boolean", "true", "x: expected boolean, got text"],
  ["URL", "https://a.b/c", new URL("https://a.b/c")],
  ["URL", "a", "x: expected text of a URL, got text"],
  ["Set<Date>", ["2026-12-01"], new Set([day])],
  ["Map<bigint, Date>", [["1", "2026-12-01"]], new Map([[1n, day]])],
  ["Map<string, Date>", { a: "2026-12-01" }, "x: expected a list of pairs, got an object"],
  ["Uint8Array", "AQI=", new Uint8Array([1, 2])],
  ["Uint8Array", "AQI", "x: expected text in base64, got text"],
  ["Uint16Array", "AQI=", new Uint16Array([513])],
  ["Uint16Array", "AQ==", "x: expected text in base64, got text"],
  ["ArrayBuffer", "AQI=", new Uint8Array([1, 2]).buffer],
  ["Record<string, Date>", { a: "2026-12-01" }, { a: day }],
  ["[Date, ...bigint[]]", ["2026-12-01", "1", 2], [day, 1n, 2n]],
  ["Date | string", "2026-12-01", "2026-12-01"],
  ["Date | null", null, null],
  ["Date | number", "2026-12-01", day],
  [
    "Date | bigint",
    "12",
    "x: plain JSON can't tell a whole number, or text of one from a date (ISO 8601): send it with x-svc-data-encoding",
  ],
  ["Date | bigint", 12, 12n],
  [
    "{ at: Date | URL }[]",
    [{ at: "2026-12-01" }],
    "x[0].at: plain JSON can't tell a date (ISO 8601) from text of a URL: send it with x-svc-data-encoding",
  ],
  ["Date | URL | string", "2026-12-01", "2026-12-01"],
  ["Date | URL | null", null, null],
  ["Date[] | string", ["2026-12-01"], [day]],
  [
    "Event[]",
    [
      { kind: "at", at: "2026-12-01" },
      { kind: "in", in: "1" },
    ],
    [
      { kind: "at", at: day },
      { kind: "in", in: 1n },
    ],
  ],
  ["Loose", { a: "https://a.b" }, { a: new URL("https://a.b") }],
  [
    "Money",
    { amount: 1 },
    `x: expected an instance of 'app/Money', got an object: send {"serialized":true,"name":"class","key":"app/Money","args":{…},"fields":{…}} with x-svc-data-encoding: serialized`,
  ],
];

/** A type, texts of one query parameter, and what they are. */
const fields: [type: string, texts: string[], value: unknown][] = [
  ["string", ["1"], "1"],
  ["number", ["1.5"], 1.5],
  ["number", ["0x10"], "0x10"],
  ["number", [""], ""],
  ["boolean", ["true"], true],
  ["bigint", ["12"], 12n],
  ["Date", ["2026-12-01"], day],
  ["URL", ["https://a.b"], new URL("https://a.b")],
  ["unknown", ["1"], "1"],
  ["string | number", ["1"], "1"],
  ["'all' | number", ["all"], "all"],
  ["'all' | number", ["5"], 5],
  ["1 | 2 | null", ["2"], 2],
  ["Level", ["10"], 10],
  ["'a' | string", ["b"], "b"],
  ["true | 'yes'", ["true"], true],
  ["1 | '1'", ["1"], "1"],
  ["number | Date", ["2026"], 2026],
  ["number | bigint", ["1"], "1"],
  ["number[]", ["1"], [1]],
  ["number[]", ["1", "2"], [1, 2]],
  ["number[]", ["1", "a"], [1, "a"]],
  ["string[]", ["1"], ["1"]],
  ["number | number[]", ["1"], 1],
  ["number | number[]", ["1", "2"], [1, 2]],
  ["number", ["1", "2"], ["1", "2"]],
  ["Set<number>", ["1", "2"], new Set([1, 2])],
  ["[number, boolean]", ["1", "true"], [1, true]],
  ["Date[]", ["2026-12-01", "soon"], [new Date("2026-12-01"), "soon"]],
];

const types = [...new Set([...rows.map(([type]) => type), ...fields.map(([type]) => type)])];
const { outcome, model, checks } = checksOf(declarations, types);

describe("plain JSON", () => {
  it.each(rows)("of %s: %j", (type, json, arrives) => {
    const before = structuredClone(json);
    const options = { plain: true, maxDigits: 10 };
    expect(outcome(types.indexOf(type), json, options)).toEqual(arrives);
    expect(json).toEqual(before);
  });
});

it("A value that contains itself, which a middleware may put in place of JSON, is refused or taken as it is", () => {
  const { outcome: of } = checksOf("interface Loop { at: Date; next?: Loop }", ["Loop"]);
  const loop: { at: unknown; next?: unknown } = { at: "2026-01-01" };
  loop.next = loop;
  expect(of(0, loop, { plain: true, isTree: false })).toBe(
    "x.next.at: expected a date (ISO 8601), got text",
  );
  loop.at = new Date(0);
  expect(of(0, loop, { plain: true, isTree: false })).toBe(loop);
});

describe("fields of queries and forms", () => {
  const matcher = createMatcher({ model, tests: checks.types, isInstance: () => false });

  it.each(fields)("of %s: %j", (type, texts, value) => {
    const parameter = model.functions[`f${types.indexOf(type)}`]![0]!.parameters[0]!;
    if (parameter.kind !== "plain") throw new Error(parameter.kind);
    expect(fromFields(parameter.type, texts, { matcher, maxDigits: 10 })).toEqual(value);
  });

  it("of files stay files", () => {
    const file = new File(["a"], "a.txt");
    expect(fromFields({ kind: "file" }, [file], { matcher, maxDigits: 10 })).toBe(file);
    const files = { kind: "array", items: { kind: "file" } } as const;
    expect(
      fromFields(files, [file], { matcher: { ...matcher, matches: () => true }, maxDigits: 10 }),
    ).toEqual([file]);
  });
});
