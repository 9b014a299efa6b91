// Nothing of a procedure that a build may not hold, nor of what only it needs, gets into any part or map of that build.

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { everything, split } from "./_harness.ts";

// Each SECRET stands in another kind of place; what is held stands beside it, close enough to drag it along.
const source = `#!/usr/bin/env node
// SECRET_head comment of the file

/* SECRET_detached */

"use SECRET_directive";
import SECRET_default from "./SECRET_module";
import SECRET_half, { shownImport } from "./shown";
import shownDefault, { SECRET_named, /* SECRET_inside */ SECRET_original as SECRET_alias, other, } from "./shown2"; // SECRET_after
import * as SECRET_namespace from "./shown3";
import type { SECRET_Type } from "./SECRET_types";
import { type SECRET_InlineType, alsoShown } from "./shown4";
import "./SECRET_effect";
/** SECRET_doc of an interface */
interface SECRET_Interface { SECRET_member: string }
type SECRET_Alias = "SECRET_literal";
declare const SECRET_declared: string;
const shownConstant = 1, SECRET_constant = "SECRET_string", /* SECRET_between */ another = 2; // SECRET_behind
const { SECRET_property: SECRET_bound = "SECRET_patternDefault", ...SECRET_rest } = SECRET_namespace;
let SECRET_let = \`SECRET_template \${SECRET_constant}\`;
var SECRET_regex = /SECRET_pattern/;
enum SECRET_Enum { SECRET_Key = "SECRET_value" }
namespace SECRET_Space { export const SECRET_deep = 1 }
class SECRET_Class { SECRET_field = "SECRET_initial"; #SECRET_private = 1; SECRET_method() { return this.#SECRET_private } }
function SECRET_helper(SECRET_parameter: SECRET_Type): SECRET_Interface { /* SECRET_note */ return { SECRET_member: SECRET_let } }
SECRET_let += "SECRET_effectText"; // SECRET_lineEnd
if (SECRET_let) { var SECRET_var = SECRET_helper }
console.log("SECRET_statement");

// SECRET_before a blank line

/** Shown: what browsers run. */
export async function shown(a: string, { b = 1 }: { b?: number } = {}) {
  // Shown as well.
  return [shownImport, shownDefault, alsoShown, other, shownConstant, another, a, b, await hidden(a)];
} // shown, too
// SECRET_above the hidden one
/** SECRET_jsdoc @param a SECRET_tag */
export async function hidden(a: string, b = "SECRET_defaultValue", { c = SECRET_helper(b as SECRET_Alias), d: [] = [] }: any = {}): Promise<SECRET_Interface> {
  "SECRET_ownDirective";
  SECRET_label: for (;;) break SECRET_label;
  return [SECRET_default, SECRET_half, SECRET_named, SECRET_alias, SECRET_bound, SECRET_rest, SECRET_regex, SECRET_Enum, SECRET_Space, SECRET_Class, SECRET_var] as any;
} /* SECRET_tail */ export const one = async () => shownConstant; /* SECRET_squeezed */ export const two = async () => "SECRET_two";
export const hiddenWrapped: (shownParameter: SECRET_Type) => Promise<SECRET_Interface> = SECRET_helper(async (a: string) => SECRET_declared + a as any), held = async () => hiddenWrapped("x");
hidden.SECRET_schema = { SECRET_constant };
export default async function (a = "SECRET_inDefault") { return SECRET_Space.SECRET_deep }
export { hidden as renamed };
// SECRET_end`;

const procedures = ["shown", "hidden", "one", "two", "hiddenWrapped", "held", "default"];

