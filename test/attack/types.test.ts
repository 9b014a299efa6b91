// Arguments that haven't the types of their parameters, in every encoding, sent as bytes to each service: none
// reaches a procedure, or a constructor.

import { afterEach, describe, expect, it } from "vitest";

import type { TestProcedure } from "../_cluster.ts";
import { processorMs } from "../_processor-time.ts";
import { typedModules, type TypedProcedure } from "../_typed.ts";
import { application } from "./_application.ts";
import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, type RawRequest } from "./_sockets.ts";

let ran: unknown[][] = [];
let built: string[] = [];
afterEach(() => {
  ran = [];
  built = [];
});

class Person {
  readonly name: string;
  friend: Person | undefined;
  constructor(name: string) {
    built.push("Person");
    this.name = name;
  }
}
class Admin {
  rights = 0;
  constructor() {
    built.push("Admin");
  }
}

const typed = (name: string, signature: string): TypedProcedure => ({
  fqn: `a/${name}`,
  signature,
  in: { main: "public" },
  body:
    () =>
    async (...args: unknown[]) =>
      ran.push(args),
});
/** Those of every attack, whose types are their names'. */
const untyped = ({ parameters, ...procedure }: TestProcedure): TypedProcedure => ({
  ...procedure,
  signature: `(${(parameters ?? []).map((one) => ("name" in one ? `${one.name}?: any` : "")).join()})`,
});

const arms = Array.from({ length: 50 }, (_, index) => `{ a?: string; m${index}: number }`);

const sockets = await socketsForAll({
  modules: typedModules(
    [
      ...application.map(untyped),
      typed("order", "(lines: Line[], due: Date, admin = false)"),
      typed("walk", "(tree: Tree)"),
      typed(
        "limits",
        "(n?: number & Min<0> & Max<10>, i?: number & Int, t?: string & MaxLength<5>)",
      ),
      typed(
        "keyed",
        "(record?: Record<string, number>, map?: Map<string, number>, set?: Set<number>)",
      ),
      typed("draw", "(shape: Shape)"),
      typed("meet", "(person: Person)"),
      typed("pick", "(item: Many)"),
      typed("count", "(big: bigint)"),
      typed("pair", "(pair: [number, string?], ...rest: number[])"),
      typed("flag", "(on: boolean, level?: 1 | 2)"),
      typed("read", "(file: File, name?: string)"),
      typed("bytes", "(bytes: Uint8Array)"),
      typed("match", "(pattern: RegExp)"),
      typed("take", "({ sku, metres = 1 }: Line)"),
    ],
    {
      declarations: `
import type { Int, Max, MaxLength, Min } from "seamline/types";
export interface Line { sku: string; metres: number }
export interface Tree { at: number; next?: Tree; all?: Tree[] }
export type Shape = { kind: "circle"; r: number } | { kind: "square"; side: number };
export type Many = ${arms.join(" | ")};
export class Person { friend: Person | undefined; constructor(readonly name: string) {} }
export class Admin { rights = 0; }
`,
      classes: [
        {
          record: {
            key: "app/Person",
            module: "a/p",
            export: "Person",
            args: ["name"],
            fields: ["friend"],
          },
          constructor: Person,
        },
        {
          record: {
            key: "app/Admin",
            module: "a/q",
            export: "Admin",
            args: [],
            fields: ["rights"],
          },
          constructor: Admin,
        },
      ],
    },
  )(),
});

const post = (name: string, json: unknown, encoding?: string): RawRequest => ({
  target: `/rpc/a/${name}`,
  body: typeof json === "string" ? json : JSON.stringify(json),
  fields: encoding === undefined ? [] : [`x-svc-data-encoding: ${encoding}`],
});
const superjson = (name: string, json: object, meta: object = {}): RawRequest =>
  post(name, { json, meta: { v: 1, ...meta } }, "superjson");
