import { describe, expect, it } from "vitest";
import { checksOf, Money } from "./_check.ts";

const declarations = `
import type { Format, Int, Max, MaxLength, Min, MinLength, Pattern } from "seamline/types";
export interface Line { sku: string; metres: number; note?: string }
interface Tree { value: string; children: Tree[] }
interface Linked { next?: Linked; to: string }
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Loose = { a: string; x?: number } | { b: number; y?: number };
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Without<T, U> = { [P in Exclude<keyof T, keyof U>]?: never };
type XOR<T, U> = T extends object ? (U extends object ? (Without<T, U> & U) | (Without<U, T> & T) : U) : T;
enum Level { low, high = 10 }
export class Money { constructor(readonly amount: number, readonly currency = "EUR") {} }
`;

const circular: { to: string; next?: unknown } = { to: "a" };
circular.next = circular;
const wrongCircular: { to: string; next?: unknown } = { to: "a" };
wrongCircular.next = { to: 1, next: wrongCircular };

/** A type, values that pass, and values with the text of their refusal. */
const rows: [type: string, right: unknown[], wrong: [value: unknown, text: string][]][] = [
  [
    "string",
    ["", "a"],
    [
      [1, "x: expected text, got number"],
      [undefined, "x: expected text, got undefined"],
    ],
  ],
  [
    "number",
    [0, Number.NaN, -Infinity],
    [
      ["1", "x: expected number, got text"],
      [1n, "x: expected number, got bigint"],
    ],
  ],
  [
    "boolean",
    [true],
    [
      ["true", "x: expected boolean, got text"],
      [0, "x: expected boolean, got number"],
    ],
  ],
  ["bigint", [1n], [[1, "x: expected bigint, got number"]]],
  ["null", [null], [[undefined, "x: expected null, got undefined"]]],
  ["never", [], [[1, "x: expected nothing, got number"]]],
  ["unknown", [1, null, undefined, {}], []],
  ["{}", [1, "", {}, []], [[null, "x: expected a value, got null"]]],
  ["object", [{}, [], new Date()], [["", "x: expected an object, got text"]]],
  [
    '"red" | "blue" | 3',
    ["red", 3],
    [
      ["green", 'x: expected "blue", "red" or 3, got "green"'],
      [null, 'x: expected "blue", "red" or 3, got null'],
    ],
  ],
  [
    "1n | 2n",
    [1n, 2n],
    [
      [3n, "x: expected 1n or 2n, got 3n"],
      [1, "x: expected 1n or 2n, got number"],
    ],
  ],
  ["Level", [0, 10], [[1, "x: expected 0 or 10, got 1"]]],
  [
    "`a-${number}`",
    ["a-1", "a--1.5"],
    [
      ["a-", 'x: expected text of the form a-{number}, got "a-"'],
      ["b-1", 'x: expected text of the form a-{number}, got "b-1"'],
    ],
  ],
  [
    "`${string}-${string}`",
    ["-", "a-b-c"],
    [["ab", 'x: expected text of the form {text}-{text}, got "ab"']],
  ],
  [
    "`ab${string}ba`",
    ["abba", "abcba"],
    [["aba", 'x: expected text of the form ab{text}ba, got "aba"']],
  ],
  [
    "{ valueOf?: string }",
    [{}, { valueOf: "" }],
    [[{ valueOf: 1 }, "x.valueOf: expected text, got number"]],
  ],
  ["Uppercase<string>", ["", "AB1"], [["Ab", 'x: expected text in upper case, got "Ab"']]],
  [
    "string[]",
    [[], ["a"]],
    [
      ["a", "x: expected a list, got text"],
      [["a", 1], "x[1]: expected text, got number"],
      [{ 0: "a", length: 1 }, "x: expected a list, got an object"],
    ],
  ],
  [
    "[string, number?]",
    [["a"], ["a", 1], ["a", undefined]],
    [
      [[], "x: expected 1 to 2 items, got 0"],
      [["a", "b"], "x[1]: expected number, got text"],
    ],
  ],
  [
    "[string, ...number[], boolean]",
    [
      ["a", true],
      ["a", 1, 2, true],
    ],
    [
      [["a"], "x: expected at least 2 items, got 1"],
      [["a", 1, 2], "x[2]: expected boolean, got number"],
    ],
  ],
  [
    "Line",
    [
      { sku: "a", metres: 1 },
      { sku: "a", metres: 1, note: undefined },
    ],
    [
      [{ metres: "12" }, "x.sku: missing\nx.metres: expected number, got text"],
      [null, "x: expected an object, got null"],
      [[], "x: expected an object, got a list"],
      [new Map(), "x: expected an object, got a Map"],
      [{ sku: "a", metres: 1, note: null }, "x.note: expected text, got null"],
    ],
  ],
  [
    "Line[]",
    [[]],
    [
      [
        [{ sku: "a", metres: 1 }, { sku: 1 }],
        "x[1].sku: expected text, got number\nx[1].metres: missing",
      ],
    ],
  ],
  [
    "{ toString: string; 'a b'?: number }",
    [{ toString: "" }],
    [
      [{}, "x.toString: missing"],
      [{ toString: "", "a b": "" }, 'x["a b"]: expected number, got text'],
    ],
  ],
  [
    "Record<string, number>",
    [{}, { a: 1 }],
    [[{ "a-b": "" }, 'x["a-b"]: expected number, got text']],
  ],
  ["{ [id: number]: string }", [{ 1: "a" }], [[{ 1: 1 }, 'x["1"]: expected text, got number']]],
  [
    "Shape",
    [{ kind: "circle", radius: 1 }],
    [
      [{ kind: "circle", side: 1 }, "x.radius: missing"],
      [{ kind: "oval" }, 'x.kind: expected "circle" or "square", got "oval"'],
      [{}, 'x.kind: expected "circle" or "square", got undefined'],
      [3, "x: expected an object, got number"],
    ],
  ],
  [
    "Loose",
    [{ a: "" }, { b: 1 }],
    [
      [{ a: 1 }, "x.a: expected text, got number"],
      [{}, "x.a: missing"],
      [{ a: 1, x: "", b: 1, y: "" }, "x.y: expected number, got text"],
    ],
  ],
  [
    "string | Line[] | null",
    [null, "", []],
    [
      [[1], "x[0]: expected an object, got number"],
      [1, "x: expected a list, null or text, got number"],
    ],
  ],
  [
    "string[] | number[]",
    [["a"], [1], []],
    [[[true], "x: fits none of the 2 types that it may have"]],
  ],
  [
    "XOR<{ a: string }, { b: number; c?: string }>",
    [{ a: "" }, { b: 1 }],
    [[{ a: "", b: 1 }, "x.a: expected nothing, got text"]],
  ],
  [
    "Tree",
    [{ value: "", children: [{ value: "", children: [] }] }],
    [[{ value: "", children: [{ value: "" }] }, "x.children[0].children: missing"]],
  ],
  ["Linked", [{ to: "" }, circular], [[wrongCircular, "x.next.to: expected text, got number"]]],
  [
    "Json",
    [null, [1, { a: [true] }]],
    [
      [
        { a: [1n] },
        "x.a[0]: expected a list, boolean, null, number, an object or text, got bigint",
      ],
    ],
  ],
  [
    "Date",
    [new Date(), new Date(Number.NaN)],
    [
      ["2026-01-01", "x: expected a Date, got text"],
      [{}, "x: expected a Date, got an object"],
    ],
  ],
  [
    "Map<string, number>",
    [new Map([["a", 1]])],
    [
      [new Map<unknown, unknown>([[1, 1]]), "x.keys(): expected text, got number"],
      [new Map([["a", ""]]), 'x.get("a"): expected number, got text'],
      [{}, "x: expected a Map, got an object"],
    ],
  ],
  [
    "Set<number>",
    [new Set([1])],
    [
      [new Set([""]), "x.values(): expected number, got text"],
      [[1], "x: expected a Set, got a list"],
    ],
  ],
  [
    "Uint8Array",
    [new Uint8Array()],
    [
      [new Uint16Array(), "x: expected a Uint8Array, got a Uint16Array"],
      [[1], "x: expected a Uint8Array, got a list"],
    ],
  ],
  [
    "ArrayBufferView",
    [new Uint16Array(), new DataView(new ArrayBuffer(1))],
    [[new ArrayBuffer(1), "x: expected an ArrayBufferView, got an ArrayBuffer"]],
  ],
  ["URL", [new URL("https://a.b")], [["https://a.b", "x: expected a URL, got text"]]],
  [
    "File | Blob",
    [new Blob([]), new File([], "a")],
    [["", "x: expected a Blob or a file, got text"]],
  ],
  [
    "Money | null",
    [new Money(1), null],
    [
      [
        { amount: 1, currency: "EUR" },
        `x: expected an instance of 'app/Money' or null, got an object: send {"serialized":true,"name":"class","key":"app/Money","args":{…},"fields":{…}} with x-svc-data-encoding: serialized`,
      ],
    ],
  ],
  [
    "number & Min<0> & Max<10>",
    [0, 10, 0.5],
    [
      [-1, "x: expected at least 0, got -1"],
      [11, "x: expected at most 10, got 11"],
      [Number.NaN, "x: expected a finite number, got NaN"],
      ["1", "x: expected number, got text"],
    ],
  ],
  [
    "number & Int",
    [1, -0],
    [
      [1.5, "x: expected a whole number, got 1.5"],
      [2 ** 53, "x: expected a whole number, got 9007199254740992"],
    ],
  ],
  [
    "string & MinLength<2> & MaxLength<3>",
    ["ab", "a😀", "😀😀😀"],
    [
      ["a", 'x: expected at least 2 characters, got "a"'],
      ["😀", 'x: expected at least 2 characters, got "😀"'],
      ["abcd", 'x: expected at most 3 characters, got "abcd"'],
    ],
  ],
  [
    "string & MaxLength<9> & Pattern<'^a+$'>",
    ["aa"],
    [["ab", 'x: expected a text that matches ^a+$, got "ab"']],
  ],
  [
    "string & Format<'email'>",
    ["ada@example.org"],
    [
      ["ada", 'x: expected an email address, got "ada"'],
      ["a@b c", 'x: expected an email address, got "a@b c"'],
    ],
  ],
  [
    "string & Format<'date'>",
    ["2026-02-28"],
    [["2026-02-30", 'x: expected a date (YYYY-MM-DD), got "2026-02-30"']],
  ],
  [
    "string & Format<'uuid'>",
    ["12345678-1234-1234-1234-123456789abc"],
    [["1", 'x: expected a UUID, got "1"']],
  ],
  ["string[] & MinLength<1>", [["a"]], [[[], "x: expected at least 1 item, got 0"]]],
];

