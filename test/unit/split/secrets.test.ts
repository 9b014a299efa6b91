// Code of a procedure that a build may not hold, and code that only such a procedure needs, is in
// no part of that build and in no source map.

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { dropReexports } from "../../../src/split/write/drop-reexports.ts";
import { readModule } from "../../../src/split/read/read-module.ts";
import { everything, lines, parse, split } from "./_harness.ts";

// Every SECRET is in a different syntactic position, close enough to held code to be taken along by
// mistake.
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

describe("code that a build doesn't hold", () => {
  it.each([["browser" as const], ["server" as const]])(
    "leaves no trace in the parts for a %s",
    (environment) => {
      // The pattern in `hidden` is a problem for a segment. Here it is one more position for a
      // secret.
      const parts = split(source, { procedures, held: ["shown", "one", "held"], environment });
      expect([...new Set(everything(parts).match(/SECRET_\w*/g))]).toEqual([]);
      expect(parts.body?.code).toContain("Shown as well.");
      expect(parts.body?.code).toContain("Shown: what browsers run.");
      expect(parts.body?.code).toContain("// shown, too");
    },
  );

  it("is complete in a build that holds it", () => {
    const parts = split(source, { procedures });
    const secrets = new Set(parts.body?.code.match(/SECRET_\w*/g));
    for (const name of [
      "constant",
      "effect",
      "jsdoc",
      "defaultValue",
      "above",
      "statement",
      "schema",
      "lineEnd",
      "inDefault",
    ])
      expect(secrets).toContain(`SECRET_${name}`);
  });

  it("is blank in source maps, and lines keep their length", () => {
    const { face, body } = split(source, { procedures, held: ["shown"] });
    const shape = source.split("\n").map((line) => line.length);
    for (const part of [face, body])
      expect(part?.map.sourcesContent[0]?.split("\n").map((line) => line.length)).toEqual(shape);
    expect(face.map.sourcesContent[0]?.trim()).toBe("");
    expect(face.map.names).toEqual([]);
  });

  it("keeps its carriage returns and the length of its emoji, so offsets stay true", () => {
    const text =
      "const a = '😀 SECRET'; // 🙈\r\nexport async function f() { return '😀' }\r\nexport async function g() { return a }\r\n";
    const { body } = split(text, { procedures: ["f", "g"], held: ["f"] });
    expect(body?.map.sourcesContent[0]).toHaveLength(text.length);
    expect(body?.map.sourcesContent[0]?.split("\r\n")[1]).toBe(
      "       async function f() { return '😀' }",
    );
  });
});

describe("a face that keeps procedures back", () => {
  const text = `export async function shown(a: string) { return a }
    export async function SECRET_private(SECRET_a: string, { SECRET_b = 1 } = {}, ...SECRET_c: string[]) {}
    export { SECRET_private as SECRET_alias };
    export const SECRET_protected = async (SECRET_d: string) => SECRET_d;
    export default async function SECRET_own(SECRET_e: string) {}
    export { other, SECRET_passed } from "./other";
    export const unit = "m";`;
  const closed = new Map([
    ["SECRET_private", "ProcedureNotFound"],
    ["SECRET_protected", "Unauthorized"],
    ["default", "ProcedureNotFound"],
  ] as const);
  const names = ["SECRET_private", "SECRET_alias", "SECRET_protected", "default", "SECRET_passed"];
  const partsNaming = (...named: string[]) => {
    const keptBack = { closed, unnamed: new Set(names.filter((name) => !named.includes(name))) };
    return split(text, {
      procedures: ["shown", "SECRET_private", "SECRET_protected", "default"],
      held: [],
      environment: "browser",
      keptBack,
    });
  };

  it("has no trace of procedures that the page doesn't name, and all other exports", () => {
    const parts = partsNaming();
    expect(everything(parts)).not.toContain("SECRET");
    expect(parts.face.code).toMatch(
      /export { shown };\s*export { unit } from ".\/m.shared.mjs";\s*export { other } from ".\/other";/,
    );
  });

  it("has only the name of a procedure that the page names, and neither FQN nor parameters", () => {
    const found = [
      ...new Set(
        everything(partsNaming("SECRET_alias", "SECRET_protected", "default")).match(/SECRET_\w*/g),
      ),
    ];
    expect(found).toEqual(["SECRET_alias", "SECRET_protected"]);
    expect(everything(partsNaming("SECRET_passed"))).toMatch(/SECRET_passed/);
  });

  it("has functions that reject in place of the procedures", () => {
    const { face } = partsNaming("SECRET_alias", "SECRET_protected", "default");
    expect(lines(face).filter((line) => line.includes("$closed"))).toEqual([
      `async function $closed() { throw new $ProcedureNotFound("Procedure 'SECRET_alias' not found: pages can't call it"); }`,
      "async function $closed_2() { throw new $Unauthorized(); }",
      `async function $closed_3() { throw new $ProcedureNotFound("Procedure not found: pages can't call it"); }`,
      "export { shown, $closed as SECRET_alias, $closed_2 as SECRET_protected, $closed_3 as default };",
    ]);
    expect(face.code).toContain(
      'import { seam as $seam, ProcedureNotFound as $ProcedureNotFound, Unauthorized as $Unauthorized } from "./graph.mjs";',
    );
  });

  it("imports from the graph only what it needs", () => {
    const only = {
      closed: new Map([["a", "ProcedureNotFound"]] as const),
      unnamed: new Set(["a"]),
    };
    const { face } = split("export async function a() {}", {
      procedures: ["a"],
      held: [],
      environment: "browser",
      keptBack: only,
    });
    expect(lines(face)).toEqual([]);
  });
});

