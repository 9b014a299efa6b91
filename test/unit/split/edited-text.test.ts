// Edits in a body: names, `try`, seams, and functions in place of arrows.

import { describe, expect, it } from "vitest";

import { describe as read, lines, split } from "./_harness.ts";

const body = (source: string, ...procedures: string[]): string =>
  lines(split(source, { procedures }).body).join("\n");
const wrap = "const make = (...args: any[]): any => args.at(-1);\n";
const type = "(title: string) => Promise<string>";

describe("the code of a procedure in a body", () => {
  it("stays valid if its braces touch the code around them", () => {
    expect(body("export async function f() {return 1;}", "f")).toMatch(
      /^async function f\(\) \{ const \$run = \$begun\(\); try \{return 1;\} catch \(\$error\) \{ throw .* \} \}/,
    );
    expect(body("export const f = async () =>{return 1;}", "f")).toMatch(
      /^const f = async \(\) =>\{ const \$run = \$begun\(\); try \{return 1;\} catch/,
    );
  });

  it("of an arrow with an expression gets a block, and awaits what may be a promise", () => {
    expect(body("export const f = async () => g();", "f")).toMatch(
      /=> \{ const \$run = \$begun\(\); try \{ return await \(g\(\)\); \} catch \(\$error\)/,
    );
    expect(body("export const f = async () => ({ a: 1 });", "f")).toMatch(
      /=> \{ const \$run = \$begun\(\); try \{ return (await )?\(\(?\{ a: 1 \}\)?\); \} catch \(\$error\)/,
    );
  });

  it("of an arrow that mentions `this` becomes a function, with or without parentheses", () => {
    for (const arrow of ["async a =>{return this;}", "async (a) =>{return this;}"]) {
      const text = body(`export const f = ${arrow};`, "f");
      expect(text).toMatch(/async function\s*\(a\)\s*\{ const \$run = \$begun\(\); try \{/);
      expect(text).not.toContain("=>");
    }
    expect(body("export const f = async (a) => a;", "f")).toContain("=>");
  });

  it("of a default export keeps its name, even if the module assigns to its properties", () => {
    expect(body("export default async function quote() {}\nquote.limit = 1;", "default")).toMatch(
      /async function quote\(\) \{/,
    );
    expect(body("export default async function () {}", "default")).toMatch(
      /async function \$default\s*\(\) \{/,
    );
    expect(body("export default async () => 1;", "default")).toContain(
      "const $default = async () =>",
    );
  });

  it("with parameters that may throw is called and awaited by a function around it", () => {
    const text = body("export async function f(a = b()) {}", "f");
    expect(text).toMatch(/try \{ return await f\.apply\(this, arguments\); \} catch/);
    expect(text).toMatch(/export \{ \$\w+ as f \};/);
  });

  it("in a wrapper stays an arrow unless it mentions `this`", () => {
    const source = (arrow: string): string => `${wrap}export const f: ${type} = make(${arrow});`;
    expect(body(source("async (title) => title"), "f")).toContain("make(async (title) => title)");
    expect(body(source("async (title) => this"), "f")).toContain("make(async function");
  });
});

describe("a body that needs other code", () => {
  it("keeps the key of a procedure in a shorthand property", () => {
    expect(
      body(
        "export async function f() { return { g, h: g }; }\nexport async function g() {}",
        "f",
        "g",
      ),
    ).toContain("{ g: $g, h: $g }");
  });

  it("has the imports that the shared part has as well", () => {
    const source =
      'import { money } from "./money";\nexport const kept = money(1);\nexport async function f() { return money(kept); }';
    const { shared, body: part } = split(source, { procedures: ["f"] });
    expect(lines(shared)).toEqual([
      'import { money } from "./money";',
      "export const kept = money(1);",
    ]);
    expect(lines(part)).toContain('import { money } from "./money";');
    expect(part?.code).toContain('import { kept } from "./m.shared.mjs";');
  });

  it("imports a private declaration that the shared part needs too, by a generated name", () => {
    const source =
      "const rate = 2;\nexport const kept = rate;\nexport async function f() { return rate; }";
    const { shared, body: part } = split(source, { procedures: ["f"] });
    expect(shared?.code).toContain("export { rate as $rate };");
    expect(part?.code).toContain('import { $rate as rate } from "./m.shared.mjs";');
  });

  it("has the decorators of parameter properties of its classes", () => {
    const source =
      'import { inject } from "./inject";\nexport async function f() { class A { constructor(@inject private a: any) {} } return A; }';
    expect(body(source, "f")).toContain('import { inject } from "./inject";');
  });

  it("doesn't need the types of members that are only declared", () => {
    for (const member of ["abstract accessor [x]: any", "abstract [x]: any"]) {
      const source = `const x = "marked";\nexport async function f() { abstract class A { ${member} } return A; }`;
      expect(body(source, "f")).not.toContain("marked");
    }
  });
});

describe("a procedure that a wrapper makes", () => {
  it("has the position of the function inside, whichever argument that is", () => {
    const source = `${wrap}export const f: ${type} =\n  make({ role: "x" }, check(async (title) => title));`;
    expect(read(source).exports[0]).toMatchObject({ kind: "wrapped", line: 3, column: 29 });
    const named = `${wrap}async function inner() {}\nexport const f: ${type} = make(1, inner);`;
    expect(read(named).exports[0]).toMatchObject({ line: 2, column: 1 });
  });

  it.each([
    ["AsyncGenerator<string>", true],
    ["AsyncIterable<string>", true],
    ["AsyncIterableIterator<string>", true],
    ["AsyncGenerator<string> | AsyncIterable<string>", true],
    ["Promise<string>", undefined],
    ["Promise<AsyncGenerator<string>>", undefined],
    ["Promise<string> | AsyncGenerator<string>", undefined],
    ["AsyncLocalStorage<string>", undefined],
    ["string", undefined],
    ["Local", true],
    ["Imported", undefined],
  ])("is a stream if its type returns an async iterator: %s, %s", (returned, stream) => {
    const source = `${wrap}type Local = AsyncGenerator<string>;\nexport const f: (a: string) => ${returned} = make(async () => 1);`;
    expect(read(source).exports[0]?.stream).toBe(stream);
  });

  it.each([
    ["AsyncGenerator<string>", true],
    ["Imported<string>", true],
    // It collects what the generator yields.
    ["Promise<string[]>", undefined],
  ])(
    "is a stream if the function inside is an async generator and its type says nothing else: %s, %s",
    (returned, stream) => {
      const source = `${wrap}export const f: (a: string) => ${returned} = make({}, check(async function* () {}));`;
      expect(read(source).exports[0]?.stream).toBe(stream);
    },
  );

  it("isn't found in constants that name each other in a circle", () => {
    const source = "export const a = make(b), b = make(a);";
    expect(read(source).exports.map((one) => one.kind)).toEqual(["other", "other"]);
  });
});

describe("the locals of a description", () => {
  it("include the name of a default export, and no imported name", () => {
    const source =
      'import { a } from "./a";\nexport default function b() {}\nexport const c = 1;\nclass D {}\nenum E {}\nlet { f, g: [h] } = a;';
    expect(read(source).locals).toEqual(["b", "c", "D", "E", "f", "h"]);
  });
});

describe("the warning about code that is in no part", () => {
  const warnings = (source: string): string[] =>
    split(source, { procedures: ["f"] }).warnings.map((one) => one.message);

  it("is given for a value that is made when the module loads, and not for a function", () => {
    const procedure = "export async function f() {}\n";
    expect(warnings(`${procedure}const a = connect();`)).toEqual([
      expect.stringContaining("'a' is needed by no export"),
    ]);
    for (const value of ["new A()", "await b", "c`d`", "e = 1", "g++", 'import("h")'])
      expect(warnings(`${procedure}let a = ${value};`)).toHaveLength(1);
    for (const value of ["1", "() => b()", "function () { c(); }", "{ d: 1 }"])
      expect(warnings(`${procedure}const a = ${value};`)).toEqual([]);
    expect(warnings(`${procedure}function a() { b(); }`)).toEqual([]);
  });
});

describe("style sheets that a browser's build leaves out", () => {
  const warnings = (specifier: string): number =>
    split(`import "${specifier}";\nexport async function f() {}\nexport async function g() {}`, {
      procedures: ["f", "g"],
      held: ["f"],
      environment: "browser",
    }).warnings.length;

  it.each(["./a.css", "./a.less", "./a.scss", "./a.sass", "./a.styl", "./a.css?inline"])(
    "%s is told",
    (specifier) => {
      expect(warnings(specifier)).toBe(1);
    },
  );

  it.each(["./a.css.ts", "./css", "./a.cssx"])("%s is no style sheet", (specifier) => {
    expect(warnings(specifier)).toBe(0);
  });
});