const get = (name: string, query: string): RawRequest => ({ target: `/rpc/a/${name}?${query}` });
const form = (
  name: string,
  parts: Readonly<Record<string, string>>,
  file?: string,
): RawRequest => ({
  target: `/rpc/a/${name}`,
  method: "POST",
  fields: ["content-type: multipart/form-data; boundary=b"],
  body: [
    ...Object.entries(parts).map(
      ([key, value]) =>
        `--b\r\ncontent-disposition: form-data; name="${key}"${key === file ? '; filename="f"' : ""}\r\n\r\n${value}\r\n`,
    ),
    "--b--\r\n",
  ].join(""),
});
const instance = (key: string, args: object = {}, fields: object = {}): object => ({
  serialized: true,
  name: "class",
  key: `app/${key}`,
  args,
  fields,
});

const line = { sku: "a", metres: 1 };
const due = "2026-01-01";
const at = "2026-01-01T00:00:00.000Z";

const refused: [what: string, request: RawRequest, text: RegExp][] = [
  [
    "the order of a stranger",
    post("order", { lines: [{ metres: "12", isAdmin: true }], due, admin: "yes" }),
    /^lines\[0\]\.sku: missing\nlines\[0\]\.metres: expected number, got text\nadmin: expected boolean, got text$/,
  ],
  [
    "an object for a list",
    post("order", { lines: { 0: line, length: 1 }, due }),
    /^lines: expected a list, got an object/,
  ],
  [
    "a list for an object",
    post("order", { lines: [[line]], due }),
    /^lines\[0\]: expected an object, got a list/,
  ],
  [
    "null for an object",
    post("order", { lines: [null], due }),
    /^lines\[0\]: expected an object, got null/,
  ],
  ["a date that isn't", post("order", { lines: [], due: "2026-02-30" }), /^due: expected a date/],
  ["a number for a date", post("order", { lines: [], due: 0 }), /^due: expected a date/],
  [
    "a forged Date",
    post("order", { lines: [], due: { getTime: 1, toISOString: 1 } }),
    /^due: expected a date/,
  ],
  [
    "a key of a prototype",
    post("order", `{"lines":[{"__proto__":{"isAdmin":true}}],"due":"${due}"}`),
    /not allowed/,
  ],
  [
    "a constructor",
    post("order", `{"lines":[{"constructor":{"prototype":{}}}],"due":"${due}"}`),
    /not allowed/,
  ],
  ["inherited members", post("take", { toString: 1, sku: "a" }), /^Unknown parameter 'toString'/],
  [
    "a wrong one deep inside",
    post("walk", { tree: { at: 1, next: { at: 2, all: [{ at: 3 }, { at: "4" }] } } }),
    /^tree\.next\.all\[1\]\.at: expected number, got text/,
  ],
  [
    "a wrong one at a hundred levels",
    post("walk", `{"tree":${'{"at":1,"next":'.repeat(100)}1${"}".repeat(101)}`),
    /expected an object, got number/,
  ],
  ["too great a number", post("limits", { n: 11 }), /^n: expected at most 10, got 11/],
  ["infinity", post("limits", '{"n":1e999}'), /^n: expected a finite number/],
  [
    "NaN",
    post("limits", { n: { serialized: true, name: "Number", value: "NaN" } }, "serialized"),
    /n: expected a finite number/,
  ],
  ["a broken whole number", post("limits", { i: 1.5 }), /^i: expected a whole number/],
  ["too great a whole number", post("limits", { i: 2 ** 60 }), /^i: expected a whole number/],
  [
    "a text of too many characters",
    post("limits", { t: "😀".repeat(6) }),
    /^t: expected at most 5 characters/,
  ],
  [
    "another value in a record",
    post("keyed", { record: { a: 1, b: "2" } }),
    /^record\.b: expected number, got text/,
  ],
  [
    "a map with a wrong key",
    post("keyed", { map: [[1, 1]] }),
    /^map\.keys\(\): expected text, got number/,
  ],
  [
    "a set with a wrong item",
    post("keyed", { set: [1, "2"] }),
    /^set\.values\(\): expected number, got text/,
  ],
  [
    "an arm with another's members",
    post("draw", { shape: { kind: "circle", side: 1 } }),
    /^shape\.r: missing/,
  ],
  [
    "an unknown kind",
    post("draw", { shape: { kind: "__proto__" } }),
    /^shape\.kind: expected "circle" or "square"/,
  ],
  ["no arm of fifty", post("pick", { item: { a: "a" } }), /^item/],
  ["a number as bigint", post("count", { big: 2 ** 60 }), /^big: expected a whole number/],
  ["too many digits", post("count", { big: "1".repeat(20_000) }), /^big: more than 10000 digits/],
  ["an item too many", post("pair", { pair: [1, "a", 2] }), /^pair: expected 1 to 2 items, got 3/],
  [
    "a wrong rest",
    post("pair", { pair: [1], "...rest": [1, "2"] }),
    /^\.\.\.rest\[1\]: expected number, got text/,
  ],
  ["an array-like rest", post("pair", { pair: [1], "...rest": { length: 2 } }), /must be an array/],
  ["what isn't base64", post("bytes", { bytes: "Ä" }), /^bytes: expected text in base64/],
  ["a list of bytes", post("bytes", { bytes: [1, 2] }), /^bytes: expected text in base64/],
  [
    "a plain object for an instance",
    post("meet", { person: { name: "a" } }),
    /^person: expected an instance of 'app\/Person'/,
  ],
  [
    "a form in plain JSON",
    post("meet", { person: instance("Person", { 0: "a" }) }),
    /^person: expected an instance of 'app\/Person'/,
  ],
  ["text for a literal", get("flag", "on=true&level=3"), /^level: expected 1 or 2, got text/],
  ["text for a boolean", get("flag", "on=yes"), /^on: expected boolean, got text/],
  ["a number as text", get("limits", "n=0x5"), /^n: expected number, got text/],
  ["a number that no type takes as text", get("limits", "n=11"), /^n: expected at most 10, got 11/],
  ["two of a kind", get("flag", "on=true&on=false"), /^on: expected boolean, got a list/],
  [
    "text for an object",
    get("draw", "shape=%7B%22kind%22%3A%22circle%22%7D"),
    /^shape: expected an object, got text/,
  ],
  ["text for a file", form("read", { file: "x" }), /^file: expected a file, got text/],
  ["a file for text", form("read", { file: "x", name: "y" }, "name"), /expected/],
  ["a text for a number", form("limits", { n: "ten" }), /^n: expected number, got text/],
  [
    "text in the serialized encoding for a date",
    post("order", { lines: [], due }, "serialized"),
    /due: expected a Date, got text/,
  ],
  [
    "an instance of another class",
    post("meet", { person: instance("Admin") }, "serialized"),
    /person: 'app\/Admin' can't be here/,
  ],
  [
    "an instance with a wrong argument",
    post("meet", { person: instance("Person", { 0: 1 }) }, "serialized"),
    /person\.name: expected text, got number/,
  ],
  [
    "one with a wrong field inside",
    post(
      "meet",
      {
        person: instance(
          "Person",
          { 0: "a" },
          { friend: instance("Person", { 0: "b" }, { friend: 1 }) },
        ),
      },
      "serialized",
    ),
    /person\.friend\.friend: expected an instance/,
  ],
  [
    "an instance for a number",
    post("limits", { n: instance("Admin") }, "serialized"),
    /n: 'app\/Admin' can't be here/,
  ],
  [
    "a pattern",
    post(
      "match",
      { pattern: { serialized: true, name: "RegExp", source: "(a+)+$", flags: "" } },
      "serialized",
    ),
    /accepted from services only/,
  ],
  ["a pattern as text", post("match", { pattern: "/a/" }), /^pattern: expected a RegExp/],
  [
    "superjson with another type",
    superjson("order", { lines: [], due: "1" }, { values: { due: ["bigint"] } }),
    /due: expected a Date, got bigint/,
  ],
  [
    "superjson without a type",
    superjson("order", { lines: [], due }),
    /due: expected a Date, got text/,
  ],
  [
    "superjson with a set for a list",
    superjson("order", { lines: [line], due: at }, { values: { lines: ["set"], due: ["Date"] } }),
    /lines: expected a list, got a Set/,
  ],
  [
    "superjson with undefined in a list",
    superjson(
      "order",
      { lines: [null], due: at },
      { values: { "lines.0": ["undefined"], due: ["Date"] } },
    ),
    /lines\[0\]/,
  ],
  [
    "superjson with another class",
    superjson(
      "meet",
      { person: { args: {}, fields: {} } },
      { values: { person: [["class", "app/Admin"]] } },
    ),
    /can't be here/,
  ],
  [
    "superjson with one wrong object in two places",
    superjson(
      "walk",
      { tree: { at: 1, all: [{ at: "2" }, null] } },
      { referentialEqualities: { "tree.all.0": ["tree.all.1"] } },
    ),
    /tree\.all\[0\]\.at: expected number, got text/,
  ],
];

