// Each rule by which the units of a module go to the shared part or to a body, with an example.

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
const ownLines = (all: string[]): string[] =>
  all.filter((line) => !/^(?:import \{[^}]*\} from "(?:\.\/graph|\.\/m))|^export \{/.test(line));

const cases: [rule: string, example: Case][] = [
  [
    "a private declaration goes with the procedure that needs it",
    { source: "const a = 1;\nexport async function f() { return a }", body: ["const a = 1;", "f"] },
  ],
  [
    "a declaration that an unsegmented export needs is in the shared part, and in no body",
    {
      source: "const a = 1;\nexport const b = () => a;\nexport async function f() { return a }",
      shared: ["const a = 1;", "export const b = () => a;"],
      body: ["f"],
    },
  ],
  [
    "a declaration that only a procedure of another build needs is in no part",
    {
      source:
        "const a = 1, b = 2;\nexport async function f() { return a }\nexport async function g() { return b }",
      procedures: ["f", "g"],
      held: ["f"],
      body: ["const a = 1 ;", "f"],
    },
  ],
  [
    "a procedure that another procedure calls is reached through its seam, so its needs don't count",
    {
      source:
        "const a = 1;\nexport async function f() { return g() }\nexport async function g() { return a }",
      procedures: ["f", "g"],
      held: ["f"],
      body: ["f"],
    },
  ],
  [
    "each part imports only the names that it needs",
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
    "an import that both parts need is in both",
    {
      source:
        'import * as x from "./x";\nexport const a = x;\nexport async function f() { return x }',
      shared: ['import * as x from "./x";', "export const a = x;"],
      body: ['import * as x from "./x";', "f"],
    },
  ],
  [
    "a default import is kept without the namespace beside it",
    {
      source:
        'import d, * as n from "./x" with { type: "json" };\nexport async function f() { return d }',
      body: ['import d from "./x" with { type: "json" };', "f"],
    },
  ],
  [
    "a namespace import is kept without the default beside it",
    {
      source: 'import d, * as n from "./x";\nexport async function f() { return n }',
      body: ['import * as n from "./x";', "f"],
    },
  ],
  [
    "a type keeps nothing in a part",
    {
      source:
        'import { T } from "./x";\ninterface A { t: T }\ntype B = typeof a;\nconst a = 1;\nexport async function f(t: T, u: A): Promise<B> { return t as any }',
      body: ["f"],
    },
  ],
  [
    "an import that only types need is dropped",
    {
      source:
        'import type { T } from "./x";\nimport { type U } from "./y";\nexport async function f(t: T | U) {}',
      body: ["f"],
    },
  ],
  [
    "a destructuring declarator is kept as a whole, without its neighbours",
    {
      source:
        "const { a, b: [c] } = x(), d = 1;\nfunction x() { return { a: 1, b: [2] } }\nexport async function f() { return c }",
      body: ["const { a, b: [c] } = x() ;", "function x() { return { a: 1, b: [2] } }", "f"],
    },
  ],
  [
    "a statement that mentions shared declarations only is shared",
    {
      source: "export const list: number[] = [];\nlist.push(1);\nexport async function f() {}",
      shared: ["export const list: number[] = [];", "list.push(1);"],
      body: ["f"],
    },
  ],
  [
    "a statement that mentions a procedure goes to the body",
    {
      source: "export const o = {};\nf.schema = o;\nexport async function f() {}",
      shared: ["export const o = {};"],
      body: ["$f.schema = o;", "f"],
    },
  ],
  [
    "a statement that mentions a procedure of another build is in no part",
    {
      source: "f.schema = {};\nexport async function f() {}\nexport async function g() {}",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement that needs something of a server's procedure stays on the server",
    {
      source:
        "const s = 1;\ng.schema = s;\nexport async function f() { return s }\nexport async function g() {}",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement that needs only what the browser's procedures need goes to the browser",
    {
      source:
        "const s = [];\ns.push(g);\nexport async function f() {}\nexport async function g() { return s }",
      procedures: ["f", "g"],
      held: ["g"],
      body: ["const s = [];", "s.push($g);", "g"],
    },
  ],
  [
    "`onStop` goes where what it closes goes: with a browser's procedure",
    {
      source:
        'import { onStop } from "seamline";\nconst s = [];\nonStop(() => s.pop());\nexport async function f() {}\nexport async function g() { return s }',
      procedures: ["f", "g"],
      held: ["g"],
      body: ['import { onStop } from "seamline";', "const s = [];", "onStop(() => s.pop());", "g"],
    },
  ],
  [
    "`onStop` of a namespace goes where what it closes goes",
    {
      source:
        'import * as own from "seamline";\nconst s = [];\nown.onStop(() => s.pop());\nexport async function f() {}\nexport async function g() { return s }',
      procedures: ["f", "g"],
      held: ["g"],
      body: [
        'import * as own from "seamline";',
        "const s = [];",
        "own.onStop(() => s.pop());",
        "g",
      ],
    },
  ],
  [
    "`onStop` goes where what it closes goes: to the shared part",
    {
      source:
        'import { onStop as atEnd } from "seamline";\nexport const s = [];\natEnd(() => s.pop());\nexport async function f() {}',
      shared: [
        'import { onStop as atEnd } from "seamline";',
        "export const s = [];",
        "atEnd(() => s.pop());",
      ],
      body: ["f"],
    },
  ],
  [
    "`onStop` of what only servers need stays there",
    {
      source:
        'import { onStop } from "seamline";\nconst s = [];\nonStop(() => s.pop());\nexport async function f() { return s }\nexport async function g() {}',
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
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
    "a statement that mentions nothing is left out of a build that doesn't hold everything",
    {
      source:
        'import "./setup";\nconsole.log(1);\nexport async function f() {}\nexport async function g() {}',
      procedures: ["f", "g"],
      held: ["g"],
      body: ["g"],
    },
  ],
  [
    "a statement brings along what it needs",
    {
      source:
        'import { connect } from "./x";\nconst url = "u";\nconnect(url);\nexport async function f() {}',
      body: ['import { connect } from "./x";', 'const url = "u";', "connect(url);", "f"],
    },
  ],
  [
    "a namespace of types is dropped like a type",
    {
      source:
        "export namespace N { export type T = 1; interface I {} }\nexport async function f() {}",
      body: ["f"],
    },
  ],
  [
    "directives and empty statements are dropped",
    { source: '"use strict";\n;\nexport async function f() {}', body: ["f"] },
  ],
  [
    "a statement with a `var` in a block is a declaration",
    {
      source:
        "if (true) { var a = 1 }\nexport const b = () => a;\nexport async function f() { return a }",
      shared: ["if (true) { var a = 1 };", "export const b = () => a;"],
      body: ["f"],
    },
  ],
  [
    "a statement that declares a name goes only to parts that need the name",
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
    "a statement that declares a name that nothing needs runs in the body",
    {
      source: "for (var i = 0; i < 3; i++) console.log(i);\nexport async function f() {}",
      body: ["for (var i = 0; i < 3; i++) console.log(i);", "f"],
    },
  ],
  [
    "declarations of one name that merge stay together",
    {
      source: "enum E { A = 1 }\nenum E { B = 2 }\nexport async function f() { return E.B }",
      body: ["enum E { A = 1 }", "enum E { B = 2 }", "f"],
    },
  ],
  [
    "the parent of a shared class is shared",
    {
      source:
        "class A {}\nexport class B extends A {}\nexport async function f() { return new A() }",
      shared: ["class A {}", "export class B extends A {}"],
      body: ["f"],
    },
  ],
  [
    "a declaration that an export list or a default names is shared",
    {
      source:
        "const a = 1, b = 2;\nexport { a as c };\nexport default b;\nexport async function f() { return a + b }",
      shared: ["const a = 1, b = 2;"],
      body: ["f"],
    },
  ],
  [
    "a default export of an expression is shared",
    {
      source: "export default { a: 1 };\nexport async function f() {}",
      shared: ["export default { a: 1 };"],
      body: ["f"],
    },
  ],
  [
    "a default export of a variable that is written later keeps its statement",
    {
      source: "let a = 1;\nexport default a;\na = 2;\nexport async function f() {}",
      shared: ["let a = 1;", "export default a;", "a = 2;"],
      body: ["f"],
    },
  ],
  [
    "the JSX factory is imported by the part that has JSX",
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
    "a JSX pragma stays in every part without the rest of its comment",
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

describe("partition", () => {
  it.each(cases)(
    "%s",
    (_rule, { source, procedures = ["f"], held, file, shared = [], body = [] }) => {
      const parts = split(source, {
        procedures,
        ...(held === undefined ? {} : { held }),
        ...(file === undefined ? {} : { file }),
      });
      expect(parts.problems).toEqual([]);
      // A procedure is recognized by its trace line; other tests look at its text.
      const procedureNames = ownLines(lines(parts.body)).map(
        (line) => /\[shop\/(\w+) \| v1\.0\.0\]/.exec(line)?.[1] ?? line,
      );
      expect({ shared: ownLines(lines(parts.shared)), body: procedureNames }).toEqual({
        shared,
        body,
      });
    },
  );
});

describe("splitting warns", () => {
  const warnings = (
    source: string,
    options: Partial<Parameters<typeof split>[1]> = {},
  ): unknown[] =>
    split(source, { procedures: ["f"], ...options }).warnings.map(({ line, column, message }) => [
      line,
      column,
      message,
    ]);

  it("of code with an effect that is in no part, on the server only", () => {
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

  it("of style sheets, and of statements about a held procedure, that a browser's build leaves out", () => {
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

describe("a module without shared code and without held procedures", () => {
  it("has no shared part, no body, and a face that imports neither", () => {
    const parts = split(
      "const a = 1;\nexport async function f() { return a }\nexport { f as g };",
      { procedures: ["f"], held: [] },
    );
    expect([parts.shared, parts.body]).toEqual([undefined, undefined]);
    expect(parts.face.code).not.toContain("shared");
  });
});

describe("builds of one module", () => {
  it("have the same face and shared part whatever they hold", () => {
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
