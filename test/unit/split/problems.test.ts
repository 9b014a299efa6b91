// Each mistake for which a module can't be split: where it is, what is wrong, and what to do.

import { describe, expect, it } from "vitest";

import { formatProblem } from "../../../src/base/problem.ts";
import { describe as describeSource, split } from "./_harness.ts";

type Expected = [position: string, message: string | RegExp, hint?: string | RegExp];

const mistakes: [what: string, source: string, procedures: string[], expected: Expected[]][] = [
  [
    "an export that the module doesn't have",
    "export async function quote() {}",
    ["qoute"],
    [
      [
        "1:1",
        "A segment names 'qoute', but the module exports no such value",
        "Did you mean 'quote'? It exports 'quote'",
      ],
    ],
  ],
  [
    "a default export that the module doesn't have",
    "export const a = 1;",
    ["default"],
    [["1:1", /names the default export, but the module has none/, "It exports 'a'"]],
  ],
  [
    "an export that is a type",
    "export interface Quote {}\nexport type T = 1",
    ["Quote"],
    [["1:1", /exports no such value/, "It exports nothing"]],
  ],
  [
    "an export that comes from another module",
    "import { a } from './a';\nexport { a };",
    ["a"],
    [["2:10", "'a' is only passed on from './a'", /name that one/]],
  ],
  [
    "a constant that isn't a function",
    "export const a = 1;",
    ["a"],
    [["1:14", /'a' is named by a segment, but it is not a function/, /async function/]],
  ],
  ["a variable without a value", "export let a;", ["a"], [["1:12", /not a function/]]],
  [
    "a destructured constant",
    "export const { a } = { a: async () => {} };",
    ["a"],
    [["1:14", /not a function/]],
  ],
  [
    "a function that another function made, without a type",
    "export const a = make(1, async (b) => {});",
    ["a"],
    [["1:14", /doesn't say which parameters/, /@type \{\(title/]],
  ],
  [
    "a class named by a segment",
    "export default class A {}",
    ["default"],
    [["1:16", "The default export is named by a segment, but it is a class", /everywhere/]],
  ],
  [
    "a function that is not async",
    "export function a() { return Promise.resolve(1) }",
    ["a"],
    [["1:8", /'a' is named by a segment, but it is not async/, /`async`/]],
  ],
  [
    "a generator that is not async",
    "export function* a() {}",
    ["a"],
    [
      [
        "1:8",
        "'a' is named by a segment, but it is a generator that is not async",
        /`async function\*`/,
      ],
    ],
  ],
  [
    "a wrapped function whose type returns an iterator that is not async",
    "/** @type {() => Generator<number>} */ export const a = make(1);",
    ["a"],
    [["1:53", /type returns an iterator that is not async/, /`async function\*`/]],
  ],
  [
    "a generator that another function made, without a type",
    "export const a = make(1, async function* (b) {});",
    ["a"],
    [
      [
        "1:14",
        /doesn't say which parameters/,
        /@type \{\(title: string\) => AsyncGenerator<string>/,
      ],
    ],
  ],
  [
    "an arrow that is not async",
    "const a = () => 1;\nexport { a as b };",
    ["b"],
    [["1:11", /'b' .* not async/]],
  ],
  [
    "a nested object pattern",
    "export async function a({ b: { c } }) {}",
    ["a"],
    [["1:30", /pattern inside a parameter's pattern/, /plain parameter/]],
  ],
  [
    "a nested array pattern",
    "export const a = async ([b, [c] = []]) => {}",
    ["a"],
    [["1:29", /pattern inside/]],
  ],
  [
    "a rest element in an object",
    "export async function a({ b, ...c }) {}",
    ["a"],
    [["1:30", /rest element/]],
  ],
  [
    "a rest element in an array",
    "export async function a([b, ...c]) {}",
    ["a"],
    [["1:29", /rest element/]],
  ],
  [
    "a rest parameter that is a pattern",
    "export async function a(...[b]) {}",
    ["a"],
    [["1:25", /rest parameter that is a pattern/]],
  ],
  ["a computed name", "export async function a({ [b]: c }) {}", ["a"], [["1:27", /computed name/]]],
  [
    "a parameter name that stands twice",
    "export async function a(b, { b: c }) {}",
    ["a"],
    [["1:8", /Two parameters are called 'b'/, /Rename/]],
  ],
  [
    "a parameter name that is forbidden as a key",
    "export async function a(constructor, { prototype: b }, ...__proto__) {}",
    ["a"],
    [
      ["1:8", "A parameter can't be called 'constructor': no data may have such a key", /Rename/],
      ["1:8", "A parameter can't be called 'prototype': no data may have such a key"],
    ],
  ],
  [
    "an enum named by a segment",
    "export enum A { B }",
    ["A"],
    [["1:8", "'A' is named by a segment, but it is an enum", /^Name async functions in segments/]],
  ],
  [
    "an enum by another name",
    "const enum A { B }\nexport { A as C };",
    ["C"],
    [["2:10", "'C' is named by a segment, but it is an enum"]],
  ],
  [
    "a namespace named by a segment",
    "export namespace A {\n  export const b = 1;\n}",
    ["A"],
    [
      [
        "1:8",
        "'A' is named by a segment, but it is a namespace",
        /^Name async functions in segments/,
      ],
    ],
  ],
  [
    "an export called `then`",
    "async function a() {}\nexport async function then() {}\nexport { a as b };",
    ["b", "then"],
    [["2:8", /^a module can't export `then`: /, /^Rename it$/]],
  ],
  [
    "a function that segments name twice",
    "export async function a() {}\nexport { a as b };",
    ["a", "b"],
    [["2:10", /'b' and 'a' are two names of one function/]],
  ],
  [
    "a function that merges with a namespace",
    "export async function a() {}\nexport namespace a { export const b = 1 }",
    ["a"],
    [["1:8", /declared more than once/]],
  ],
  [
    "an assignment to a shared variable",
    "export let n = 0;\nexport async function a() { n = 1 }",
    ["a"],
    [["2:29", /'n' is written here/, /const state = \{ n: … \}/]],
  ],
  [
    "an update of a shared variable",
    "let n = 0;\nexport const get = () => n;\nexport const a = async () => { n++; return n += 1 };",
    ["a"],
    [
      ["3:32", /'n' is written/],
      ["3:44", /'n' is written/],
    ],
  ],
  [
    "a destructuring assignment to a shared variable",
    "export let n = 0, m = 1;\nexport async function a(x) { [n, { m = 2 }] = x; ({ y: n, ...m } = x); [x.n] = x }",
    ["a"],
    [
      ["2:31", /'n'/],
      ["2:36", /'m'/],
      ["2:56", /'n'/],
      ["2:62", /'m'/],
    ],
  ],
  [
    "a loop that assigns a shared variable",
    "export let n;\nexport async function a(x) { for (n of x); for (n in x); for await ([n] of x); for (n = 0;;) break }",
    ["a"],
    [
      ["2:35", /'n'/],
      ["2:49", /'n'/],
      ["2:70", /'n'/],
      ["2:85", /'n'/],
    ],
  ],
  [
    "an assignment through a type assertion",
    "export let n = 0;\nexport async function a() { (n as any) = 1; n!++ }",
    ["a"],
    [
      ["2:30", /'n'/],
      ["2:45", /'n'/],
    ],
  ],
  [
    "an assignment in a statement of the body",
    "export let n = 0;\nconst own = 1;\nn = own;\nexport async function a() { return own }",
    ["a"],
    [["3:1", /'n' is written here/]],
  ],
  [
    "an assignment in a private function of the body",
    "export let n = 0;\nconst bump = () => { n++ };\nexport async function a() { bump() }",
    ["a"],
    [["2:22", /'n' is written here/]],
  ],
  [
    "an assignment to a procedure",
    "export async function a() {}\na = b(a);",
    ["a"],
    [["2:1", /'a' is written here, but a segment names it/]],
  ],
  ["a syntax error", "export async function a( {}\nlet", ["a"], [["2:1", /Expected/]]],
];

const fileOf = (source: string): string =>
  /interface|\bas any|namespace|\benum/.test(source) ? "shop/m.ts" : "shop/m.js";

describe("problems of a module", () => {
  it.each(mistakes)("%s is reported at its position", (_what, source, procedures, expected) => {
    const { problems } = split(source, { procedures, file: fileOf(source) });
    expect(problems.map(({ line, column, message }) => [`${line}:${column}`, message])).toEqual(
      expected.map(([position, message]) => [
        position,
        typeof message === "string" ? message : expect.stringMatching(message),
      ]),
    );
    for (const [at, [, , hint]] of expected.entries()) {
      if (hint !== undefined)
        expect(problems[at]?.hint).toEqual(
          typeof hint === "string" ? hint : expect.stringMatching(hint),
        );
      expect(problems[at]).toMatchObject({
        file: fileOf(source),
        frame: expect.stringContaining("^"),
      });
    }
  });

  it("are reported all at once", () => {
    const source =
      "export let n = 0;\nexport function a() {}\nexport async function b({ c: {} }) { n++ }\nexport class C {}";
    const { problems } = split(source, { procedures: ["a", "b", "C", "d"] });
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4, 1, 3]);
  });

  it("have a code frame with a marker below the position", () => {
    const [problem] = split(
      "\n\nexport let n = 0;\n\n\texport async function f() { n++ }\n\nlast();",
      { procedures: ["f"] },
    ).problems;
    expect(formatProblem(problem!)).toBe(
      [
        "shop/m.ts:5:30: 'n' is written here, in the code of a procedure, but it is declared in the part of the module that others import",
        "  3 | export let n = 0;",
        "  4 |",
        "> 5 | \texport async function f() { n++ }",
        "    | \t                            ^",
        "  6 |",
        "  → Make it a property of a const object, `const state = { n: … }`, and write `state.n`; or write it in an exported function",
      ].join("\n"),
    );
  });

  it("don't include writes inside one part, or of names that only look the same", () => {
    const sources = [
      "let n = 0;\nexport async function f() { n++ }",
      "export let n = 0;\nexport const set = (m) => { n = m };\nexport async function f(n) { n++; { let set; set = 1 } set(n) }",
      "export const state = { n: 0 };\nexport async function f() { state.n++; state.m = 1; [state.n] = [1] }",
      "export let n = 0;\nn = 1;\nexport async function f() { return n }",
      "export class A { static n = 0 }\nexport async function f() { A.n++; var A2 = A; A2 = 1; class B { m() { B = 1 } } }",
    ];
    expect(
      sources.flatMap((source) => split(source, { procedures: ["f"], file: "m.js" }).problems),
    ).toEqual([]);
  });

  it("are in the description of the export too, so a build can refuse before it splits", () => {
    const source =
      "export function a() {}\nexport async function b({ c: {} }) {}\nexport async function d() {}\nexport const e = 1";
    expect(
      describeSource(source).exports.map(({ name, problems }) => [name, problems.length]),
    ).toEqual([
      ["a", 1],
      ["b", 1],
      ["d", 0],
      ["e", 1],
    ]);
    expect(describeSource("let 1").problems).toMatchObject([
      { file: "shop/m.ts", line: 1, frame: expect.any(String) },
    ]);
  });
});
