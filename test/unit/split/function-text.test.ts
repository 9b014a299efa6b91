// The facts that are read from a procedure's function: returns that may be promises, its own `this`, and
// whether its errors can be caught inside it.

import { describe, expect, it } from "vitest";

import { readFunction } from "../../../src/split/procedures/function-text.ts";
import { child, list, type Node, programOf } from "../../../src/split/read/tree.ts";
import { parse } from "./_harness.ts";

function read(source: string) {
  const [statement] = list(programOf(parse("m.ts", source)), "body") as [Node];
  const fn =
    statement.type === "ExpressionStatement" ? (child(statement, "expression") as Node) : statement;
  const bare = fn.type === "ParenthesizedExpression" ? (child(fn, "expression") as Node) : fn;
  const { returns, selves, selfInParameters, catchable } = readFunction(bare);
  return {
    returns: returns.map(({ start, end }) => source.slice(start, end)),
    selves: selves.length,
    selfInParameters,
    catchable,
  };
}

describe("the returns that have to be awaited", () => {
  it.each<[string, string[]]>([
    ["return a; return b();", ["a", "b()"]],
    ["if (a) { return b; } else for (;;) return c;", ["b", "c"]],
    ["switch (a) { case 1: return b; default: return c ? d : e }", ["b", "c ? d : e"]],
    ["return; return 1; return `a`; return [a]; return a + b; return !a; return a++;", []],
    ["return await a; return () => a; return function () {};", []],
    ["return (1 as number); return (a as B);", ["(a as B)"]],
    ["const f = () => { return a; }; function g() { return b; } return c;", ["c"]],
    ["class A { m() { return a; } static { if (b) {} } } return c;", ["c"]],
  ])("are found in  %s", (body, returns) => {
    expect(read(`async function f() { ${body} }`).returns).toEqual(returns);
  });

  it("don't include those of an async generator, which awaits them by itself", () => {
    const generator = read("async function* f() { try { return a; } finally { return b(); } }");
    expect(generator).toMatchObject({ returns: [], catchable: true });
  });

  it("don't include the expression of an arrow without braces", () => {
    expect(read("(async () => a)").returns).toEqual([]);
  });
});

describe("the `this` of a procedure's function", () => {
  it.each<[string, number]>([
    ["this.a; return () => this;", 2],
    ["function g() { this; } const h = function () { this; };", 0],
    ["class A { m() { this; } a = this; }", 0],
    ["class A extends this.Base { [this.name]() { this; } }", 2],
    ["const o = { m: () => this };", 1],
  ])("is found in  %s: %i times", (body, selves) => {
    expect(read(`async function f() { ${body} }`)).toMatchObject({
      selves,
      selfInParameters: false,
    });
  });

  it("is reported separately among the parameters", () => {
    expect(read("async function f(a = this.b) { this; }")).toMatchObject({
      selves: 2,
      selfInParameters: true,
    });
  });
});

describe("whether a function can catch its errors inside", () => {
  it.each<[string, boolean]>([
    ["a", true],
    ["a = 1, b = c, d = `e`, f = -1, g = () => h(), i = function () {}", true],
    ["a = []", true],
    ["a = [1, [b]], c = { d: 1, e: { f: g } }", true],
    ["a = new Date(), b = new Map(), c = new Set()", true],
    ["a = (1 as number)", true],
    ["{ a, b = 1 }: X, [c, , d = 2]: Y, ...e: Z", true],
    ["a = b()", false],
    ["a = b.c", false],
    ["a = `${b}`", false],
    ["a = [b()]", false],
    ["a = [...b]", false],
    ["a = { b: c() }", false],
    ["a = { [b]: 1 }", false],
    ["a = { ...b }", false],
    ["a = new Date(b)", false],
    ["a = new Database()", false],
    ["a = delete b.c", false],
    ["a = -b()", false],
    ["{ a = b() }: X", false],
    ["{ a: { b = c() } }: X", false],
    ["{ [a]: b }: X", false],
    ["[a = b()]: X", false],
    ["{ a } = b()", false],
  ])("with the parameters (%s): %s", (parameters, catchable) => {
    expect(read(`async function f(${parameters}) {}`).catchable).toBe(catchable);
  });

  it.each<[string, boolean]>([
    ["try { await a(); } catch { return b(); }", true],
    ["try { return a(); } catch {}", false],
    ["try { return 1; } catch {}", true],
    ["try { if (a) return b(); } finally {}", false],
    ["try {} catch { return a(); } finally {}", false],
    ["try {} finally { return a(); }", true],
    ["try { try {} finally { return a(); } } catch {}", false],
    ["try { try {} catch { return a(); } } catch {}", false],
    ["try { const g = () => { return a(); }; } catch {}", true],
    ["return a(); try {} catch {}", true],
    ["try {} catch {} return a();", true],
  ])("with the body %s: %s", (body, catchable) => {
    expect(read(`async function f() { ${body} }`).catchable).toBe(catchable);
  });
});
