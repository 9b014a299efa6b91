// What a build learns of a module.

import { describe as suite, expect, it } from "vitest";

import { describe } from "./_harness.ts";

suite("exports", () => {
  it.each<[source: string, expected: [name: string, kind: string, ownName: string | undefined][]]>([
    ["export async function a() {}", [["a", "async", "a"]]],
    [
      "async function a() {}\nexport { a as b, a as default }",
      [
        ["b", "async", "a"],
        ["default", "async", "a"],
      ],
    ],
    ["const a = async () => {};\nexport default a", [["default", "async", "a"]]],
    ["export default async function () {}", [["default", "async", undefined]]],
    ["export default async () => {}", [["default", "async", undefined]]],
    ["export default async function a() {}", [["default", "async", "a"]]],
    [
      "export const a = async function b() {}, c = function* () {}, d = async function* () {}",
      [
        ["a", "async", "b"],
        ["c", "sync", "c"],
        ["d", "async-generator", "d"],
      ],
    ],
    [
      "export const a = w(async function b() {}), c = w(() => {}), d = w;",
      [
        ["a", "other", "a"],
        ["c", "other", "c"],
        ["d", "other", "d"],
      ],
    ],
    [
      "export default w(async () => {}) as () => Promise<void>",
      [["default", "wrapped", undefined]],
    ],
    ["export const a: () => Promise<void> = w(async function b() {});", [["a", "wrapped", "a"]]],
    [
      "export class A {}\nexport const b = class C {}, d = class {};\nexport default class {}",
      [
        ["A", "class", "A"],
        ["b", "class", "C"],
        ["d", "class", "d"],
        ["default", "class", undefined],
      ],
    ],
    [
      "export enum E {}\nexport namespace N { export const a = 1 }\nexport let a, { b, c: [d], ...e } = x;",
      [
        ["E", "other", "E"],
        ["N", "other", "N"],
        ["a", "other", "a"],
        ["b", "other", "b"],
        ["d", "other", "d"],
        ["e", "other", "e"],
      ],
    ],
    [
      "export type A = 1;\nexport interface B {}\nexport declare const c: 1;\ntype D = 1; export { D }; export type { D as E };\nexport default interface F {}",
      [],
    ],
    ["export function a(): void;\nexport function a() {}", [["a", "sync", "a"]]],
  ])("%s", (source, expected) => {
    expect(describe(source).exports.map((one) => [one.name, one.kind, one.ownName])).toEqual(
      expected,
    );
  });

  it("tells where re-exports come from", () => {
    const source = `
      import a, { b as c } from "./x"; import * as d from "./y"; import type { T } from "./t";
      export { a, c, d, T };
      export { e as f, default, type U } from "./z";
      export * as g from "./v"; export * from "./w"; export type { H } from "./t"; export type * from "./t";
    `;
    const { exports, starReexports } = describe(source);
    expect(exports.map((one) => [one.name, one.kind, one.from])).toEqual([
      ["a", "reexport", { specifier: "./x", name: "default" }],
      ["c", "reexport", { specifier: "./x", name: "b" }],
      ["d", "reexport", { specifier: "./y", name: "*" }],
      ["f", "reexport", { specifier: "./z", name: "e" }],
      ["default", "reexport", { specifier: "./z", name: "default" }],
      ["g", "reexport", { specifier: "./v", name: "*" }],
    ]);
    expect(starReexports).toEqual(["./w"]);
  });

  it("tells where an export stands", () => {
    expect(describe("\n  export async function a() {}").exports[0]).toMatchObject({
      line: 2,
      column: 10,
    });
  });
});

