// What a body does to a procedure's text: its context, its trace line, and nothing else.

import { describe, expect, it } from "vitest";

import { Context, emptyContext } from "../../../src/context.ts";
import { traceOf } from "../../../src/trace.ts";
import { application, type Run } from "./_harness.ts";

const one = (text: string, procedures: string[], file = "m.ts") =>
  application({ m: { text, procedures, file } });
const thrown = async (act: () => Promise<unknown>): Promise<unknown> =>
  await act().then(
    () => expect.unreachable("it should have thrown"),
    (error: unknown) => error,
  );

describe("this and arguments", () => {
  const context = new Context({
    headers: new Map([["who", "me"]]),
    deadline: undefined,
    trace: [],
    hops: 0,
    signal: () => new AbortController().signal,
  });

  it.each([
    [
      "a function",
      "export async function f(a: number) { return [this.headers.get('who'), arguments.length, a] }",
    ],
    [
      "an arrow inside",
      "export async function f(a: number) { const who = () => this.headers.get('who'); return [who(), arguments.length, a] }",
    ],
    [
      "a default value",
      "export async function f(a: number, b = this.headers.get('who')) { return [b, arguments.length, a] }",
    ],
    [
      "a default that may throw",
      "const d = () => 1; export async function f(a: number, b = d()) { return [this.headers.get('who'), arguments.length, a] }",
    ],
    [
      "a wrapped function",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f: (a: number) => Promise<unknown> = w(async function (a: number) { return [this.headers.get('who'), arguments.length, a] })",
    ],
    [
      "a wrapped arrow",
      "const w = (f: any) => async function (...args: unknown[]) { return f.apply(this, args) }; export const f: (a: number) => Promise<unknown> = w(async (a: number) => [this.headers.get('who'), 1, a])",
    ],
    ["an arrow", "export const f = async (a: number) => [this.headers.get('who'), 1, a]"],
    [
      "an arrow with a body",
      "export const f = async (a: number): Promise<unknown> /* => */ => /* => */ { return [this.headers.get('who'), 1, a] }",
    ],
    [
      "an arrow that may throw",
      "const d = () => 1; export const f = async (a: number, b = d()) => [this.headers.get('who'), b, a]",
    ],
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
    expect(await ((await one(text, ["f"]).import("m"))["f"] as Run).call(emptyContext())).toEqual([
      1,
      true,
      true,
      undefined,
    ]);
  });
});

describe("§7.1 the trace line", () => {
  const line = "[shop/f | v1.0.0]";

  it.each([
    ["throw", "export async function f() { throw new Error('x') }"],
    [
      "a promise that is returned",
      "const x = () => Promise.reject(new Error('x')); export async function f() { return x() }",
    ],
    ["an arrow", "export const f = async () => Promise.reject(new Error('x'))"],
    [
      "an arrow that gives an object",
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
      "a return behind finally",
      "const x = () => Promise.reject(new Error('x')); export async function f() { try { return 1 } finally { return x() } }",
    ],
    [
      "for await",
      "async function* x() { yield 1; throw new Error('x') } export async function f() { for await (const n of x()) if (n > 1) return n }",
    ],
    [
      "a switch",
      "const x = () => Promise.reject(new Error('x')); export async function f() { switch (1) { case 1: return x() } }",
    ],
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
    const { f } = (await one(
      "const w = (f: unknown) => () => 1; export const f: () => Promise<unknown> = w(async () => 1)",
      ["f"],
    ).import("m")) as unknown as {
      f: Run;
    };
    expect(await thrown(f)).toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("shop/f gave no promise"),
    });
  });

  it("leaves async generators as they are", async () => {
    const text =
      "export async function* f(n: number) { for (let i = 0; i < n; i++) yield i; return this.headers.size }\nconst w = (f: any) => f; export const g: () => AsyncGenerator<number> = w(async function* () { yield 1 });";
    const module = await one(text, ["f", "g"]).import("m");
    const items = (await (module["f"] as Run)(3)) as AsyncGenerator<number>;
    const got = [await items.next(), await items.next(), await items.next(), await items.next()];
    expect(got).toEqual(
      [0, 1, 2].map((value) => ({ value, done: false })).concat([{ value: 0, done: true }]),
    );
    expect(await ((await (module["g"] as Run)()) as AsyncGenerator<number>).next()).toEqual({
      value: 1,
      done: false,
    });
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
    expect(await ((await app.import("m"))["page"] as Run)(3)).toEqual([
      "tr",
      null,
      [["b", null, 3]],
    ]);
  });
});
