// What goes where: every rule of the cut with its case.

import { describe, expect, it } from "vitest";

import { lines, split } from "./_harness.ts";

interface Case {
  readonly source: string;
  readonly procedures?: string[];
  readonly held?: string[];
  readonly file?: string;
  readonly shared?: string[];
  readonly body?: string[];
}

// Generated imports, exports and wrappers are left out.
const own = (all: string[]): string[] =>
  all.filter((line) => !/^(?:import \{[^}]*\} from "(?:\.\/graph|\.\/m))|^export \{/.test(line));

const cases: [rule: string, found: Case][] = [
  [
    "a private declaration goes with the procedure that needs it",
    { source: "const a = 1;\nexport async function f() { return a }", body: ["const a = 1;", "f"] },
  ],
  [
    "what an unsegmented export needs is shared, and only there",
    {
      source: "const a = 1;\nexport const b = () => a;\nexport async function f() { return a }",
      shared: ["const a = 1;", "export const b = () => a;"],
      body: ["f"],
    },
  ],
  [
    "what only a procedure that this build doesn't hold needs is nowhere",
    {
      source:
        "const a = 1, b = 2;\nexport async function f() { return a }\nexport async function g() { return b }",
      procedures: ["f", "g"],
      held: ["f"],
      body: ["const a = 1 ;", "f"],
    },
  ],
  [
    "reaching stops at a procedure: it is a seam",
    {
      source:
        "const a = 1;\nexport async function f() { return g() }\nexport async function g() { return a }",
      procedures: ["f", "g"],
      held: ["f"],
      body: ["f"],
    },
  ],
  [
    "an import is taken name by name",
    {
      source:
        'import d, { a, /* of b */ b, type T, c as e } from "./x";\nexport const x = a;\nexport async function f() { return [d, e] }\nexport async function g() { return b }',
      procedures: ["f", "g"],
      held: ["f"],
      shared: ['import { a } from "./x";', "export const x = a;"],
      body: ['import d, { c as e } from "./x";', "f"],
    },
  ],
  [
    "an import may be in both parts",
    {
      source:
        'import * as x from "./x";\nexport const a = x;\nexport async function f() { return x }',
      shared: ['import * as x from "./x";', "export const a = x;"],
      body: ['import * as x from "./x";', "f"],
    },
  ],
  [
    "a default import alone",
    {
      source:
        'import d, * as n from "./x" with { type: "json" };\nexport async function f() { return d }',
      body: ['import d from "./x" with { type: "json" };', "f"],
    },
  ],
  [
    "a namespace import alone",
    {
      source: 'import d, * as n from "./x";\nexport async function f() { return n }',
      body: ['import * as n from "./x";', "f"],
    },
  ],
  [
    "types are no references",
    {
      source:
        'import { T } from "./x";\ninterface A { t: T }\ntype B = typeof a;\nconst a = 1;\nexport async function f(t: T, u: A): Promise<B> { return t as any }',
      body: ["f"],
    },
  ],
  [
    "an import that only types need is gone",
    {
      source:
        'import type { T } from "./x";\nimport { type U } from "./y";\nexport async function f(t: T | U) {}',
      body: ["f"],
    },
  ],
  [
    "destructuring is one declarator",
    {
      source:
        "const { a, b: [c] } = x(), d = 1;\nfunction x() { return { a: 1, b: [2] } }\nexport async function f() { return c }",
      body: ["const { a, b: [c] } = x() ;", "function x() { return { a: 1, b: [2] } }", "f"],
    },
  ],
  [
    "a statement whose bindings are all shared is shared",
    {
      source: "export const list: number[] = [];\nlist.push(1);\nexport async function f() {}",
      shared: ["export const list: number[] = [];", "list.push(1);"],
      body: ["f"],
    },
  ],
  [
    "a statement that mentions a procedure needs it",
    {
      source: "export const o = {};\nf.schema = o;\nexport async function f() {}",
      shared: ["export const o = {};"],
      body: ["$f.schema = o;", "f"],
    },
  ],
  [
    "not held by this build: not there",
    {
      source: "f.schema = {};\nexport async function f() {}\nexport async function g() {}",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement that needs something which only a server's procedure needs stays on the server",
    {
      source:
        "const s = 1;\ng.schema = s;\nexport async function f() { return s }\nexport async function g() {}",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement that needs only what the browser's procedures need goes there too",
    {
      source:
        "const s = [];\ns.push(g);\nexport async function f() {}\nexport async function g() { return s }",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["const s = [];", "s.push($g);", "g"],
    },
  ],
  [
    "a statement that mentions nothing goes to the body of a build that holds everything",
    {
      source: 'import "./setup";\nconsole.log(1);\nexport async function f() {}',
      body: ['import "./setup";', "console.log(1);", "f"],
    },
  ],
  [
    "and of no other",
    {
      source:
        'import "./setup";\nconsole.log(1);\nexport async function f() {}\nexport async function g() {}',
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement brings what it needs along",
    {
      source:
        'import { connect } from "./x";\nconst url = "u";\nconnect(url);\nexport async function f() {}',
      body: ['import { connect } from "./x";', 'const url = "u";', "connect(url);", "f"],
    },
  ],
  [
    "a namespace of types is a type",
    {
      source:
        "export namespace N { export type T = 1; interface I {} }\nexport async function f() {}",
      body: ["f"],
    },
  ],
  [
    "directives and empty statements are nothing",
    { source: '"use strict";\n;\nexport async function f() {}', body: ["f"] },
  ],
  [
    "a var in a block is a binding",
    {
      source:
        "if (true) { var a = 1 }\nexport const b = () => a;\nexport async function f() { return a }",
      shared: ["if (true) { var a = 1 };", "export const b = () => a;"],
      body: ["f"],
    },
  ],
  [
    "a statement that declares goes only to those who need its names",
    {
      source:
        "export const list = [1];\nfor (const n of list) { var a = n }\nexport async function f() { return list }\nexport async function g() { return a }",
      procedures: ["f", "g"],
      held: ["f"],
      shared: ["export const list = [1];"],
      body: ["f"],
    },
  ],
  [
    "a statement that declares what nobody needs",
    {
      source: "for (var i = 0; i < 3; i++) console.log(i);\nexport async function f() {}",
      body: ["for (var i = 0; i < 3; i++) console.log(i);", "f"],
    },
  ],
  [
    "a namespace of types is a type",
    {
      source:
        "export namespace N { export type T = 1; interface I {} }\nexport async function f() {}",
      body: ["f"],
    },
  ],
  [
    "declarations that merge stay together",
    {
      source: "enum E { A = 1 }\nenum E { B = 2 }\nexport async function f() { return E.B }",
      body: ["enum E { A = 1 }", "enum E { B = 2 }", "f"],
    },
  ],
  [
    "a class that extends",
    {
      source:
        "class A {}\nexport class B extends A {}\nexport async function f() { return new A() }",
      shared: ["class A {}", "export class B extends A {}"],
      body: ["f"],
    },
  ],
  [
    "an export list and its default",
    {
      source:
        "const a = 1, b = 2;\nexport { a as c };\nexport default b;\nexport async function f() { return a + b }",
      shared: ["const a = 1, b = 2;"],
      body: ["f"],
    },
  ],
  [
    "a default expression",
    {
      source: "export default { a: 1 };\nexport async function f() {}",
      shared: ["export default { a: 1 };"],
      body: ["f"],
    },
  ],
  [
    "a default of a binding that changes keeps the value that it had",
    {
      source: "let a = 1;\nexport default a;\na = 2;\nexport async function f() {}",
      shared: ["let a = 1;", "export default a;", "a = 2;"],
      body: ["f"],
    },
  ],
  [
    "the JSX factory comes along where JSX is",
    {
      source:
        'import React, { useState } from "react";\nexport const f = async () => <b />;\nexport const g = async () => useState;',
      file: "m.tsx",
      procedures: ["f", "g"],
      held: ["f"],
      body: ['import React from "react";', "f"],
    },
  ],
  [
    "a pragma stays, what else its comment says doesn't",
    {
      source:
        "/** Secrets.\n * @jsxImportSource preact */\nconst a = 1;\nexport const f = async () => <b />;\nexport const g = async () => a;",
      file: "m.tsx",
      procedures: ["f", "g"],
      held: ["f"],
      body: ["/**", "@jsxImportSource preact */", "f"],
    },
  ],
];

describe("what goes where", () => {
  it.each(cases)(
    "%s",
    (_rule, { source, procedures = ["f"], held, file, shared = [], body = [] }) => {
      const parts = split(source, {
        procedures,
        ...(held === undefined ? {} : { held }),
        ...(file === undefined ? {} : { file }),
      });
      expect(parts.problems).toEqual([]);
      // Procedures are recognised by their trace line; other tests look at their text.
      const short = own(lines(parts.body)).map(
        (line) => /\[shop\/(\w+) \| v1\.0\.0\]/.exec(line)?.[1] ?? line,
      );
      expect({ shared: own(lines(parts.shared)), body: short }).toEqual({ shared, body });
    },
  );
});

describe("warnings", () => {
  const warnings = (
    source: string,
    options: Partial<Parameters<typeof split>[1]> = {},
  ): unknown[] =>
    split(source, { procedures: ["f"], ...options }).warnings.map((one) => [
      one.line,
      one.column,
      one.message,
    ]);

  it("tells what is in no part and would have acted", () => {
    const source =
      'import { unused } from "./x";\nconst a = start(), b = 1;\nconst c = () => start();\nfunction start() {}\nexport async function f() {}';
    expect(warnings(source)).toEqual([
      [2, 7, expect.stringContaining("'a' is needed by no export")],
    ]);
    expect(warnings(source, { file: "m.js" })).toEqual([
      [1, 10, expect.stringContaining("'unused'")],
      [2, 7, expect.stringContaining("'a'")],
    ]);
    expect(warnings(source, { environment: "browser" })).toEqual([]);
  });

  it("tells what a browser's build leaves out though it mentions a procedure that is there", () => {
    const source =
      'import "./m.css";\nconst s = 1;\nf.schema = s;\nconsole.log(s);\nexport async function f() {}\nexport async function g() { return s }';
    expect(
      warnings(source, { procedures: ["f", "g"], held: ["f"], environment: "browser" }),
    ).toEqual([
      [1, 1, expect.stringContaining("takes effect on servers only")],
      [3, 1, expect.stringContaining("runs on servers only")],
    ]);
  });
});

describe("parts that would hold nothing", () => {
  it("are not there", () => {
    const parts = split(
      "const a = 1;\nexport async function f() { return a }\nexport { f as g };",
      { procedures: ["f"], held: [] },
    );
    expect([parts.shared, parts.body]).toEqual([undefined, undefined]);
    expect(parts.face.code).not.toContain("shared");
  });
});

describe("builds", () => {
  it("have one face and one shared part, whatever they hold", () => {
    const source =
      "const a = 1, b = 2;\nexport const c = () => a + b;\nexport async function f() { return a }\nexport async function g() { return [a, b, f] }\nc();\nf.x = 1;";
    const builds = [["f", "g"], ["f"], ["g"], []].map((held) =>
      split(source, { procedures: ["f", "g"], held }),
    );
    const [first] = builds;
    for (const { face, shared, problems } of builds)
      expect({ face, shared, problems }).toEqual({
        face: first?.face,
        shared: first?.shared,
        problems: [],
      });
  });
});
