// How a body changes a procedure's code: it gets a context and a trace line, and is otherwise the
// same.

import { describe, expect, it } from "vitest";

import { Context, emptyContext } from "../../../src/base/context.ts";
import { traceOf } from "../../../src/base/trace.ts";
import { application, type Run } from "./_harness.ts";

const moduleOf = (text: string, procedures: string[], file = "m.ts") =>
  application({ m: { text, procedures, file } });
const errorOf = async (act: () => Promise<unknown>): Promise<unknown> =>
  await act().then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error,
  );

const context = new Context({
  headers: new Map([["user", "me"]]),
  endsAt: undefined,
  trace: [],
  hops: 0,
  signal: () => new AbortController().signal,
});

describe("`this` of a procedure", () => {
  it.each([
    [
      "a function",
      "export async function f(a: number) { return [this.headers.get('user'), arguments.length, a] }",
    ],
    [
      "an arrow inside",
      "export async function f(a: number) { const user = () => this.headers.get('user'); return [user(), arguments.length, a] }",
    ],
    [
      "a default value",
      "export async function f(a: number, b = this.headers.get('user')) { return [b, arguments.length, a] }",
    ],
    [
      "a default that may throw",
      "const d = () => 1; export async function f(a: number, b = d()) { return [this.headers.get('user'), arguments.length, a] }",
    ],
    [
      "a wrapped function",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f: (a: number) => Promise<unknown> = w(async function (a: number) { return [this.headers.get('user'), arguments.length, a] })",
    ],
    [
      "a wrapped arrow",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f: (a: number) => Promise<unknown> = w(async (a: number) => [this.headers.get('user'), 1, a])",
    ],
    ["an arrow", "export const f = async (a: number) => [this.headers.get('user'), 1, a]"],
    [
      "an arrow with a body",
      "export const f = async (a: number): Promise<unknown> /* => */ => /* => */ { return [this.headers.get('user'), 1, a] }",
    ],
    [
      "an arrow that may throw",
      "const d = () => 1; export const f = async (a: number, b = d()) => [this.headers.get('user'), b, a]",
    ],
    ["a default arrow", "export default async (a: number) => [this.headers.get('user'), 1, a]"],
  ])("is a context in %s, with and without a caller that passes one", async (_what, text) => {
    const name = text.includes("default async") ? "default" : "f";
    const f = (await moduleOf(text, [name]).import("m"))[name] as Run;
    expect(await f.call(context, 7)).toEqual(["me", 1, 7]);
    expect(await f(7)).toEqual([undefined, 1, 7]);
    // An object that only looks like a context isn't one.
    expect(await f.call({ headers: new Map([["user", "nobody"]]) }, 7)).toEqual([undefined, 1, 7]);
  });

  it("keeps its meaning in methods, classes and functions inside", async () => {
    const text = `export async function f() { const o = { n: 1, m() { return this.n } }; class C { x = this; static y = this; get z() { return this.x === this } } return [o.m(), new C().z, C.y === C, (function () { return this })()] }`;
    expect(
      await ((await moduleOf(text, ["f"]).import("m"))["f"] as Run).call(emptyContext()),
    ).toEqual([1, true, true, undefined]);
  });
});