describe("arguments of other types:", () => {
  it.each(refused)("%s are refused", async (_, request, text) => {
    for (const { body } of await attack(sockets, callServices, bytesOf(request), 400)) {
      const [, encoded] = /"message":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
      expect(encoded === undefined ? body : JSON.parse(encoded)).toMatch(text);
    }
    expect([ran, built]).toEqual([[], []]);
  });
});

describe("what arrives", () => {
  it("has no members that no type names, whatever their names and wherever they stand", async () => {
    const node = { at: 1, isAdmin: true, toString: "x", valueOf: 1, hasOwnProperty: 2 };
    await attack(sockets, ["node"], bytesOf(post("walk", { tree: { ...node, all: [node] } })), 200);
    expect(ran).toEqual([[{ at: 1, all: [{ at: 1 }] }]]);
  });

  it("is the type's own value: no getter, no hole, no object for text", async () => {
    await attack(
      sockets,
      ["node"],
      bytesOf(post("keyed", { record: { a: 1 }, map: [["a", 1]], set: [1] })),
      200,
    );
    expect(ran).toEqual([[{ a: 1 }, new Map([["a", 1]]), new Set([1])]]);
  });

  it("may contain itself, if its type does", async () => {
    const cycle = superjson(
      "walk",
      { tree: { at: 1, next: null, more: 1 } },
      { referentialEqualities: [["tree.next"]] },
    );
    const { json, meta } = JSON.parse(cycle.body!) as { json: object; meta: object };
    const body = JSON.stringify({
      json,
      meta: { ...meta, referentialEqualities: { tree: ["tree.next"] } },
    });
    await attack(sockets, ["node"], bytesOf({ ...cycle, body }), 200);
    const [[tree]] = ran as [[{ next?: unknown }]];
    expect(tree).toEqual({ at: 1, next: tree });
  });
});

