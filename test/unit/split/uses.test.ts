// Variables that the units of a module change, its state, and the text of signatures.

import * as vite from "vite";
import { describe as suite, expect, it } from "vitest";

import { parserOf } from "../../../server/compile/read/load-vite.ts";
import { describeModule } from "../../../src/split/describe/describe.ts";
import { describe } from "./_harness.ts";

const read = (source: string) =>
  describeModule({ source, file: "state.ts", parse: parserOf(vite) }).uses.units;
const changes = (source: string) => read(source).flatMap((unit) => unit.changes);
const states = (source: string) =>
  read(source).flatMap((unit) => (unit.state === undefined ? [] : unit.names));

suite("the names that a function changes", () => {
  it.each([
    ["let n = 0;\nexport function f() { n++; }", ["n"]],
    ["let n = 0;\nexport function f() { n = 1; }", ["n"]],
    ["const m = new Map();\nexport function f() { m.set(1, 2); }", ["m"]],
    ["const o = { list: [] as number[] };\nexport const f = () => o.list.push(1);", ["o"]],
    [
      "const o: Record<string, number> = {};\nexport const f = (k: string) => { o[k] = 1; };",
      ["o"],
    ],
    [
      "const o: Record<string, number> = {};\nexport const f = (k: string) => { delete o[k]; };",
      ["o"],
    ],
    ["const o = { a: 1 };\nexport const f = () => Object.assign(o, { b: 2 });", ["o"]],
    ["const o = { a: 1 };\nexport const f = () => { [o.a] = [2]; };", ["o"]],
    ["class C { static n = 0; }\nexport const f = () => { C.n += 1; };", ["C"]],
    ["import { m } from './m';\nexport const f = () => m.delete(1);", ["m"]],
    // Another binding of the name, and a read.
    ["const m = new Map();\nexport function f(m: Map<number, number>) { m.set(1, 2); }", []],
    ["const m = new Map();\nexport function f() { return m.get(1); }", []],
    // Code that runs while the module loads has the same effect everywhere.
    ["const m = new Map();\nm.set(1, 2);", []],
  ])("in  %j  are %j", (source, expected) => {
    expect(changes(source)).toEqual(expected);
  });

  it("are unknown in text that can't be parsed", () => {
    expect(read("const = 1")).toEqual([]);
  });
});

suite("the names that hold state", () => {
  it.each([
    [
      "const a = new Map(), b = [], c = {}, d = new Set<string>() as Set<string>;",
      ["a", "b", "c", "d"],
    ],
    ["let a = 1;\nexport let b: string;", ["a", "b"]],
    ["class A { static n = 1; }", ["A"]],
    // The client of a database has methods with such names, and keeps its state elsewhere.
    ["const db = new Database(), one = 1, f = () => {}, made = create();\nfunction g() {}", []],
  ])("in  %j  are %j", (source, expected) => {
    expect(states(source)).toEqual(expected);
  });
});

suite("the signature of a function", () => {
  it.each([
    [
      "async function f(a: string, b: number = 1): Promise<void> {}",
      "(a: string, b: number = 1): Promise<void>",
    ],
    [
      "async function f(\n  // how many\n  a: {\n    b: string;\n  },\n  ...c: number[]\n) {}",
      "(a: { b: string; }, ...c: number[])",
    ],
    [
      "async function f(this: Context, a?: Date /* when */): Promise<Map<string, Date>> {}",
      "(a?: Date): Promise<Map<string, Date>>",
    ],
  ])("written as  %j  is shown as %j", (source, expected) => {
    expect(describe(`export ${source}`).exports[0]?.signature).toBe(expected);
  });
});