describe("the trace line of a procedure", () => {
  const line = "[shop/f | v1.0.0]";

  it.each([
    ["a throw", "export async function f() { throw new Error('x') }"],
    [
      "a promise that it returns",
      "const x = () => Promise.reject(new Error('x')); export async function f() { return x() }",
    ],
    ["an arrow", "export const f = async () => Promise.reject(new Error('x'))"],
    [
      "an arrow that returns an object",
      "const x = () => { throw new Error('x') }; export const f = async () => ({ x: x() })",
    ],
    [
      "a default value",
      "const x = () => { throw new Error('x') }; export const f = async (a = x()) => a",
    ],
    [
      "a pattern's default",
      "const x = () => { throw new Error('x') }; export async function f({ a = x() } = {}) {}",
    ],
    [
      "a wrapper",
      "const w = (f: any) => () => { throw new Error('x') }; export const f: () => Promise<unknown> = w(async () => 1)",
    ],
    [
      "a return inside try",
      "const x = () => Promise.reject(new Error('x')); export async function f() { try { return x() } catch { return 1 } }",
    ],
    [
      "a return in finally",
      "const x = () => Promise.reject(new Error('x')); export async function f() { try { return 1 } finally { return x() } }",
    ],
    [
      "a for await",
      "async function* x() { yield 1; throw new Error('x') } export async function f() { for await (const n of x()) if (n > 1) return n }",
    ],
    [
      "a switch",
      "const x = () => Promise.reject(new Error('x')); export async function f() { switch (1) { case 1: return x() } }",
    ],
    [
      "a return without a block",
      "const x = () => Promise.reject(new Error('x')); export async function f(a?: string) { if (!a) return x()\n else return 1 }",
    ],
  ])("is added to an error from %s", async (_what, text) => {
    const { f } = (await moduleOf(text, ["f"]).import("m")) as unknown as { f: Run };
    const error = await errorOf(f);
    expect(error).toMatchObject({ message: "x" });
    expect(traceOf(error)).toEqual([line]);
  });

  it("is added by every procedure that an error passes, the origin first", async () => {
    const text =
      "export async function f() { return g() }\nexport const g = async () => h();\nasync function h() { throw new Error('x') }\nexport { h as i };";
    const error = await errorOf((await moduleOf(text, ["f", "g", "i"]).import("m"))["f"] as Run);
    expect(traceOf(error)).toEqual(["[shop/h | v1.0.0]", "[shop/g | v1.0.0]", line]);
  });

  it("doesn't change what a function catches itself, nor the order in which things happen", async () => {
    const text = `
      export const log: string[] = [];
      const later = async (what: string) => { await null; await null; await null; log.push(what); return what };
      export async function f() { try { return later("value") } finally { log.push("finally") } }
      export async function g() { try { return await Promise.reject(new Error("x")) } catch { return "caught" } }
      export async function h() { return [1].map((n) => { return n + 1 }) }
      export async function i() { return function () { return Promise.resolve(1) }() }
    `;
    const module = await moduleOf(text, ["f", "g", "h", "i"]).import("m");
    expect(await (module["f"] as Run)()).toBe("value");
    expect(module["log"]).toEqual(["finally", "value"]);
    expect(await (module["g"] as Run)()).toBe("caught");
    expect(await (module["h"] as Run)()).toEqual([2]);
    expect(await (module["i"] as Run)()).toBe(1);
  });
});