describe("dropReexports", () => {
  const trimmed = (source: string, ...names: string[]): string => {
    const { code, map } = dropReexports(
      readModule({ source, file: "m.ts", parse }),
      new Set(names),
    );
    expect(map.sourcesContent.join()).not.toContain("SECRET");
    return code.replace(/\s+/g, " ").trim();
  };

  it.each([
    ['export { a, SECRET_b, c as d } from "./m";', 'export { a, c as d } from "./m";'],
    [
      'export { SECRET_b } from "./m" with { type: "json" };',
      'export { } from "./m" with { type: "json" };',
    ],
    ['export { x as SECRET_b, type T } from "./m"', 'export { type T } from "./m";'],
    [
      'import { a, SECRET_b } from "./m"; export { a, SECRET_b }; a();',
      'import { a } from "./m"; export { a }; a();',
    ],
    [
      'import SECRET_b, { a } from "./m"; export { a, SECRET_b };',
      'import { a } from "./m"; export { a };',
    ],
    [
      'import a, { SECRET_c as SECRET_b } from "./m"; export { a, SECRET_b };',
      'import a from "./m"; export { a };',
    ],
    [
      'import SECRET_b, { a } from "./m"; export { a }; export default SECRET_b;',
      'import { a } from "./m"; export { a };',
      "default",
    ],
    ['import { SECRET_b } from "./m"; export { SECRET_b };', 'import { } from "./m"; export { };'],
  ])("turns  %s  into  %s", (source, expected, name = "SECRET_b") => {
    expect(trimmed(source, name)).toBe(expected);
  });

  it("keeps an import that the module uses itself, and the other names that it is exported by", () => {
    const source = 'import { b } from "./m"; export { b as gone, b as stays }; b();';
    const { code } = dropReexports(readModule({ source, file: "m.ts", parse }), new Set(["gone"]));
    expect(code.replace(/\s+/g, " ")).toBe('import { b } from "./m"; export { b as stays }; b();');
  });
});

/** A declaration or statement with its own mark; it needs others at random. */
interface Item {
  readonly kind:
    | "const"
    | "pair"
    | "function"
    | "class"
    | "import"
    | "procedure"
    | "export"
    | "statement";
  readonly needs: readonly number[];
  readonly held: boolean;
}

const kinds = [
  "const",
  "pair",
  "function",
  "class",
  "import",
  "procedure",
  "procedure",
  "export",
  "statement",
] as const;
const modules = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    needs: fc.array(fc.nat(30), { maxLength: 3 }),
    held: fc.boolean(),
  }),
  { minLength: 2, maxLength: 18 },
);

const nameOf = (index: number): string => `name${index}x`;

function write(items: readonly Item[]): string {
  return items
    .map(({ kind, needs }, at) => {
      const used = needs
        .filter((index) => items[index] !== undefined && items[index].kind !== "statement")
        .map(nameOf);
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
    // An import doesn't need anything of the module.
    for (const needed of items[at]?.kind === "import" ? [] : (items[at]?.needs ?? []))
      if (items[needed] !== undefined && !["procedure", "statement"].includes(items[needed].kind))
        found.add(needed);
  }
  return found;
}

describe("a build of a random module", () => {
  it("has exactly the declarations that its procedures and the shared part reach", () => {
    fc.assert(
      fc.property(modules, (items) => {
        const all = items.map((item, at) => ({ ...item, at }));
        const named = all.filter(({ kind }) => kind === "procedure");
        fc.pre(named.length > 0);
        const held = named.filter((item) => item.held);
        const parts = split(write(items), {
          procedures: named.map(({ at }) => nameOf(at)),
          held: held.map(({ at }) => nameOf(at)),
          environment: "browser",
        });
        expect(parts.problems).toEqual([]);
        const exported = all.filter(({ kind }) => kind === "export").map(({ at }) => at);
        const expected = reachable(items, [...exported, ...held.map(({ at }) => at)]);
        const marks = new Set(
          [...everything(parts).matchAll(/mark(\d+)x/g)].map(([, index]) => Number(index)),
        );
        const isStatement = (at: number): boolean => items[at]?.kind === "statement";
        // Statements have rules of their own, but they bring no new declarations.
        if (held.length < named.length)
          expect([...marks].filter((at) => !expected.has(at) && !isStatement(at))).toEqual([]);
        expect([...expected].filter((at) => !marks.has(at))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
