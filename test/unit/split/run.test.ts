// Split modules run as real modules on one node, and behave as the source says.

import { describe, expect, it } from "vitest";

import { application, type Run } from "./_harness.ts";

const moduleOf = (text: string, procedures: string[], file = "m.ts") =>
  application({ m: { text, procedures, file } });

describe("exports of a split module", () => {
  it.each<[form: string, text: string, name: string, file?: string]>([
    ["a function", "export async function f(a: number) { return a + 1 }", "f"],
    ["a constant arrow", "export const f = async (a: number) => a + 1", "f"],
    ["a constant arrow without parentheses", "export const f = async a => a + 1", "f", "m.js"],
    ["a function expression", "export const f = async function (a: number) { return a + 1 }", "f"],
    [
      "a named function expression",
      "export const f = async function g(a: number): Promise<number> { return a > 40 ? a + 1 : g(41) }",
      "f",
    ],
    ["a variable", "export let f = async (a: number) => { return a + 1 };", "f"],
    ["a name in a list", "async function f(a: number) { return a + 1 }\nexport { f }", "f"],
    [
      "a name in a list above the declaration",
      "export { f };\nconst f = async (a: number) => a + 1;",
      "f",
    ],
    [
      "another name in a list",
      "async function f(a: number) { return a + 1 }\nexport { f as g }",
      "g",
    ],
    [
      "a name that isn't an identifier",
      "async function f(a: number) { return a + 1 }\nexport { f as 'an f' }",
      "an f",
    ],
    [
      "a reserved name",
      "async function f(a: number) { return a + 1 }\nexport { f as delete }",
      "delete",
    ],
    [
      "the default in a list",
      "async function f(a: number) { return a + 1 }\nexport { f as default }",
      "default",
    ],
    [
      "the default, declared above",
      "const f = async (a: number) => a + 1;\nexport default f;",
      "default",
    ],
    [
      "a default function",
      "export default async function f(a: number) { return a + 1 }",
      "default",
    ],
    [
      "an anonymous default function",
      "export default async function (a: number) { return a + 1 }",
      "default",
    ],
    [
      "an anonymous default function with a comment",
      "export default async /* it is */ function /* named */ (a: number) { return a + 1 }",
      "default",
    ],
    ["an anonymous default arrow", "export default async (a: number) => a + 1;", "default"],
    [
      "an anonymous default arrow in parentheses",
      "export default (async (a: number) => { return a + 1 });",
      "default",
    ],
    [
      "a wrapped default",
      "const w = (f: any) => f; export default w(async (a: number) => a + 1) as (a: number) => Promise<number>",
      "default",
    ],
    [
      "a wrapped function",
      "const w = (f: any) => async (...args: unknown[]) => f(...args);\nexport const f: (a: number) => Promise<number> = w(async (a: number) => a + 1)",
      "f",
    ],
    [
      "a function that is wrapped twice",
      "const w = (_: string, f: any) => f; export const f: (a: number) => Promise<number> = w('x', w('y', async (a: number) => { return a + 1 }));",
      "f",
    ],
    [
      "a function that is wrapped by name",
      "const w = (f: any) => f; async function inner(a: number) { return a + 1 } export const f: (a: number) => Promise<number> = w(inner);",
      "f",
    ],
    [
      "an alias of a function",
      "async function inner(a: number) { return a + 1 }\nexport const f = inner;",
      "f",
    ],
    ["one declarator of several", "export const x = 1, f = async (a: number) => a + x, y = 2", "f"],
    [
      "a function with overloads",
      "export async function f(a: string): Promise<string>;\nexport async function f(a: number): Promise<number>;\nexport async function f(a: any) { return a + 1 }",
      "f",
    ],
    [
      "an expression with `satisfies`",
      "type F = (a: number) => Promise<number>; export const f = (async (a) => a + 1) satisfies F as F",
      "f",
    ],
    [
      "a generic function",
      "export const f = async <T extends number,>(a: T): Promise<number> => a + 1",
      "f",
    ],
    [
      "a function in .mts",
      "export async function f(a: number): Promise<number> { return (a as number) + 1 }",
      "f",
      "m.mts",
    ],
    ["a function in .mjs", "export async function f(a) { return a + 1 }", "f", "m.mjs"],
    [
      "a function in .jsx",
      "/** @jsx h */ const h = (tag, props) => props.n; export async function f(a) { return <b n={a + 1} /> }",
      "f",
      "m.jsx",
    ],
    [
      "a function in .tsx",
      "/* @jsx h */ const h = (tag: unknown, props: any) => props.n; export const f = async (a: number) => <b n={a + 1} />;",
      "f",
      "m.tsx",
    ],
  ])(
    "let callers reach a procedure that is exported as %s",
    async (_form, text, name, file = "m.ts") => {
      const app = moduleOf(text, [name], file);
      const module = await app.import("m");
      const f: Run | undefined = module[name];
      expect(f).toHaveLength(1);
      expect(app.calls).toEqual([]);
      expect(await f?.(41)).toBe(42);
      expect(app.calls).toHaveLength(1);
    },
  );

  it("are one seam under all names of a function", async () => {
    const {
      f,
      g,
      default: d,
    } = await moduleOf("export async function f() {}\nexport { f as g };\nexport default f;", [
      "f",
    ]).import("m");
    expect(g).toBe(f);
    expect(d).toBe(f);
  });

  it("have the name and the length of the function", async () => {
    const text = `
      export async function none() {}
      export async function plain(a: string, b?: number) {}
      export async function defaults(a: string, b = secret(), c: string) {}
      export async function patterns({ a }: { a: string }, [b]: string[], c: string) {}
      export async function rest(a: string, ...names: string[]) {}
      export async function self(this: unknown, a: string) {}
      function secret() { return 1 }
    `;
    const names = ["none", "plain", "defaults", "patterns", "rest", "self"];
    const module = await moduleOf(text, names).import("m");
    expect(names.map((name) => [(module[name] as Run).name, (module[name] as Run).length])).toEqual(
      [
        ["none", 0],
        ["plain", 2],
        ["defaults", 1],
        ["patterns", 3],
        ["rest", 1],
        ["self", 1],
      ],
    );
  });

  it("include re-exports, namespaces and what no segment names", async () => {
    const app = application({
      other: {
        text: "export const a = 1, b = 2; export default 3; export let n = 0; export const count = () => ++n;",
      },
      m: {
        procedures: ["f"],
        text: `
          import c, { a } from "./other.mjs";
          import * as all from "./other.mjs";
          export async function f() { return a }
          export { a, c, all };
          export { b as "a b", count } from "./other.mjs";
          export * from "./other.mjs";
          export * as space from "./other.mjs";
          export type T = string;
          export interface I { x: T }
          export enum E { One = 1, Two }
          export namespace N { export const deep = E.Two }
          export class K { static of() { return new K() } }
          const hidden = 5;
          export { hidden as shown };
          export default class Named {}
        `,
      },
    });
    const module = await app.import("m");
    const other = await app.import("other");
    expect(Object.keys(module).sort()).toEqual(
      [
        "E",
        "K",
        "N",
        "a",
        "a b",
        "all",
        "b",
        "c",
        "count",
        "default",
        "f",
        "n",
        "shown",
        "space",
      ].sort(),
    );
    expect(module).toMatchObject({
      a: 1,
      b: 2,
      c: 3,
      "a b": 2,
      shown: 5,
      all: other,
      space: other,
      N: { deep: 2 },
    });
    expect((module["default"] as unknown as { name: string }).name).toBe("Named");
    (other["count"] as () => void)();
    expect(module["n"]).toBe(1);
  });
});