const keptForms: [type: string, value: unknown, arrives: unknown][] = [
  ["Line[]", [{ sku: "a", metres: 1, isAdmin: true }], [{ sku: "a", metres: 1 }]],
  ["Shape", { kind: "circle", radius: 1, side: 1 }, { kind: "circle", radius: 1 }],
  ["Loose", { a: "", x: 1, y: 2, z: 3 }, { a: "", x: 1 }],
  ["Loose", { a: "", b: 1, x: 1, y: 2, z: 3 }, { a: "", b: 1, x: 1, y: 2 }],
  [
    "{ a: { b: string } } & { a: { c: string } }",
    { a: { b: "", c: "", d: "" }, e: 1 },
    { a: { b: "", c: "" } },
  ],
  ["Record<string, Line>", { x: { sku: "a", metres: 1, more: 1 } }, { x: { sku: "a", metres: 1 } }],
  ["{ [key: `x-${string}`]: number; y: string }", { "x-a": 1, y: "", z: 1 }, { "x-a": 1, y: "" }],
  [
    "Map<string, Line>",
    new Map([["a", { sku: "a", metres: 1, more: 1 }]]),
    new Map([["a", { sku: "a", metres: 1 }]]),
  ],
  ["Set<Line>", new Set([{ sku: "a", metres: 1, more: 1 }]), new Set([{ sku: "a", metres: 1 }])],
  ["[Line, ...Line[]]", [{ sku: "a", metres: 1, more: 1 }], [{ sku: "a", metres: 1 }]],
  ["unknown[]", [{ more: 1 }], [{ more: 1 }]],
  ["{ a: object; b: {} }", { a: { more: 1 }, b: { more: 1 } }, { a: { more: 1 }, b: { more: 1 } }],
];

