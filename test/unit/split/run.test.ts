// The parts of split modules, run as real modules on one node.

import { describe, expect, it } from "vitest";

import { Context, emptyContext } from "../../../src/context.ts";
import { traceOf } from "../../../src/trace.ts";
import { application, type Run } from "./_harness.ts";

const one = (text: string, procedures: string[], file = "m.ts") => application({ m: { text, procedures, file } });
const thrown = async (act: () => Promise<unknown>): Promise<unknown> =>
  await act().then(
    () => expect.unreachable("it should have thrown"),
    (error: unknown) => error,
  );

describe("all forms of export", () => {
  it.each<[form: string, text: string, name: string, file?: string]>([
    ["a function", "export async function f(a: number) { return a + 1 }", "f"],
    ["a constant arrow", "export const f = async (a: number) => a + 1", "f"],
    ["a constant arrow without parentheses", "export const f = async a => a + 1", "f", "m.js"],
    ["a function expression", "export const f = async function (a: number) { return a + 1 }", "f"],
    ["a named function expression", "export const f = async function g(a: number): Promise<number> { return a > 40 ? a + 1 : g(41) }", "f"],
    ["let", "export let f = async (a: number) => { return a + 1 };", "f"],
    ["a list", "async function f(a: number) { return a + 1 }\nexport { f }", "f"],
    ["a list before it", "export { f };\nconst f = async (a: number) => a + 1;", "f"],
    ["a list with another name", "async function f(a: number) { return a + 1 }\nexport { f as g }", "g"],
    ["a list with a name that is no identifier", "async function f(a: number) { return a + 1 }\nexport { f as 'an f' }", "an f"],
    ["a reserved name", "async function f(a: number) { return a + 1 }\nexport { f as delete }", "delete"],
    ["as the default", "async function f(a: number) { return a + 1 }\nexport { f as default }", "default"],
    ["the default, declared before", "const f = async (a: number) => a + 1;\nexport default f;", "default"],
    ["a default function", "export default async function f(a: number) { return a + 1 }", "default"],
    ["an anonymous default function", "export default async function (a: number) { return a + 1 }", "default"],
    [
      "an anonymous default function with a comment",
      "export default async /* it is */ function /* named */ (a: number) { return a + 1 }",
      "default",
    ],
    ["an anonymous default arrow", "export default async (a: number) => a + 1;", "default"],
    ["an anonymous default arrow in parentheses", "export default (async (a: number) => { return a + 1 });", "default"],
    ["a default that is wrapped", "const w = (f: any) => f; export default w(async (a: number) => a + 1)", "default"],
    ["wrapped", "const w = (f: any) => async (...args: unknown[]) => f(...args);\nexport const f = w(async (a: number) => a + 1)", "f"],
    ["wrapped twice", "const w = (_: string, f: any) => f; export const f = w('x', w('y', async (a: number) => { return a + 1 }));", "f"],
    ["wrapped, by name", "const w = (f: any) => f; async function inner(a: number) { return a + 1 } export const f = w(inner);", "f"],
    ["an alias", "async function inner(a: number) { return a + 1 }\nexport const f = inner;", "f"],
    ["one declarator of several", "export const x = 1, f = async (a: number) => a + x, y = 2", "f"],
    [
      "overloads",
      "export async function f(a: string): Promise<string>;\nexport async function f(a: number): Promise<number>;\nexport async function f(a: any) { return a + 1 }",
      "f",
    ],
    ["satisfies", "type F = (a: number) => Promise<number>; export const f = (async (a) => a + 1) satisfies F as F", "f"],
    ["generics", "export const f = async <T extends number,>(a: T): Promise<number> => a + 1", "f"],
    [".mts", "export async function f(a: number): Promise<number> { return (a as number) + 1 }", "f", "m.mts"],
    [".mjs", "export async function f(a) { return a + 1 }", "f", "m.mjs"],
    [".jsx", "/** @jsx h */ const h = (tag, props) => props.n; export async function f(a) { return <b n={a + 1} /> }", "f", "m.jsx"],
    [
      ".tsx",
      "/* @jsx h */ const h = (tag: unknown, props: any) => props.n; export const f = async (a: number) => <b n={a + 1} />;",
      "f",
      "m.tsx",
    ],
  ])("%s", async (_form, text, name, file = "m.ts") => {
    const app = one(text, [name], file);
    const module = await app.import("m");
    const f: Run | undefined = module[name];
    expect(f).toHaveLength(1);
    expect(app.calls).toEqual([]);
    expect(await f?.(41)).toBe(42);
    expect(app.calls).toHaveLength(1);
  });

  it("gives a seam under every name that the function is exported by", async () => {
    const { f, g, default: d } = await one("export async function f() {}\nexport { f as g };\nexport default f;", ["f"]).import("m");
    expect(g).toBe(f);
    expect(d).toBe(f);
  });

  it("keeps names, and counts parameters as the function does", async () => {
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
    const module = await one(text, names).import("m");
    expect(names.map((name) => [(module[name] as Run).name, (module[name] as Run).length])).toEqual([
      ["none", 0],
      ["plain", 2],
      ["defaults", 1],
      ["patterns", 3],
      ["rest", 1],
      ["self", 1],
    ]);
  });

  it("passes re-exports, whole modules and unsegmented exports on", async () => {
    const app = application({
      other: { text: "export const a = 1, b = 2; export default 3; export let n = 0; export const count = () => ++n;" },
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
      ["E", "K", "N", "a", "a b", "all", "b", "c", "count", "default", "f", "n", "shown", "space"].sort(),
    );
    expect(module).toMatchObject({ a: 1, b: 2, c: 3, "a b": 2, shown: 5, all: other, space: other, N: { deep: 2 } });
    expect((module["default"] as unknown as { name: string }).name).toBe("Named");
    (other["count"] as () => void)();
    expect(module["n"]).toBe(1);
  });
});

describe("circles and hoisting", () => {
  it("lets modules that import each other call each other while they load", async () => {
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

  it("lets a module use its own procedures before and above their declaration", async () => {
    const app = one(
      `export const table = { f, g: () => g(1) };\nexport async function f() { return 1 }\nexport const g = async (n: number) => n + await f();`,
      ["f", "g"],
    );
    const { table, f } = (await app.import("m")) as unknown as { table: { f: Run; g: Run }; f: Run };
    expect(table.f).toBe(f);
    expect(await table.g()).toBe(2);
    expect(app.calls).toEqual(["shop/g", "shop/f"]);
  });
});

describe("state and identity", () => {
  it("has shared things once: body, face and others see the same class and the same state", async () => {
    const text = `
      export class Money { constructor(public n: number) {} }
      const state = { count: 0 };
      export function count() { return state.count }
      export let live = 0;
      export const setLive = (n: number) => { live = n };
      export async function make(n: number) { state.count++; setLive(n); return new Money(n + live) }
    `;
    const module = await one(text, ["make"]).import("m");
    const made = await (module["make"] as Run)(2);
    expect(made).toBeInstanceOf(module["Money"]);
    expect(made).toMatchObject({ n: 4 });
    expect((module["count"] as () => unknown)()).toBe(1);
    expect(module["live"]).toBe(2);
  });

  it("keeps private state of the body between calls, and lets the body write it", async () => {
    const app = one(
      `let n = 0; const seen: number[] = [];\nexport async function next() { seen.push(++n); [n] = [n + 1]; return [n, ...seen] }`,
      ["next"],
    );
    const { next } = (await app.import("m")) as unknown as { next: Run };
    expect(await next()).toEqual([2, 1]);
    expect(await next()).toEqual([4, 1, 3]);
  });

  it("runs statements where what they mention is, in their order", async () => {
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
    const app = one(text, ["f"]);
    const module = await app.import("m");
    expect(module["log"]).toEqual(["shared 1", "shared 2"]);
    expect(await (module["f"] as Run)()).toEqual(["shared 1", "shared 2", "private", { ok: true }, "late"]);
  });

  it("keeps statements apart that only a removed one divided", async () => {
    const text = "export const list = [1]\nasync function f() { return list }\n[2].forEach((n) => list.push(n))\nexport { f }";
    expect(await ((await one(text, ["f"]).import("m"))["f"] as Run)()).toEqual([1, 2]);
  });
});

describe("references between procedures", () => {
  it("goes through the sibling's seam, in every form", async () => {
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
    const app = one(text, ["stock", "quote"]);
    const { quote, stock, table } = (await app.import("m")) as unknown as { quote: Run; stock: Run; table: { stock: Run } };
    expect(await quote()).toEqual([4, 5, true, 5, 7]);
    expect(app.calls).toEqual(["shop/quote", "shop/stock", "shop/stock", "shop/stock", "shop/stock"]);
    expect(table.stock).toBe(stock);
  });

  it("calls itself directly, and means its seam otherwise", async () => {
    const text = `export const all = new Map<unknown, string>();\nexport async function f(n: number): Promise<unknown> { return n > 0 ? f(n - 1) : all.get(f) }`;
    const app = one(text, ["f"]);
    const { f, all } = (await app.import("m")) as unknown as { f: Run; all: Map<unknown, string> };
    all.set(f, "the seam");
    expect(await f(3)).toBe("the seam");
    expect(app.calls).toEqual(["shop/f"]);
  });

  it("has names of its own, whatever names the module uses", async () => {
    const text = `
      const $seam = 1, $traced = 2, $context = 3, $error = 4, $this = 5, $0 = 6, $s0 = 7, $g = 8, $h = 9;
      export const sum = $seam + $traced + $context + $error + $this + $0 + $s0 + $g;
      function hidden() { return $h } export const lend = () => hidden();
      const $hidden = 0;
      export async function f($0: number, $s0: number) { return $0 + $s0 + sum + hidden() + $hidden + $error + (await g()) }
      export async function g() { return typeof this === "object" ? $this : $context + $traced + $seam + $g }
    `;
    const module = await one(text, ["f", "g"]).import("m");
    expect(await (module["f"] as Run)(100, 200)).toBe(300 + 36 + 9 + 4 + 5);
  });
});

describe("this and arguments", () => {
  const context = new Context({
    headers: new Map([["who", "me"]]),
    deadline: undefined,
    trace: [],
    hops: 0,
    signal: () => new AbortController().signal,
  });

  it.each([
    ["a function", "export async function f(a: number) { return [this.headers.get('who'), arguments.length, a] }"],
    [
      "an arrow inside",
      "export async function f(a: number) { const who = () => this.headers.get('who'); return [who(), arguments.length, a] }",
    ],
    ["a default value", "export async function f(a: number, b = this.headers.get('who')) { return [b, arguments.length, a] }"],
    [
      "a default that may throw",
      "const d = () => 1; export async function f(a: number, b = d()) { return [this.headers.get('who'), arguments.length, a] }",
    ],
    [
      "a wrapped function",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f = w(async function (a: number) { return [this.headers.get('who'), arguments.length, a] })",
    ],
    [
      "a wrapped arrow",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f = w(async (a: number) => [this.headers.get('who'), 1, a])",
    ],
    ["an arrow", "export const f = async (a: number) => [this.headers.get('who'), 1, a]"],
    [
      "an arrow with a body",
      "export const f = async (a: number): Promise<unknown> /* => */ => /* => */ { return [this.headers.get('who'), 1, a] }",
    ],
    ["an arrow that may throw", "const d = () => 1; export const f = async (a: number, b = d()) => [this.headers.get('who'), b, a]"],
    ["a default arrow", "export default async (a: number) => [this.headers.get('who'), 1, a]"],
  ])("is a context in %s", async (_what, text) => {
    const name = text.includes("default async") ? "default" : "f";
    const f = (await one(text, [name]).import("m"))[name] as Run;
    expect(await f.call(context, 7)).toEqual(["me", 1, 7]);
    expect(await f(7)).toEqual([undefined, 1, 7]);
    // A namespace object is no context.
    expect(await f.call({ headers: new Map([["who", "nobody"]]) }, 7)).toEqual([undefined, 1, 7]);
  });

  it("is not touched where it is somebody else's", async () => {
    const text = `export async function f() { const o = { n: 1, m() { return this.n } }; class C { x = this; static y = this; get z() { return this.x === this } } return [o.m(), new C().z, C.y === C, (function () { return this })()] }`;
    expect(await ((await one(text, ["f"]).import("m"))["f"] as Run).call(emptyContext())).toEqual([1, true, true, undefined]);
  });
});

describe("§7.1 the trace line", () => {
  const line = "[shop/f | v1.0.0]";

  it.each([
    ["throw", "export async function f() { throw new Error('x') }"],
    ["a promise that is returned", "const x = () => Promise.reject(new Error('x')); export async function f() { return x() }"],
    ["an arrow", "export const f = async () => Promise.reject(new Error('x'))"],
    ["an arrow that gives an object", "const x = () => { throw new Error('x') }; export const f = async () => ({ x: x() })"],
    ["a default value", "const x = () => { throw new Error('x') }; export const f = async (a = x()) => a"],
    ["a pattern's default", "const x = () => { throw new Error('x') }; export async function f({ a = x() } = {}) {}"],
    ["a wrapper", "const w = (f: any) => () => { throw new Error('x') }; export const f = w(async () => 1)"],
    [
      "a return inside try",
      "const x = () => Promise.reject(new Error('x')); export async function f() { try { return x() } catch { return 1 } }",
    ],
    [
      "a return behind finally",
      "const x = () => Promise.reject(new Error('x')); export async function f() { try { return 1 } finally { return x() } }",
    ],
    [
      "for await",
      "async function* x() { yield 1; throw new Error('x') } export async function f() { for await (const n of x()) if (n > 1) return n }",
    ],
    ["a switch", "const x = () => Promise.reject(new Error('x')); export async function f() { switch (1) { case 1: return x() } }"],
    [
      "no block",
      "const x = () => Promise.reject(new Error('x')); export async function f(a?: string) { if (!a) return x()\n else return 1 }",
    ],
  ])("stands on the error of %s", async (_what, text) => {
    const { f } = (await one(text, ["f"]).import("m")) as unknown as { f: Run };
    const error = await thrown(f);
    expect(error).toMatchObject({ message: "x" });
    expect(traceOf(error)).toEqual([line]);
  });

  it("has a line for every procedure on the way, the origin first", async () => {
    const text =
      "export async function f() { return g() }\nexport const g = async () => h();\nasync function h() { throw new Error('x') }\nexport { h as i };";
    const error = await thrown((await one(text, ["f", "g", "i"]).import("m"))["f"] as Run);
    expect(traceOf(error)).toEqual(["[shop/h | v1.0.0]", "[shop/g | v1.0.0]", line]);
  });

  it("changes nothing in what a function catches itself, in the order of things", async () => {
    const text = `
      export const log: string[] = [];
      const later = async (what: string) => { await null; await null; await null; log.push(what); return what };
      export async function f() { try { return later("value") } finally { log.push("finally") } }
      export async function g() { try { return await Promise.reject(new Error("x")) } catch { return "caught" } }
      export async function h() { return [1].map((n) => { return n + 1 }) }
      export async function i() { return function () { return Promise.resolve(1) }() }
    `;
    const module = await one(text, ["f", "g", "h", "i"]).import("m");
    expect(await (module["f"] as Run)()).toBe("value");
    expect(module["log"]).toEqual(["finally", "value"]);
    expect(await (module["g"] as Run)()).toBe("caught");
    expect(await (module["h"] as Run)()).toEqual([2]);
    expect(await (module["i"] as Run)()).toBe(1);
  });

  it("names the procedure whose wrapper gave no promise", async () => {
    const { f } = (await one("const w = (f: unknown) => () => 1; export const f = w(async () => 1)", ["f"]).import("m")) as unknown as {
      f: Run;
    };
    expect(await thrown(f)).toMatchObject({ name: "TypeError", message: expect.stringContaining("shop/f gave no promise") });
  });

  it("leaves async generators as they are", async () => {
    const text =
      "export async function* f(n: number) { for (let i = 0; i < n; i++) yield i; return this.headers.size }\nconst w = (f: any) => f; export const g = w(async function* () { yield 1 });";
    const module = await one(text, ["f", "g"]).import("m");
    const items = (await (module["f"] as Run)(3)) as AsyncGenerator<number>;
    const got = [await items.next(), await items.next(), await items.next(), await items.next()];
    expect(got).toEqual([0, 1, 2].map((value) => ({ value, done: false })).concat([{ value: 0, done: true }]));
    expect(await ((await (module["g"] as Run)()) as AsyncGenerator<number>).next()).toEqual({ value: 1, done: false });
  });
});

describe("TypeScript and JSX", () => {
  it("keeps decorators, their metadata's classes, parameter properties, abstract classes and enums working", async () => {
    const app = application({
      dep: { text: "export class Dep { n = 1 } export interface Only { x: string }" },
      m: {
        procedures: ["f"],
        text: `
          import { Dep, type Only } from "./dep.mjs";
          import type { Only as Other } from "./dep.mjs";
          const seen: unknown[] = [];
          Reflect.metadata ??= (_key: string, value: unknown) => () => { seen.push(value) };
          declare global { namespace Reflect { let metadata: any } }
          const mark = (target: unknown) => { seen.push(target) };
          @mark abstract class Base { constructor(protected readonly dep: Dep, readonly o?: Only) {} abstract run(): number }
          @mark export class Deed extends Base { run(): number { return this.dep!.n } }
          enum Size { S = 1, M = S * 2 }
          export async function f(o?: Only & Other): Promise<unknown> {
            const size: Size = Size.M as Size;
            return [new Deed(new Dep()).run(), size satisfies number, seen.length > 1, o];
          }
        `,
      },
    });
    expect(await ((await app.import("m"))["f"] as Run)()).toEqual([1, 2, true, undefined]);
  });

  it("takes a component of JSX as a reference, and the factory with it", async () => {
    const app = application({
      h: {
        text: "export const h = (tag: any, props: any, ...children: unknown[]) => typeof tag === 'string' ? [tag, props, ...children] : tag({ ...props, children });",
      },
      m: {
        file: "m.tsx",
        procedures: ["page"],
        text: `
          import { h } from "./h.mjs";
          const Price = ({ n }: { n: number }) => <b>{n}</b>;
          const ui = { Row: (p: { children?: unknown }) => <tr>{p.children}</tr> };
          export const page = async (n: number) => <ui.Row><Price n={n} /></ui.Row>;
        `,
      },
    });
    expect(await ((await app.import("m"))["page"] as Run)(3)).toEqual(["tr", null, [["b", null, 3]]]);
  });
});