suite("§2.1 parameters", () => {
  const plain = (name: string, more = {}): object => ({ kind: "plain", name, ...more });
  const optional = { optional: true };

  it.each<[list: string, expected: object[]]>([
    ["", []],
    [
      "this: Context, a, b?: string, c = 1",
      [plain("a"), plain("b", optional), plain("c", optional)],
    ],
    ["...names: string[]", [{ kind: "rest", name: "names" }]],
    [
      "{ a, b: c, 'd': e, f = 1, g: h = 2 }",
      [
        {
          kind: "object",
          names: [
            { name: "a" },
            { name: "b" },
            { name: "d" },
            { name: "f", ...optional },
            { name: "g", ...optional },
          ],
        },
      ],
    ],
    ["{ a } = {}", [{ kind: "object", names: [{ name: "a" }], ...optional }]],
    [
      "[a, , b = 1] = []",
      [{ kind: "array", names: [{ name: "a" }, null, { name: "b", ...optional }], ...optional }],
    ],
    [
      "{}, []",
      [
        { kind: "object", names: [] },
        { kind: "array", names: [] },
      ],
    ],
    [
      "{ a, b, c }: { a: number; b?: Date; 'c': string }",
      [
        {
          kind: "object",
          names: [
            { name: "a", type: "number" },
            { name: "b", ...optional, type: "Date" },
            { name: "c" },
          ],
        },
      ],
    ],
    [
      "{ from, to }: Period",
      [
        {
          kind: "object",
          names: [
            { name: "from", type: "Date" },
            { name: "to", ...optional, type: "Date" },
          ],
        },
      ],
    ],
    ["{ n }: Alias", [{ kind: "object", names: [{ name: "n", type: "bigint" }] }]],
    [
      "[a, b]: [number, boolean?]",
      [
        {
          kind: "array",
          names: [
            { name: "a", type: "number" },
            { name: "b", ...optional, type: "boolean" },
          ],
        },
      ],
    ],
    [
      "[a, b]: [x: number, y?: Date]",
      [
        {
          kind: "array",
          names: [
            { name: "a", type: "number" },
            { name: "b", ...optional, type: "Date" },
          ],
        },
      ],
    ],
    ["[a]: readonly number[]", [{ kind: "array", names: [{ name: "a", type: "number" }] }]],
  ])("(%s)", (list, expected) => {
    const source = `interface Period { from: Date; to?: Date }\ntype Alias = { n: bigint };\nexport async function f(${list}) {}`;
    const [found] = describe(source).exports;
    expect(found?.problems).toEqual([]);
    expect(found?.parameters).toEqual(expected);
  });

  it.each<[annotation: string, type: string | undefined]>([
    ["number", "number"],
    ["boolean", "boolean"],
    ["bigint", "bigint"],
    ["Date", "Date"],
    ["string", undefined],
    ["number[]", "number[]"],
    ["Array<Date>", "Date[]"],
    ["ReadonlyArray<boolean>", "boolean[]"],
    ["readonly bigint[]", "bigint[]"],
    ["string[]", "string[]"],
    ["(number)", "number"],
    ["number | undefined", "number"],
    ["null | Date[]", "Date[]"],
    ["number | string", undefined],
    ["Quantity", "number"],
    ["Quantity[]", "number[]"],
    ["Loop", undefined],
    ["unknown", undefined],
    ["Person", undefined],
    ["number[][]", undefined],
    ["1 | 2", undefined],
  ])("takes text for a parameter of type %s as %s", (annotation, type) => {
    const source = `type Quantity = number; type Loop = Loop[]["0"] | undefined; export const f = async (a: ${annotation}, b: ${annotation} = x) => {};`;
    const kind = type === undefined ? {} : { type };
    expect(describe(source).exports[0]?.parameters).toEqual([
      { kind: "plain", name: "a", ...kind },
      { kind: "plain", name: "b", optional: true, ...kind },
    ]);
  });
});

suite("imports", () => {
  it("are told with their names, and whether they are types only", () => {
    const source = `
      import a, { b as c, type T } from "./1"; import * as d from "./2"; import "./3"; import type { U } from "./4"; import { type V } from "./5"; import {} from "./6";
      const e = () => import("./7"), f = import(\`./8\`), g = import(a);
    `;
    expect(describe(source).imports).toEqual([
      {
        specifier: "./1",
        typeOnly: false,
        names: [
          { imported: "default", local: "a" },
          { imported: "b", local: "c" },
          { imported: "T", local: "T" },
        ],
      },
      { specifier: "./2", typeOnly: false, names: [{ imported: "*", local: "d" }], unused: true },
      { specifier: "./3", typeOnly: false, names: [] },
      { specifier: "./4", typeOnly: true, names: [{ imported: "U", local: "U" }] },
      { specifier: "./5", typeOnly: true, names: [{ imported: "V", local: "V" }] },
      { specifier: "./6", typeOnly: false, names: [] },
      { specifier: "./7", typeOnly: false, names: [], dynamic: true },
      { specifier: "./8", typeOnly: false, names: [], dynamic: true },
    ]);
  });

  it.each([
    'import("./x")',
    "import ( './x' )",
    'import/* why */("./x")',
    "import // why\n('./x')",
  ])("are found as %s", (written) => {
    expect(describe(`export const load = () => ${written};`).imports).toEqual([
      { specifier: "./x", typeOnly: false, names: [], dynamic: true },
    ]);
  });
});
