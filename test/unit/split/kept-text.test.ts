// The text that a part keeps: its statements with their comments, and no comment about other code.

import { describe, expect, it } from "vitest";

import { lines, split } from "./_harness.ts";

const procedure = "export async function quote() { return kept; }";
const shared = (source: string, file = "shop/m.ts"): string[] =>
  lines(split(source, { procedures: ["quote"], file }).shared);
const body = (source: string, file = "shop/m.ts"): string[] =>
  lines(split(source, { procedures: ["quote"], file }).body);

describe("the comments in a part", () => {
  it("are those right above its statements and behind them on the same line", () => {
    expect(
      shared(`// One.\n// Two.\n/* Three. */\nexport const kept = 1; // Four.\n${procedure}`),
    ).toEqual(["// One.", "// Two.", "/* Three. */", "export const kept = 1; // Four."]);
  });

  it.each([
    ["above a blank line", `// Secret.\n\nexport const kept = 1;\n${procedure}`],
    ["on a line of its own behind it", `export const kept = 1;\n// Secret.\n${procedure}`],
    ["at the end of the file", `${procedure}\nexport const kept = 1;\n// Secret.`],
    [
      "at the end of the file, further down",
      `${procedure}\nexport const kept = 1;\n\n\n// Secret.\n`,
    ],
    ["behind what is before it on its line", `${procedure} // Secret.\nexport const kept = 1;`],
    ["behind it, before another statement", `export const kept = 1; /* Secret. */ ${procedure}`],
    [
      "above other code's comment",
      `// Secret.\nexport async function quote() { return kept; }\n// Known.\nexport const kept = 1;`,
    ],
  ])("don't include a comment %s", (_, source) => {
    const text = shared(source).join("\n");
    expect(text).toContain("kept = 1;");
    expect(text).not.toContain("Secret");
  });

  it("include one behind the last statement at the end of the file", () => {
    expect(shared(`${procedure}\nexport const kept = 1; // Its own.`)).toEqual([
      "export const kept = 1; // Its own.",
    ]);
  });

  it("include the JSX pragma of any comment, in files with JSX only", () => {
    const source = `/*Secret @jsxImportSource vue and more*/\n\nexport const kept = <b/>;\n${procedure}`;
    const [first = ""] = shared(source, "shop/m.tsx");
    expect(first).toMatch(/^\/\*\s+@jsxImportSource vue\s+\*\/$/);
    const [doc = ""] = shared(source.replace("/*", "/** "), "shop/m.jsx");
    expect(doc).toMatch(/^\/\*\*\s+@jsxImportSource vue\s+\*\/$/);
    expect(shared(`// @jsx h\n\nexport const kept = <b/>;\n${procedure}`, "shop/m.tsx")).toEqual([
      "export const kept = <b/>;",
    ]);
    expect(shared(`/* @jsx h */\n\nexport const kept = 1;\n${procedure}`, "shop/m.ts")).toEqual([
      "export const kept = 1;",
    ]);
  });
});

describe("a body that needs a piece of a statement", () => {
  it.each<[string, string]>([
    ["import { kept, other } from './a';", "import { kept } from './a';"],
    ["import { other, kept } from './a';", "import { kept } from './a';"],
    ["import other, { kept } from './a';", "import { kept } from './a';"],
    ["import kept, { other } from './a';", "import kept from './a';"],
    ["import other, * as kept from './a';", "import * as kept from './a';"],
    ["import kept, * as other from './a';", "import kept from './a';"],
    ["import { kept, type Secret } from './a';", "import { kept } from './a';"],
    [
      "import /* { from */ { a as kept, /* , */ other } from './a';",
      "import { a as kept } from './a';",
    ],
    [
      "import { kept, other } from './a' with { type: 'json' };",
      "import { kept } from './a' with { type: 'json' };",
    ],
    ["const kept = 1, other = 2;", "const kept = 1 ;"],
    ["const other = 2, kept = 1;", "const kept = 1;"],
    ["const other = 2, kept = 1, last = 3;", "const kept = 1 ;"],
  ])("has only this piece of  %s", (statement, expected) => {
    const normal = (text: string): string => text.replace(/\s+(?=[;,}])|(?<=\{)\s+/g, " ").trim();
    const found = body(`${statement}\n${procedure}\nexport const x = other;`);
    expect(normal(found[0] ?? "").replace(/\s+/g, " ")).toBe(normal(expected));
  });

  it("has the commas between the pieces", () => {
    expect(
      body(
        "import { a, b, c, d } from './a';\nexport async function quote() { return [a, c, d]; }\nexport const x = b;",
      )[0]?.replace(/\s+/g, ""),
    ).toBe("import{a,c,d}from'./a';");
  });

  it("has no imports if it needs nothing else", () => {
    const { shared: part } = split(`export const kept = 1;\n${procedure}`, {
      procedures: ["quote"],
    });
    expect(part?.code.trimEnd()).toBe("export const kept = 1;");
    expect(part?.code.split("\n")).toHaveLength(2);
    expect(part?.unpadded).toBe("export const kept = 1;");
  });

  it("has its statements apart, whatever was between them", () => {
    const source = `export const kept = 1; ${procedure} export const more = 2;`;
    expect(split(source, { procedures: ["quote"] }).shared?.unpadded).toBe(
      "export const kept = 1;\nexport const more = 2;",
    );
  });
});

describe("a procedure that calls a procedure", () => {
  it("calls itself directly, and is its seam if it is passed on", () => {
    const source = "export async function quote(n) { return n ? quote(n - 1) : run(quote); }";
    const text = body(source).join("\n");
    expect(text).toMatch(/n \? quote\(n - 1\) : run\(\$quote\)/);
    expect(text).toContain('import { quote as $quote } from "./m.mjs";');
  });

  it("calls another one through its seam", () => {
    const source =
      "export async function quote() { return order(); }\nexport async function order() {}";
    const { body: part } = split(source, { procedures: ["quote", "order"] });
    expect(part?.code).toContain("$order()");
    expect(part?.code).toContain('import { order as $order } from "./m.mjs";');
  });
});