describe("a procedure that is an async generator", () => {
  const line = "[shop/f | v1.0.0]";
  const made =
    "const w = (f: any) => function (...args: unknown[]) { return f.apply(this, args) };\n";
  const fail = "const fail = (): any => { throw new Error('x') };\n";
  /** The stream of `f` of a module with this text. */
  const stream = async (
    text: string,
    name = "f",
  ): Promise<(...args: unknown[]) => AsyncGenerator> =>
    (await moduleOf(text, [name]).import("m"))[name] as never;
  const rest = async (items: AsyncGenerator): Promise<unknown[]> => {
    const all: unknown[] = [];
    for await (const item of items) all.push(item);
    return all;
  };

  it.each([
    [
      "a function",
      "export async function* f(n: number) { for (; n > 0; n--) yield n; return 'end' }",
    ],
    [
      "a constant",
      "export const f = async function* (n: number) { for (; n > 0; n--) yield n; return 'end' };",
    ],
    [
      "the default export",
      "export default async function* (n: number) { for (; n > 0; n--) yield n; return 'end' }",
    ],
    [
      "a default that may throw",
      `${fail}export async function* f(n: number, m = n > 9 ? fail() : 0) { for (; n > m; n--) yield n; return 'end' }`,
    ],
    [
      "a wrapped one",
      `${made}export const f: (n: number) => AsyncGenerator<number> = w(async function* (n: number) { for (; n > 0; n--) yield n; return 'end' });`,
    ],
  ])("has its items and its returned value: %s", async (_what, text) => {
    const items = (await stream(text, text.includes("default async") ? "default" : "f"))(2);
    expect([
      await items.next(),
      await items.next(),
      await items.next(),
      await items.next(),
    ]).toEqual([
      { value: 2, done: false },
      { value: 1, done: false },
      { value: "end", done: true },
      { value: undefined, done: true },
    ]);
  });

  it.each([
    [
      "a function",
      "export async function* f(n: number) { yield [this.headers.get('user'), arguments.length, n] }",
    ],
    [
      "a default value",
      "export async function* f(n: number, user = this.headers.get('user')) { yield [user, arguments.length, n] }",
    ],
    [
      "a default that may throw",
      `${fail}export async function* f(n: number, m = n > 9 ? fail() : 0) { yield [this.headers.get('user'), arguments.length, n] }`,
    ],
    [
      "a wrapped one",
      `${made}export const f: (n: number) => AsyncGenerator<unknown> = w(async function* (n: number) { yield [this.headers.get('user'), arguments.length, n] });`,
    ],
  ])(
    "has a context as `this`, with and without a caller that passes one: %s",
    async (_what, text) => {
      const f = await stream(text);
      expect(await rest(f.call(context, 7))).toEqual([["me", 1, 7]]);
      expect(await rest(f(7))).toEqual([[undefined, 1, 7]]);
    },
  );

  it.each([
    ["before the first item", `${fail}export async function* f() { fail(); yield 1 }`, 0],
    ["in the middle", `${fail}export async function* f() { yield 1; fail(); yield 2 }`, 1],
    [
      "from a promise that it yields",
      "export async function* f() { yield 1; yield Promise.reject(new Error('x')) }",
      1,
    ],
    [
      "from a promise that it returns",
      "export async function* f() { yield 1; return Promise.reject(new Error('x')) }",
      1,
    ],
    ["from finally", `${fail}export async function* f() { try { yield 1 } finally { fail() } }`, 1],
    [
      "from another generator",
      `${fail}async function* g() { yield 1; fail() }\nexport async function* f() { yield* g() }`,
      1,
    ],
    ["from a default value", `${fail}export async function* f(a = fail()) { yield a }`, 0],
    [
      "from a pattern's default",
      `${fail}export async function* f({ a = fail() } = {}) { yield a }`,
      0,
    ],
    [
      "from a wrapped one",
      `${fail}${made}export const f: () => AsyncGenerator<number> = w(async function* () { yield 1; fail() });`,
      1,
    ],
    [
      "from a wrapper",
      `${fail}export const f: () => AsyncGenerator<number> = ((run: any) => () => fail())(async function* () {});`,
      0,
    ],
  ])("adds its trace line to an error %s", async (_what, text, items) => {
    const made = (await stream(text))();
    for (let n = 0; n < items; n++) expect(await made.next()).toEqual({ value: 1, done: false });
    const error = await errorOf(() => made.next());
    expect(error).toMatchObject({ message: "x" });
    expect(traceOf(error)).toEqual([line]);
    expect(await made.next()).toEqual({ value: undefined, done: true });
  });

  it("adds a line for each procedure that an error passes, also in the middle", async () => {
    const text = `${fail}export async function* g() { yield 1; fail() }
      export async function* f() { yield* g() }
      export async function h() { for await (const n of f()) if (n > 1) return n; }`;
    const { h } = await moduleOf(text, ["f", "g", "h"]).import("m");
    expect(traceOf(await errorOf(h!))).toEqual(["[shop/g | v1.0.0]", line, "[shop/h | v1.0.0]"]);
  });

  it("adds it to an error that its caller throws into it, unless it catches that", async () => {
    const text =
      "export async function* f() { try { yield 1 } catch (error) { yield error.message }\n yield 2 }";
    const f = await stream(text);
    const items = f();
    await items.next();
    expect(await items.throw(new Error("a"))).toEqual({ value: "a", done: false });
    const error = await errorOf(() => items.throw(new Error("b")));
    expect(traceOf(error)).toEqual([line]);
  });

  it("catches itself as before, also a promise that it returns", async () => {
    const text =
      "export async function* f() { try { return Promise.reject(new Error('x')) } catch { yield 'caught' } }";
    expect(await rest((await stream(text))())).toEqual(["caught"]);
  });

  describe.each([
    ["a function", "export async function* f", ""],
    ["around a default that may throw", "const a = () => 1;\nexport async function* f", "_ = a()"],
    [
      "around a wrapped one",
      `${made}export const f: () => AsyncGenerator<unknown> = w(async function* `,
      "",
    ],
  ])("ends where its caller stops: %s", (what, head, parameters) => {
    const tail = what === "around a wrapped one" ? ");" : "";
    const of = (body: string) =>
      `export const log: unknown[] = [];\n${head}(${parameters}) { ${body} }${tail}`;

    it("break runs finally, and what the caller does next comes after it", async () => {
      const module = await moduleOf(
        of(
          "try { log.push('begin'); yield 1; yield 2 } finally { await null; log.push('finally') }",
        ),
        ["f"],
      ).import("m");
      const log = module["log"] as unknown as unknown[];
      for await (const item of module["f"]!() as unknown as AsyncGenerator) {
        log.push(item);
        break;
      }
      log.push("after");
      expect(log).toEqual(["begin", 1, "finally", "after"]);
    });

    it("return() has its value, or that of finally", async () => {
      const plain = (await stream(of("try { yield 1 } finally { log.push(0) }")))();
      await plain.next();
      expect(await plain.return("mine")).toEqual({ value: "mine", done: true });
      const own = (await stream(of("try { yield 1 } finally { return 'own' }")))();
      await own.next();
      expect(await own.return("mine")).toEqual({ value: "own", done: true });
    });

    it("return() before the first item runs nothing", async () => {
      const module = await moduleOf(of("log.push('begin'); yield 1"), ["f"]).import("m");
      const items = module["f"]!() as unknown as AsyncGenerator;
      expect(await items.return("mine")).toEqual({ value: "mine", done: true });
      expect(await items.next()).toEqual({ value: undefined, done: true });
      expect(module["log"]).toEqual([]);
    });

    it("what next() is given is the value of yield", async () => {
      const items = (await stream(of("const got = yield 1; yield got")))();
      await items.next();
      expect(await items.next("given")).toEqual({ value: "given", done: false });
    });
  });

  it.each([
    ["a promise", "async (...args: unknown[]) => run(...args)"],
    ["a list", "() => [1]"],
    ["nothing", "() => undefined"],
  ])(
    "a wrapper of one that returns %s causes a TypeError that names the procedure",
    async (_what, wrapper) => {
      const f = await stream(
        `const w = (run: any): any => ${wrapper}; export const f: () => AsyncGenerator<number> = w(async function* () { yield 1 })`,
      );
      const error = await errorOf(() => f().next());
      expect(error).toMatchObject({
        name: "TypeError",
        message:
          "The procedure shop/f returned no async iterator: its wrapper has to return an async function*",
      });
      expect(traceOf(error)).toEqual([line]);
    },
  );
});

it("a wrapper that returns no promise causes a TypeError that names the procedure", async () => {
  const { f } = (await moduleOf(
    "const w = (f: unknown) => () => 1; export const f: () => Promise<unknown> = w(async () => 1)",
    ["f"],
  ).import("m")) as unknown as {
    f: Run;
  };
  expect(await errorOf(f)).toMatchObject({
    name: "TypeError",
    message: expect.stringContaining("shop/f returned no promise"),
  });
});

describe("a body with TypeScript or JSX", () => {
  it("keeps decorators, the classes of their metadata, parameter properties, abstract classes and enums working", async () => {
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

  it("keeps the components that JSX mentions, and the factory", async () => {
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
    expect(await ((await app.import("m"))["page"] as Run)(3)).toEqual([
      "tr",
      null,
      [["b", null, 3]],
    ]);
  });
});
