// Browsers get no names, parameters or places of procedures that they can't call, except names that
// their own code mentions.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { formatProblem } from "../../src/base/problem.ts";
import { closed, secretsIn, withMaps } from "../_closed.ts";
import { createFixture, type Files } from "./_fixture.ts";

/** Everything that browsers can fetch of a build, and their manifest. */
async function publicText(
  more: Files,
  config?: string,
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const app = createFixture({
    ...closed,
    ...more,
    ...(config !== undefined && { "vite.config.js": config }),
  });
  const { warnings } = await app.build();
  const names = app.list("dist/browser").map((name) => `dist/browser/${name}`);
  const texts = [...names, "dist/server/manifest.browser.json"].map(
    (name) => `${name}\n${withMaps(readFileSync(app.path(name), "latin1"))}`,
  );
  return { text: texts.join("\n"), warnings: warnings.map(formatProblem) };
}

describe("what browsers can fetch", () => {
  it.each([
    ["without options", undefined],
    ["with source maps", "export default { build: { sourcemap: true } };"],
    [
      "with readable code and a manifest of Vite's",
      'export default { build: { sourcemap: "inline", minify: false, manifest: true } };',
    ],
  ])("the browser's files name no procedure that browsers can't call: %s", async (_, config) => {
    const { text, warnings } = await publicText({}, config);
    expect(secretsIn(text)).toEqual([]);
    expect(text).toContain("shop/price");
    expect(text).toContain("visible-filter");
    expect(warnings).toEqual([]);
  });

  const barrel =
    'export { default, price, s3cr3tReserve, s3cr3tReserve as s3cr3tAgain, s3cr3tRecount, unit } from "./stock.ts";\n';
  it.each<[string, Files]>([
    ["through a module with export *", { "src/shop/index.ts": 'export * from "./stock.ts";\n' }],
    ["through a module that re-exports by name", { "src/shop/index.ts": barrel }],
    [
      "through a module that imports and exports it",
      {
        "src/shop/index.ts":
          'import s3cr3tDefault, { price, s3cr3tReserve, unit } from "./stock.ts";\nexport { price, s3cr3tDefault, s3cr3tReserve as other, unit };\n',
      },
    ],
    [
      "through a module with procedures of its own",
      {
        "src/shop/index.ts": `${barrel}export async function more(): Promise<void> {}\n`,
        "segments/more.segment.json": '{ "./shop": { "more": { "access": "public" } } }',
      },
    ],
    [
      "through two modules with procedures",
      { "src/shop/index.ts": 'export * from "./inner.ts";\n', "src/shop/inner.ts": barrel },
    ],
    [
      "as a namespace",
      {
        "src/shop/index.ts":
          'import * as all from "./stock.ts";\nexport const { price, unit } = all;\n',
      },
    ],
  ])("a page that re-exports a hidden procedure doesn't get its name: %s", async (_, more) => {
    const main = closed["src/main.ts"]?.replace("./shop/stock.ts", "./shop/index.ts") ?? "";
    const { text } = await publicText({ ...more, "src/main.ts": main });
    expect(secretsIn(text)).toEqual([]);
    expect(text).toContain("shop/price");
  });

  it.each<[string, string, string[]]>([
    [
      "an import",
      'import { price, s3cr3tReserve, unit } from "./shop/stock.ts";\nvoid s3cr3tReserve("a", {});',
      ["s3cr3tReserve"],
    ],
    [
      "an import under another name of the procedure",
      'import { s3cr3tAlias } from "./shop/stock.ts";\nvoid s3cr3tAlias("a", {});',
      ["s3cr3tAlias"],
    ],
    ["a default import", 'import make from "./shop/stock.ts";\nvoid make("a");', []],
    [
      "a namespace",
      'import * as stock from "./shop/stock.ts";\nvoid stock.s3cr3tReserve("a", {});',
      ["s3cr3tReserve"],
    ],
    [
      "a dynamic import",
      'const { s3cr3tReserve } = await import("./shop/stock.ts");\nvoid s3cr3tReserve("a", {});',
      ["s3cr3tReserve"],
    ],
    [
      "client.import",
      'const client = await startClient();\nvoid (await client.import("./shop/stock.js"))["s3cr3tReserve"];',
      ["s3cr3tReserve"],
    ],
    [
      "import.meta.glob",
      'const modules = import.meta.glob("./shop/*.ts") as any;\nvoid modules["./shop/stock.ts"]().then((one: any) => one.s3cr3tReserve("a", {}));',
      ["s3cr3tReserve"],
    ],
    [
      "an import with a computed specifier",
      'const { s3cr3tReserve } = await import(`./shop/${location.hash}.ts`);\nvoid s3cr3tReserve("a", {});',
      ["s3cr3tReserve"],
    ],
    [
      "an import of a protected procedure",
      'import { s3cr3tRecount } from "./shop/stock.ts";\nvoid s3cr3tRecount("a");',
      ["s3cr3tRecount"],
    ],
  ])("a page gets only the names that its code mentions: %s", async (_, code, names) => {
    const { text } = await publicText(
      {
        "src/main.ts": `import { startClient } from "seamline/client";\n${code}\nawait startClient("ui");\n`,
      },
      "export default { build: { minify: false } };",
    );
    expect(secretsIn(text)).toEqual(names);
    // The names are exported, as functions that reject.
    expect(text).toMatch(
      /throw new \$?(?:ProcedureNotFound\("Procedure .*not found: pages can't call it"\)|Unauthorized\(\))/,
    );
    for (const place of ["shop/s3cr3t", "Sku", "Count", "Rest", "Shelf", "Value"])
      expect(text).not.toContain(
        place === "Count" ? "s3cr3tCount" : place.startsWith("shop") ? place : `s3cr3t${place}`,
      );
  });

  it("exported code beside a hidden procedure adds no names to what pages get", async () => {
    const { text } = await publicText({
      "src/shop/stock.ts": `${closed["src/shop/stock.ts"]}export const hold = async (sku: string): Promise<number> => s3cr3tReserve(sku, {});\n`,
    });
    expect(secretsIn(text)).toEqual(["s3cr3tReserve"]);
  });

  it("a page gets the name of a private procedure of its own segment, but not of its neighbours", async () => {
    const { text } = await publicText({
      "segments/ui.segment.json":
        '{ "./ui/filter": { "filter": { "access": "public" }, "s3cr3tOther": { "access": "private" } } }',
    });
    expect(secretsIn(text)).toEqual(["s3cr3tOther", "s3cr3tWord"]);
  });
});

describe("a page that imports what it can't call", () => {
  it("a build doesn't warn if a page imports the whole module and uses something else of it", async () => {
    const main =
      'import * as stock from "./shop/stock.ts";\nvoid stock.price("a");\nimport { startClient } from "seamline/client";\nawait startClient("ui");\n';
    expect((await publicText({ "src/main.ts": main })).warnings).toEqual([]);
  });

  it("a build warns of pages that import private and protected procedures, with the chain of imports", async () => {
    const { warnings } = await publicText({
      "src/main.ts":
        'import { startClient } from "seamline/client";\nimport "./page.ts";\nawait startClient("ui");\n',
      "src/page.ts":
        'import { s3cr3tReserve, s3cr3tRecount } from "./shop/stock.ts";\nvoid s3cr3tReserve("a", {});\nvoid s3cr3tRecount("a");\n',
    });
    expect(warnings.map((one) => one.split("\n")[0])).toEqual([
      'src/page.ts: "shop/s3cr3tReserve" is private to "s3cr3t-shop", but code of pages imports it: src/page.ts → src/shop/stock.ts',
      'src/page.ts: "shop/s3cr3tRecount" is protected, but code of pages imports it: src/page.ts → src/shop/stock.ts',
    ]);
  });
});
