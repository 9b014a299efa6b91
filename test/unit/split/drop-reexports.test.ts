// Modules whose re-exports of hidden procedures are dropped, and the names by which it is decided.

import { describe, expect, it } from "vitest";

import { dropReexports } from "../../../src/split/write/drop-reexports.ts";
import { mentionedNames } from "../../../src/split/read/mentioned-names.ts";
import { readModule } from "../../../src/split/read/read-module.ts";
import { parse } from "./_harness.ts";

/** A module without its re-exports of these names. */
function without(source: string, ...names: string[]): string {
  const reading = readModule({ source, file: "shop/index.ts", parse });
  const { code } = dropReexports(reading, new Set(names));
  return code.replace(/[ \t]+$/gm, "");
}

describe("dropReexports", () => {
  it.each<[string, string, string[], string]>([
    [
      "one of several names",
      'export { quote, reserve, stock } from "./quote.ts";',
      ["reserve"],
      'export { quote, stock } from "./quote.ts";',
    ],
    [
      "all names, though the other module is still loaded",
      'export { quote } from "./quote.ts";',
      ["quote"],
      'export {  } from "./quote.ts";',
    ],
    [
      "a name that it is exported as",
      'export { quote as price, reserve } from "./quote.ts";',
      ["price", "reserve_"],
      'export { reserve } from "./quote.ts";',
    ],
    [
      "a name, and keeps the attributes of the statement",
      'export { a, b } from "./data.json" with { type: "json" };',
      ["a"],
      'export { b } from "./data.json" with { type: "json" };',
    ],
    [
      "an import that is only re-exported",
      'import { quote, reserve } from "./quote.ts";\nexport { quote, reserve };',
      ["reserve"],
      'import { quote } from "./quote.ts";\nexport { quote };',
    ],
    [
      "a named import beside a default import",
      'import shop, { quote, reserve } from "./quote.ts";\nexport { shop, quote, reserve };',
      ["quote"],
      'import shop, { reserve } from "./quote.ts";\nexport { shop, reserve };',
    ],
    [
      "all named imports beside a default import",
      'import shop, { quote } from "./quote.ts";\nexport { shop, quote };',
      ["quote"],
      'import shop from "./quote.ts";\nexport { shop };',
    ],
    [
      "a namespace import",
      'import * as shop from "./quote.ts";\nimport * as other from "./other.ts";\nexport { shop, other };',
      ["shop"],
      'import {  } from "./quote.ts";\nimport * as other from "./other.ts";\nexport { other };',
    ],
    [
      "a default export of an import",
      'import { reserve } from "./quote.ts";\nexport default reserve;\nexport const a = 1;',
      ["default"],
      'import {  } from "./quote.ts";\n\nexport const a = 1;',
    ],
    [
      "no declaration of the module itself",
      'export const quote = 1;\nexport { reserve } from "./quote.ts";',
      ["quote"],
      'export const quote = 1;\nexport { reserve } from "./quote.ts";',
    ],
    [
      "a name of an export list that also has a declaration of the module",
      'import { quote, reserve } from "./quote.ts";\nconst own = 1;\nexport { quote, own }\nexport { reserve };',
      ["quote"],
      'import { reserve } from "./quote.ts";\nconst own = 1;\nexport { own };\nexport { reserve };',
    ],
  ])("drops %s", (_, source, names, left) => {
    expect(without(source, ...names)).toBe(left);
  });

  it("keeps an import that the module's own code uses", () => {
    const source =
      'import { quote, reserve } from "./quote.ts";\nexport { quote, reserve };\nconsole.log(reserve);';
    expect(without(source, "quote", "reserve")).toBe(
      'import { reserve } from "./quote.ts";\nexport {  };\nconsole.log(reserve);',
    );
  });

  it("keeps an import that is exported by two names until both are dropped", () => {
    const source = 'import { quote } from "./quote.ts";\nexport { quote, quote as price };';
    expect(without(source, "price")).toBe('import { quote } from "./quote.ts";\nexport { quote };');
    expect(without(source, "price", "quote")).toBe('import {  } from "./quote.ts";\nexport {  };');
  });

  it("leaves no dropped name in the source map", () => {
    const source = 'export { quote, reserve } from "./quote.ts";\nexport const a = 1;';
    const reading = readModule({ source, file: "shop/index.ts", parse });
    const { code, map } = dropReexports(reading, new Set(["reserve"]));
    expect(code + JSON.stringify(map)).not.toContain("reserve");
    expect(map.sources).toEqual(["shop/index.ts"]);
    // Blanks replace it, so every other character keeps its position.
    expect(map.sourcesContent).toEqual([source.replace("reserve", "       ")]);
  });

  it("doesn't change text that can't be parsed", () => {
    expect(without("export { quote from", "quote")).toBe("export { quote from");
  });
});

describe("mentionedNames", () => {
  const names = (source: string): string[] =>
    [...mentionedNames({ source, file: "page.ts", parse })].sort();

  it("includes variables, members and strings that may be names", () => {
    expect(names('shop.quote(); shop["reserve"]; `stock`;')).toEqual([
      "quote",
      "reserve",
      "shop",
      "stock",
    ]);
  });

  it("leaves out what is only imported or re-exported", () => {
    expect(
      names(
        'import { a } from "./a.ts"; import b, * as c from "./c.ts"; export { d } from "./d.ts"; export * from "./e.ts"; export * as f from "./f.ts"; export { a };',
      ),
    ).toEqual([]);
  });

  it("includes what an exported declaration mentions", () => {
    expect(names("export const total = price; export default sum;")).toEqual([
      "price",
      "sum",
      "total",
    ]);
  });

  it("is empty for text that can't be parsed", () => {
    expect(names("shop.quote(")).toEqual([]);
  });
});