const types = [...rows.map(([type]) => type), ...keptForms.map(([type]) => type)];
const { check, outcome } = checksOf(declarations, types);
const at = (type: string): number => types.indexOf(type);

describe("checks", () => {
  describe.each(rows.map(([type, right, wrong], index) => ({ type, right, wrong, index })))(
    "of $type",
    ({ right, wrong, index }) => {
      it("pass values of the type as they are", () => {
        for (const value of right) {
          const result = check(index, value);
          expect(result).toEqual({ positions: [value], dropped: [] });
          expect("positions" in result && result.positions[0]).toBe(value);
        }
      });

      it("refuse other values, and say where and why", () => {
        expect(wrong.map(([value]) => outcome(index, value))).toEqual(
          wrong.map(([, text]) => text),
        );
      });
    },
  );

  it("list at most 20 faults", () => {
    const text = outcome(
      at("string[]"),
      Array.from({ length: 30 }, () => 1),
    );
    expect(String(text).split("\n")).toHaveLength(21);
    expect(text).toMatch(/x\[19\]: expected text, got number\nand more$/);
  });

  it("cut values and paths", () => {
    expect(outcome(at('"red" | "blue" | 3'), "g".repeat(100))).toBe(
      `x: expected "blue", "red" or 3, got "${"g".repeat(40)}"… (100 characters)`,
    );
    const text = String(outcome(at("Record<string, number>"), { ["k".repeat(1_000)]: "" }));
    expect(text).toMatch(/^x\.k+…k+: expected number, got text$/);
    expect(text.split(": ")[0]!.length).toBeLessThanOrEqual(256);
  });

  it("write keys of a message so that they can't pass for more of the text", () => {
    expect(outcome(at("Record<string, number>"), { ".a\nb: fine": "", "[0]": "" })).toBe(
      'x[".a\\nb: fine"]: expected number, got text\nx["[0]"]: expected number, got text',
    );
  });

  it("show nothing of a value where errors are masked", () => {
    const masked = { masked: true };
    expect(outcome(at('"red" | "blue" | 3'), "secret", masked)).toBe(
      'x: expected "blue", "red" or 3, got text of 6 characters',
    );
    expect(outcome(at("number & Min<0> & Max<10>"), 42, masked)).toBe(
      "x: expected at most 10, got number",
    );
    expect(outcome(at("Map<string, number>"), new Map([["secret", ""]]), masked)).toBe(
      "x.get(text of 6 characters): expected number, got text",
    );
  });
});