describe("the worst megabyte", () => {
  /** Objects that refer to the one before, deeper than any stack. */
  const chain = (length: number): RawRequest => {
    const all = Array.from({ length }, (_, index) =>
      index === 0 ? { at: 0 } : { at: 1, next: 0 },
    );
    const equal = Array.from({ length: length - 1 }, (_, index): [string, string[]] => [
      `tree.all.${index}`,
      [`tree.all.${index + 1}.next`],
    ]);
    return superjson(
      "walk",
      // Decoded after the list, and checked before it.
      { tree: { at: 1, all, next: { at: 1, next: { at: 1, next: null } } } },
      {
        referentialEqualities: {
          ...Object.fromEntries(equal),
          [`tree.all.${length - 1}`]: ["tree.next.next.next"],
        },
      },
    );
  };

  it.each<[string, RawRequest, readonly number[]]>([
    ["items that are wrong", post("order", { lines: Array(200_000).fill(1), due }), [400]],
    [
      "unknown members",
      post("order", {
        lines: [Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]))],
        due,
      }),
      [400],
    ],
    [
      "objects for fifty arms",
      post("pick", { item: { a: "a", m49: Array(100_000).fill(0) } }),
      [400],
    ],
    ["digits", post("count", { big: "1".repeat(1_000_000) }), [400]],
    ["base64 with an end that isn't", post("bytes", { bytes: `${"A".repeat(1_000_000)}!` }), [400]],
    [
      "instances",
      post(
        "meet",
        {
          person: instance(
            "Person",
            { 0: "a" },
            { friend: Array.from({ length: 9_000 }, () => instance("Person", { 0: "a" })) },
          ),
        },
        "serialized",
      ),
      [400],
    ],
    ["references deeper than the stack", chain(14_000), [400]],
  ])("of %s is refused, in time", async (_, request, expected) => {
    const began = processorMs();
    await attack(sockets, ["node"], bytesOf(request), expected);
    expect(processorMs() - began).toBeLessThan(2_000);
    expect(ran).toEqual([]);
  });
});