describe("what a build doesn't hold", () => {
  it.each([["browser" as const], ["server" as const]])("leaves no trace in the parts of a %s", (environment) => {
    // `hidden` has a pattern that no segment may name: that is a problem, and here only one more place to look at.
    const parts = split(source, { procedures, held: ["shown", "one", "held"], environment });
    expect([...new Set(everything(parts).match(/SECRET_\w*/g))]).toEqual([]);
    expect(parts.body?.code).toContain("Shown as well.");
    expect(parts.body?.code).toContain("Shown: what browsers run.");
    expect(parts.body?.code).toContain("// shown, too");
  });

  it("is all there where it is held", () => {
    const parts = split(source, { procedures });
    const found = new Set(parts.body?.code.match(/SECRET_\w*/g));
    for (const name of ["constant", "effect", "jsdoc", "defaultValue", "above", "statement", "schema", "lineEnd", "inDefault"])
      expect(found).toContain(`SECRET_${name}`);
  });

  it("leaves maps nothing but blanks of the same shape", () => {
    const { face, body } = split(source, { procedures, held: ["shown"] });
    const shape = source.split("\n").map((line) => line.length);
    for (const part of [face, body]) expect(part?.map.sourcesContent[0]?.split("\n").map((line) => line.length)).toEqual(shape);
    expect(face.map.sourcesContent[0]?.trim()).toBe("");
    expect(face.map.names).toEqual([]);
  });

  it("keeps carriage returns and letters beyond the first plane in their places", () => {
    const text = "const a = '😀 SECRET'; // 🙈\r\nexport async function f() { return '😀' }\r\nexport async function g() { return a }\r\n";
    const { body } = split(text, { procedures: ["f", "g"], held: ["f"] });
    expect(body?.map.sourcesContent[0]).toHaveLength(text.length);
    expect(body?.map.sourcesContent[0]?.split("\r\n")[1]).toBe("       async function f() { return '😀' }");
  });
});

// A module of constants, functions and procedures that need each other at random, each with its own mark.
interface Item {
  readonly kind: "const" | "pair" | "function" | "class" | "import" | "procedure" | "export" | "statement";
  readonly needs: readonly number[];
  readonly held: boolean;
}

const kinds = ["const", "pair", "function", "class", "import", "procedure", "procedure", "export", "statement"] as const;
const modules = fc.array(
  fc.record({ kind: fc.constantFrom(...kinds), needs: fc.array(fc.nat(30), { maxLength: 3 }), held: fc.boolean() }),
  { minLength: 2, maxLength: 18 },
);

const nameOf = (at: number): string => `name${at}x`;

function write(items: readonly Item[]): string {
  return items
    .map(({ kind, needs }, at) => {
      const used = needs.filter((one) => items[one] !== undefined && items[one].kind !== "statement").map(nameOf);
      const value = `["mark${at}x", () => [${used.join(", ")}]]`;
      const text = {
        const: `const ${nameOf(at)} = ${value};`,
        pair: `const ${nameOf(at)} = ${value}, /* mark${at}x */ unused${at} = 1`,
        function: `function ${nameOf(at)}() { return ${value} }`,
        class: `class ${nameOf(at)} { static x = ${value} }`,
        import: `import { ${nameOf(at)} } from "mark${at}x";`,
        procedure: `export async function ${nameOf(at)}() { return ${value} }`,
        export: `export const ${nameOf(at)} = ${value};`,
        statement: `console.log(${value});`,
      }[kind];
      return `/* mark${at}x */ ${text} // mark${at}x`;
    })
    .join("\n");
}

function reachable(items: readonly Item[], roots: readonly number[]): Set<number> {
  const found = new Set(roots);
  for (const at of found) {
    // An import needs nothing of the module.
    for (const one of items[at]?.kind === "import" ? [] : (items[at]?.needs ?? []))
      if (items[one] !== undefined && !["procedure", "statement"].includes(items[one].kind)) found.add(one);
  }
  return found;
}

describe("modules made at random", () => {
  it("give a build nothing but what its procedures and the shared part reach, and all of that", () => {
    fc.assert(
      fc.property(modules, (items) => {
        const all = items.map((item, at) => ({ ...item, at }));
        const named = all.filter((one) => one.kind === "procedure");
        fc.pre(named.length > 0);
        const held = named.filter((one) => one.held);
        const parts = split(write(items), {
          procedures: named.map((one) => nameOf(one.at)),
          held: held.map((one) => nameOf(one.at)),
          environment: "browser",
        });
        expect(parts.problems).toEqual([]);
        const exported = all.filter((one) => one.kind === "export").map((one) => one.at);
        const expected = reachable(items, [...exported, ...held.map((one) => one.at)]);
        const marks = new Set([...everything(parts).matchAll(/mark(\d+)x/g)].map((one) => Number(one[1])));
        const isStatement = (at: number): boolean => items[at]?.kind === "statement";
        // Statements have rules of their own; what they bring along must have been there without them.
        if (held.length < named.length) expect([...marks].filter((at) => !expected.has(at) && !isStatement(at))).toEqual([]);
        expect([...expected].filter((at) => !marks.has(at))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