describe("members that no type names", () => {
  const kept = keptForms.map(([type, value, arrives], index) => ({
    type,
    value,
    arrives,
    index: rows.length + index,
  }));

  it.each(kept)("are dropped from $type", ({ value, arrives, index }) => {
    const before = structuredClone(value);
    expect(outcome(index, value)).toEqual(arrives);
    expect(value).toEqual(before);
  });

  it.each(kept)("stay in $type if they are kept", ({ value, index }) => {
    expect(outcome(index, value, { extra: "keep" })).toBe(value);
  });

  it("are refused by their path if they are refused", () => {
    const refuse = { extra: "refuse" } as const;
    expect(outcome(at("Line[]"), [{ sku: "a", metres: 1, isAdmin: true }], refuse)).toBe(
      "x[0].isAdmin: unknown",
    );
    expect(outcome(at("Shape"), { kind: "circle", radius: 1, side: 1 }, refuse)).toBe(
      "x.side: unknown",
    );
    expect(outcome(at("Loose"), { b: 1, x: 1 }, refuse)).toBe("x.x: unknown");
    expect(outcome(at("Loose"), { b: 1, y: 1 }, refuse)).toEqual({ b: 1, y: 1 });
  });

  it("are dropped once from objects that a message shares, and from those that contain themselves", () => {
    const line = { sku: "a", metres: 1, more: 1 };
    const [first, second] = outcome(at("Line[]"), [line, line]) as object[];
    expect(first).toEqual({ sku: "a", metres: 1 });
    expect(second).toBe(first);
    const linked: { to: string; next?: unknown; more: 1 } = { to: "a", more: 1 };
    linked.next = linked;
    const arrived = outcome(at("Linked"), linked) as typeof linked;
    expect(Object.keys(arrived).toSorted()).toEqual(["next", "to"]);
    expect(arrived.next).toBe(arrived);
  });

  it("stay in instances, whose class says what they have", () => {
    class Own {
      sku = "a";
      metres = 1;
      more = 1;
    }
    const own = new Own();
    expect(outcome(at("Line"), own)).toBe(own);
  });

  it("can't reach a prototype", () => {
    const value = JSON.parse(
      '{ "a": { "sku": "a", "metres": 1, "more": 1 }, "__proto__": { "sku": "a", "metres": 1 } }',
    ) as object;
    const arrived = outcome(at("Record<string, Line>"), value) as object;
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
    expect(arrived).toEqual({ a: { sku: "a", metres: 1 } });
  });
});