describe("split modules that import each other", () => {
  it("can call each other while they load", async () => {
    const app = application({
      a: {
        procedures: ["fa"],
        text: `import { fb, helpB } from "./b.mjs"; export async function fa(n: number): Promise<string> { return n > 0 ? "a" + await fb(n - 1) : helpB() } export function helpA() { return "helpA" } export const early = fb(0);`,
      },
      b: {
        procedures: ["fb"],
        text: `import { fa, helpA } from "./a.mjs"; export const fb = async (n: number): Promise<string> => n > 0 ? "b" + await fa(n - 1) : helpA(); export function helpB() { return "helpB" } export const early = fa(0);`,
      },
    });
    const a = await app.import("a");
    const b = await app.import("b");
    expect(await (a["fa"] as Run)(3)).toBe("abahelpA");
    expect(await (b["fb"] as Run)(2)).toBe("bahelpA");
    expect(await (a["early"] as unknown)).toBe("helpA");
    expect(await (b["early"] as unknown)).toBe("helpB");
  });

  it("can mention their own procedures above the declarations", async () => {
    const app = moduleOf(
      `export const table = { f, g: () => g(1) };\nexport async function f() { return 1 }\nexport const g = async (n: number) => n + await f();`,
      ["f", "g"],
    );
    const { table, f } = (await app.import("m")) as unknown as {
      table: { f: Run; g: Run };
      f: Run;
    };
    expect(table.f).toBe(f);
    expect(await table.g()).toBe(2);
    expect(app.calls).toEqual(["shop/g", "shop/f"]);
  });
});

