// Which code refers to a name of the module, and which only seems to.

import { describe, expect, it } from "vitest";

import { split } from "./_harness.ts";

const refersToX = (code: string, file = "m.ts"): boolean => {
  const source = `const x = "marked";\nlet own: any;\ntype T = 1;\nexport async function f(p: any, q: any = 0) {\n${code}\n}`;
  const { body, problems } = split(
    file === "m.ts" || file === "m.tsx" ? source : source.replace(/: any|type T = 1;/g, ""),
    {
      file,
      procedures: ["f"],
    },
  );
  expect(problems).toEqual([]);
  return body!.code.includes("marked");
};

describe("a reference to a name of the module", () => {
  it.each([
    "x;",
    "return { x }",
    "return { a: x, [x]: 1 }",
    "p[x]; p?.[x];",
    "x.x",
    "x`a`",
    "`${x}`",
    "new x(...x)",
    "for (const a of x) {}",
    "for (const { a = x } of p) {}",
    "({ a: p[x] } = p)",
    "({ [x]: own } = p)",
    "({ own = x } = p)",
    "function g(a = x) { var x }",
    "const g = ({ b = x }) => b",
    "class A extends x {}",
    "class A { [x]() {} }",
    "class A { static a = x }",
    "class A { static { x } }",
    "class A { m() { return x } }",
    "class A { constructor(private a = x) {} }",
    "class A { @x m() {} }",
    "{ let x = 1 } x",
    "if (p) { function x() {} } x",
    "try {} catch (x) {} x",
    "for (let x = 0; ; ) { break } x",
    "switch (p) { case 1: let x = 1 } x",
    "switch (x) { case 1: let x = 1 }",
    "(function x() {}); x",
    "(class x {}); x",
    "x: for (;;) { break x } return x",
    "import(x)",
    "await x; yield_: x",
    "delete x.a; typeof x; void x;",
    "x as T; <T>x; x!; x satisfies T; x<T>",
    "enum E { A = x.length }",
    "namespace N { export const a = x }",
    "using_: { p = x }",
    "p ||= x; p ??= () => x",
    "a: { const { ...rest } = x }",
    "return function () { return () => x }",
    "export_: x?.y",
  ])("is found in  %s", (code) => {
    expect(refersToX(code)).toBe(true);
  });

  it.each([
    "const x = 1; return x",
    "var y = x; { var x = 1 }",
    "return x; function x() {}",
    "class x {} return x",
    "const { x } = p; return x",
    "const [{ a: x }, ...[y]] = p; return x",
    "const { ...x } = p; return x",
    "return (x => x)(p)",
    "return (({ x }) => x)(p)",
    "return ((...x) => x)(p)",
    "return function x() { return x }",
    "return class x { m() { return x } }",
    "try {} catch (x) { return x }",
    "try {} catch ({ x }) { return x }",
    "for (const x of p) p(x)",
    "for (let x = 0; x < 1; x++) p(x)",
    "for (const x in p) { p(x) }",
    "switch (p) { case 1: let x = 1; case 2: return x }",
    "x: for (;;) { continue x }",
    "return { x: 1, x() {}, get x() { return 1 } }",
    "return p.x + p?.x + p.#x".replace(" + p.#x", ""),
    "class A { x = 1; static x() {} #x = this.x }",
    "return p as x",
    "const a: typeof x = p; let b: x; type C = x",
    "interface I extends x { x: x }",
    "class A implements x {}",
    "function g(this: x, a: x): x { return a }",
    "enum E { x = 1, y = x }",
    "enum x { a } return x.a",
    "namespace x { export const a = 1 } return x",
    "class A { constructor(private x: number) { x } }",
    "declare_: { let x!: number; x }",
    "function g(): x; function g() {}",
    "return import.meta",
    "return 'x' + /x/.source // x",
  ])("isn't found in  %s", (code) => {
    expect(refersToX(code)).toBe(false);
  });

  it.each([
    ["<x.y />", true],
    ["<Y a={x} />", true],
    ["<Y {...x}>{x}</Y>", true],
    ["<Y>{...x}</Y>", true],
    ["<x />", false],
    ["<Y x='x' x-y={1}>x</Y>", false],
    ["<x-y />", false],
    ["<x:y />", false],
  ])("in the JSX  %s  is found: %s", (code, expected) => {
    expect(refersToX(`return ${code}`, "m.tsx")).toBe(expected);
    expect(refersToX(`return ${code}`, "m.jsx")).toBe(expected);
  });
});
