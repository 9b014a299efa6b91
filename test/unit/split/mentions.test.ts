// The names of a module that its units mention, and how; and the state that they change.

import { describe, expect, it } from "vitest";

import { describeModule } from "../../../src/split/describe/describe.ts";
import type { ModuleUses } from "../../../src/split/describe/uses.ts";
import { parse } from "./_harness.ts";

const read = (source: string): ModuleUses =>
  describeModule({ source, file: "page.ts", parse }).uses;

/** The mentions of the last unit: `quote()` for a call, `shop.quote` for a member. */
const mentions = (source: string): string[] =>
  (read(source).units.at(-1)?.uses ?? []).map(
    ({ name, member, called }) =>
      `${name}${member === undefined ? "" : `.${member}`}${called ? "()" : ""}`,
  );

const shop = 'import * as shop from "./shop.ts";\n';
const quote = 'import { quote } from "./quote.ts";\n';

describe("a unit that mentions an import", () => {
  it.each<[string, string, string[]]>([
    ["a call", `${quote}export const f = () => quote();`, ["quote()"]],
    ["a value that is passed on", `${quote}export const f = () => list.map(quote);`, ["quote"]],
    [
      "a call through a type assertion",
      `${quote}export const f = () => (quote as F)();`,
      ["quote()"],
    ],
    ["a call through `call`", `${quote}export const f = () => quote.call(this);`, ["quote()"]],
    [
      "a call through `apply`",
      `${quote}export const f = () => quote["apply"](this, []);`,
      ["quote()"],
    ],
    ["a member `call` that isn't called", `${quote}export const f = () => quote.call;`, ["quote"]],
    ["an argument of a call", `${quote}export const f = () => run(quote);`, ["quote"]],
    ["an optional call", `${quote}export const f = () => quote?.();`, ["quote()"]],
    [
      "a call beside other mentions, as a call",
      `${quote}export const f = () => [quote, quote(), quote];`,
      ["quote()"],
    ],
    ["a member that is called", `${shop}export const f = () => shop.quote();`, ["shop.quote()"]],
    ["a member that isn't called", `${shop}export const f = () => shop.quote;`, ["shop.quote"]],
    [
      "a member through a type assertion",
      `${shop}export const f = () => (shop.quote!)();`,
      ["shop.quote()"],
    ],
    ["a member by a string", `${shop}export const f = () => shop["quote"]();`, ["shop.quote()"]],
    ["a computed member, as the whole", `${shop}export const f = (key) => shop[key]();`, ["shop"]],
    [
      "a member called through `call`",
      `${shop}export const f = () => shop.quote.call(1);`,
      ["shop.quote()"],
    ],
    [
      "several members",
      `${shop}export const f = () => [shop.a, shop.b()];`,
      ["shop.a", "shop.b()"],
    ],
    ["a key of another object", `${shop}export const f = () => all[shop];`, ["shop"]],
    [
      "the members that a pattern takes",
      `${shop}export const { quote, order: o } = shop;`,
      ["shop.quote", "shop.order"],
    ],
    ["a pattern with a computed name", `${shop}export const { [key]: a, order } = shop;`, ["shop"]],
    ["a pattern with a rest", `${shop}export const { order, ...others } = shop;`, ["shop"]],
    ["an empty pattern", `${shop}export const {} = shop;`, ["shop"]],
    ["a default inside a pattern", `${shop}export const { a = shop } = other;`, ["shop"]],
    ["nothing if a parameter has the name", `${quote}export const f = (quote) => quote();`, []],
  ])("is read as mentioning %s", (_, source, expected) => {
    expect(mentions(source)).toEqual(expected);
  });

  it("has the offset of each mention", () => {
    const source = `${quote}export const f = () => quote();`;
    expect(read(source).units.at(-1)?.uses[0]?.start).toBe(source.lastIndexOf("quote"));
  });
});

describe("the units of a module", () => {
  it("have the origin of an import", () => {
    const { units } = read(
      'import a, { b as c } from "./a.ts";\nimport * as d from "./d.ts";\nconst e = c;',
    );
    expect(units.map(({ names, from, uses }) => ({ names, from, uses: uses.length }))).toEqual([
      { names: ["a"], from: { specifier: "./a.ts", name: "default" }, uses: 0 },
      { names: ["c"], from: { specifier: "./a.ts", name: "b" }, uses: 0 },
      { names: ["d"], from: { specifier: "./d.ts", name: "*" }, uses: 0 },
      { names: ["e"], from: undefined, uses: 1 },
    ]);
  });

  it("are found by the exports that they declare", () => {
    const { exports } = read("const a = 1, b = 2;\nexport { b as c };\nexport default a;");
    expect([...exports]).toEqual([
      ["c", [1]],
      ["default", [0]],
    ]);
  });

  it("have the position of state that they declare", () => {
    const [, unit] = read("const a = 1;\n  const carts = new Map();").units;
    expect(unit?.state).toEqual({ line: 2, column: 9 });
  });
});

describe("a function that changes state of its module", () => {
  const changes = (source: string): string[] => read(source).units.flatMap((unit) => unit.changes);

  it.each<[string, string, string[]]>([
    [
      "several names in one array pattern",
      "let a, b; const f = () => { [a, b] = [1, 2]; };",
      ["a", "b"],
    ],
    [
      "names in an object pattern, with defaults and a rest",
      "let a, b, c; const f = () => { ({ x: a, y: b = 1, ...c } = o); };",
      ["a", "b", "c"],
    ],
    ["a rest in an array pattern", "let a; const f = () => { [...a] = o; };", ["a"]],
    ["a member of a member", "const o = {}; const f = () => { o.a.b.c = 1; };", ["o"]],
    ["an asserted type", "let n = 0; const f = () => { (n as number)++; };", ["n"]],
    ["a deleted member", "const o = {}; const f = () => { delete (o.a); };", ["o"]],
    ["a function inside a function", "let n = 0; const f = () => () => { n = 1; };", ["n"]],
    ["a method of a class", "let n = 0; class C { m() { n = 1; } }", ["n"]],
    ["only what is read elsewhere", "let n = 0; const f = () => { typeof n; -n; void n; };", []],
    ["another function called assign", "const o = {}; const f = () => Other.assign(o, {});", []],
    ["a computed method", "const m = new Map(); const f = () => m[set](1);", []],
    ["what Object.assign takes from", "const o = {}; const f = () => Object.assign({}, o);", []],
    ["a bare function called set", "const m = new Map(); const f = () => set(m);", []],
  ])("is read as changing it by %s", (_, source, expected) => {
    expect(changes(source)).toEqual(expected);
  });
});