describe("state and statements of a split module", () => {
  it("exists once in the shared part: body and importers see the same class and the same values", async () => {
    const text = `
      export class Money { constructor(public n: number) {} }
      const state = { count: 0 };
      export function count() { return state.count }
      export let live = 0;
      export const setLive = (n: number) => { live = n };
      export async function make(n: number) { state.count++; setLive(n); return new Money(n + live) }
    `;
    const module = await moduleOf(text, ["make"]).import("m");
    const made = await (module["make"] as Run)(2);
    expect(made).toBeInstanceOf(module["Money"]);
    expect(made).toMatchObject({ n: 4 });
    expect((module["count"] as () => unknown)()).toBe(1);
    expect(module["live"]).toBe(2);
  });

  it("stays in the body between calls, and the body can write it", async () => {
    const app = moduleOf(
      `let n = 0; const seen: number[] = [];\nexport async function next() { seen.push(++n); [n] = [n + 1]; return [n, ...seen] }`,
      ["next"],
    );
    const { next } = (await app.import("m")) as unknown as { next: Run };
    expect(await next()).toEqual([2, 1]);
    expect(await next()).toEqual([4, 1, 3]);
  });

  it("run in the part that has what they mention, in source order", async () => {
    const text = `
      export const log: string[] = [];
      log.push("shared 1");
      const secret = "private";
      log.push(secret);
      log.push("shared 2");
      f.schema = { ok: true };
      if (secret) { var late = "late" }
      export async function f() { return [...log, f.schema, late] }
    `;
    const app = moduleOf(text, ["f"]);
    const module = await app.import("m");
    expect(module["log"]).toEqual(["shared 1", "shared 2"]);
    expect(await (module["f"] as Run)()).toEqual([
      "shared 1",
      "shared 2",
      "private",
      { ok: true },
      "late",
    ]);
  });

  it("stay separate when the statement between them is removed", async () => {
    const text =
      "export const list = [1]\nasync function f() { return list }\n[2].forEach((n) => list.push(n))\nexport { f }";
    expect(await ((await moduleOf(text, ["f"]).import("m"))["f"] as Run)()).toEqual([1, 2]);
  });
});

describe("a procedure that mentions procedures of its module", () => {
  it("calls a sibling through its seam, however it is mentioned", async () => {
    const text = `
      export async function stock(n = 1) { return n }
      export const table = { stock };
      const help = async () => (await stock(2)) + (await [stock].map((s) => s(3))[0]!);
      export async function quote({ stock: own = 1 } = {}) {
        const made = { stock, other: stock };
        const shadow = (stock: number) => stock + own;
        return [await stock(4), await made.stock(5), made.other === table.stock, await help(), shadow(6)];
      }
    `;
    const app = moduleOf(text, ["stock", "quote"]);
    const { quote, stock, table } = (await app.import("m")) as unknown as {
      quote: Run;
      stock: Run;
      table: { stock: Run };
    };
    expect(await quote()).toEqual([4, 5, true, 5, 7]);
    expect(app.calls).toEqual([
      "shop/quote",
      "shop/stock",
      "shop/stock",
      "shop/stock",
      "shop/stock",
    ]);
    expect(table.stock).toBe(stock);
  });

  it("calls itself directly, and gets its seam for any other mention", async () => {
    const text = `export const all = new Map<unknown, string>();\nexport async function f(n: number): Promise<unknown> { return n > 0 ? f(n - 1) : all.get(f) }`;
    const app = moduleOf(text, ["f"]);
    const { f, all } = (await app.import("m")) as unknown as { f: Run; all: Map<unknown, string> };
    all.set(f, "the seam");
    expect(await f(3)).toBe("the seam");
    expect(app.calls).toEqual(["shop/f"]);
  });

  it("gets generated names that the module doesn't use", async () => {
    const text = `
      const $seam = 1, $traced = 2, $context = 3, $error = 4, $this = 5, $0 = 6, $s0 = 7, $g = 8, $h = 9;
      export const sum = $seam + $traced + $context + $error + $this + $0 + $s0 + $g;
      function hidden() { return $h } export const lend = () => hidden();
      const $hidden = 0;
      export async function f($0: number, $s0: number) { return $0 + $s0 + sum + hidden() + $hidden + $error + (await g()) }
      export async function g() { return typeof this === "object" ? $this : $context + $traced + $seam + $g }
    `;
    const module = await moduleOf(text, ["f", "g"]).import("m");
    expect(await (module["f"] as Run)(100, 200)).toBe(300 + 36 + 9 + 4 + 5);
  });
});
