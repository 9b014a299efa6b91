// A build's description of a module.

import { describe as suite, expect, it } from "vitest";

import { describe } from "./_harness.ts";

suite("the description of an export", () => {
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
  ])("has its kind and own name: %s", (source, expected) => {
    expect(
      describe(source).exports.map(({ name, kind, ownName }) => [name, kind, ownName]),
    ).toEqual(expected);
  });

  it("has the origin of a re-export", () => {
    const source = `
      import a, { b as c } from "./x"; import * as d from "./y"; import type { T } from "./t";
      export { a, c, d, T };
      export { e as f, default, type U } from "./z";
      export * as g from "./v"; export * from "./w"; export type { H } from "./t"; export type * from "./t";
    `;
    const { exports, starReexports } = describe(source);
    expect(exports.map(({ name, kind, from }) => [name, kind, from])).toEqual([
      ["a", "reexport", { specifier: "./x", name: "default" }],
      ["c", "reexport", { specifier: "./x", name: "b" }],
      ["d", "reexport", { specifier: "./y", name: "*" }],
      ["f", "reexport", { specifier: "./z", name: "e" }],
      ["default", "reexport", { specifier: "./z", name: "default" }],
      ["g", "reexport", { specifier: "./v", name: "*" }],
    ]);
    expect(starReexports).toEqual(["./w"]);
  });

  it("has its line and column", () => {
    expect(describe("\n  export async function a() {}").exports[0]).toMatchObject({
      line: 2,
      column: 10,
    });
  });
});

suite("the description of parameters", () => {
  const plain = (name: string, more = {}): object => ({ kind: "plain", name, ...more });
  const optional = { optional: true };

  it.each<[list: string, expected: object[]]>([
    ["", []],
    [
      "this: Context, a, b?: string, c = 1",
      [plain("a"), plain("b", optional), plain("c", { ...optional, type: "number" })],
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
            { name: "f", ...optional, type: "number" },
            { name: "g", ...optional, type: "number" },
          ],
        },
      ],
    ],
    ["{ a } = {}", [{ kind: "object", names: [{ name: "a" }], ...optional }]],
    [
      "[a, , b = 1] = []",
      [
        {
          kind: "array",
          names: [{ name: "a" }, null, { name: "b", ...optional, type: "number" }],
          ...optional,
        },
      ],
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
  ])("reads names and which are optional: (%s)", (list, expected) => {
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
    ["File[]", "File[]"],
    ["readonly Blob[] | undefined", "File[]"],
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
  ])("says that text for a parameter of type %s is converted to %s", (annotation, type) => {
    const source = `type Quantity = number; type Loop = Loop[]["0"] | undefined; export const f = async (a: ${annotation}, b: ${annotation} = x) => {};`;
    const kind = type === undefined ? {} : { type };
    expect(describe(source).exports[0]?.parameters).toEqual([
      { kind: "plain", name: "a", ...kind },
      { kind: "plain", name: "b", optional: true, ...kind },
    ]);
  });

  it.each<[parameter: string, type: string | undefined]>([
    ["a = 0", "number"],
    ["a = -1.5", "number"],
    ["a = (2)", "number"],
    ["a = 60 * 1000", "number"],
    ["a = Infinity", "number"],
    ["a = true", "boolean"],
    ["a = !1", "boolean"],
    ["a = 10n", "bigint"],
    ["a = -10n", "bigint"],
    ["a = new Date()", "Date"],
    ["a = [1, -2]", "number[]"],
    ['a = ["tweed"]', "string[]"],
    ['a = [1, "tweed"]', undefined],
    ["a = [...all]", undefined],
    ["a = []", undefined],
    ['a = "0"', undefined],
    ["a = `${1}`", undefined],
    ["a = null", undefined],
    ["a = 1 + other", undefined],
    ['a = 1 + "m"', undefined],
    ["a = other", undefined],
    ["a = new Money()", undefined],
    ["{ a = 0 }", "number"],
    ["{ a = 0 } = {}", "number"],
    ["{ a } = { a: 0 }", "number"],
    ["[a = 0]", "number"],
    ["[a] = [0]", "number"],
    // The annotation says it, even that it stays text.
    ["a: string | number = 0", undefined],
    ["a: unknown = 0", undefined],
    ["{ a = 0 }: { a?: number | string }", undefined],
    ["{ a } : { a: number | string } = { a: 0 }", undefined],
    // It says nothing that can be read here.
    ["a: Metres = 0", "number"],
    ["{ a = 0 }: Options", "number"],
    ["{ a = 0 }: Partial<Options>", "number"],
  ])("takes the type of a default that is a literal: (%s) is %s", (parameter, type) => {
    const source = `import type { Metres, Options } from "./types.ts"; export async function f(${parameter}) {}`;
    const [found] = describe(source).exports[0]?.parameters ?? [];
    const named = found?.kind === "plain" ? found : found?.kind === "rest" ? null : found?.names[0];
    expect(named?.type).toBe(type);
  });
});

suite("the description of imports", () => {
  it("has their names, and says whether they are only types", () => {
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
  ])("includes a dynamic import written as  %s", (written) => {
    expect(describe(`export const load = () => ${written};`).imports).toEqual([
      { specifier: "./x", typeOnly: false, names: [], dynamic: true },
    ]);
  });
});

suite("imports that are dropped with the types", () => {
  const unused = (source: string, file = "shop/m.ts") =>
    describe(source, file)
      .imports.filter((one) => one.unused)
      .map((one) => one.specifier);

  it("are those in TypeScript that no code mentions", () => {
    const source =
      'import { a } from "./a"; import { b } from "./b"; import "./c"; import { d } from "./d"; export { d }; import type { E } from "./e"; b(); let x: typeof a;';
    expect(unused(source)).toEqual(["./a"]);
    for (const file of ["m.mts", "m.tsx"]) expect(unused(source, file)).toEqual(["./a"]);
  });

  it("don't exist in JavaScript", () => {
    for (const file of ["m.js", "m.mjs", "m.jsx"])
      expect(unused('import { a } from "./a";', file)).toEqual([]);
  });

  it("don't include a class that a decorated member has as its type", () => {
    const source = (decorator: string) =>
      `import { Db } from "./db";\n${decorator} class A { constructor(db: Db) {} }`;
    expect(unused(source(""))).toEqual(["./db"]);
    expect(unused(source("@inject"))).toEqual([]);
    expect(
      unused('import { Db } from "./db";\nclass A { constructor(@inject db: Db) {} }'),
    ).toEqual([]);
    expect(unused('import { Db } from "./db";\nclass A { @column db: Db }')).toEqual([]);
    expect(
      unused(
        'import type * as d from "./t"; import * as db from "./db";\n@inject class A { a: db.Db }',
      ),
    ).toEqual([]);
  });

  it("don't include a namespace that `import a = b.c` mentions", () => {
    expect(unused('import * as n from "./n";\nimport A = n.A;\nexport const b = A;')).toEqual([]);
  });
});

suite("the description of rarer exports", () => {
  it("has no problems for a re-export", () => {
    expect(describe('export { a } from "./a";').exports[0]?.problems).toEqual([]);
  });

  it("has the function for a default export that is assigned later", () => {
    const { exports } = describe("export default async function quote() {}\nquote = other;");
    expect(exports).toMatchObject([{ name: "default", ownName: "quote", kind: "async" }]);
  });

  it("has the value at that moment for a default export of a variable that changes", () => {
    expect(describe("let a = async () => {};\na = b;\nexport default a;").exports).toMatchObject([
      { name: "default", kind: "wrapped" },
    ]);
  });
});
