// What browsers can't call has no name, no parameters and no place in what they can fetch; what their own code names of it, it names itself.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { formatProblem } from "../../src/problem.ts";
import { closed, secretsIn, withMaps } from "../_closed.ts";
import { createFixture, type Files } from "./_fixture.ts";

/** All that browsers can fetch of a build, and the manifest that they get. */
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
    ["as it is", undefined],
    ["with source maps", "export default { build: { sourcemap: true } };"],
    [
      "with readable code and a manifest of Vite's",
      'export default { build: { sourcemap: "inline", minify: false, manifest: true } };',
    ],
  ])("names nothing that they can't call, %s", async (_, config) => {
    const { text, warnings } = await publicText({}, config);
    expect(secretsIn(text)).toEqual([]);
    expect(text).toContain("shop/price");
    expect(text).toContain("visible-filter");
    expect(warnings).toEqual([]);
  });

  const barrel =
    'export { default, price, s3cr3tReserve, s3cr3tReserve as s3cr3tAgain, s3cr3tRecount, unit } from "./stock.ts";\n';
  it.each<[string, Files]>([
    [
      "through a module that passes all on",
      { "src/shop/index.ts": 'export * from "./stock.ts";\n' },
    ],
    ["through a module that passes them on by name", { "src/shop/index.ts": barrel }],
    [
      "through one that imports and exports them",
      {
        "src/shop/index.ts":
          'import s3cr3tDefault, { price, s3cr3tReserve, unit } from "./stock.ts";\nexport { price, s3cr3tDefault, s3cr3tReserve as other, unit };\n',
      },
    ],
    [
      "through one that has procedures itself",
      {
        "src/shop/index.ts": `${barrel}export async function more(): Promise<void> {}\n`,
        "segments/more.segment.json": '{ "./shop": { "more": { "access": "public" } } }',
      },
    ],
    [
      "through two of them",
      { "src/shop/index.ts": 'export * from "./inner.ts";\n', "src/shop/inner.ts": barrel },
    ],
    [
      "as a namespace",
      {
        "src/shop/index.ts":
          'import * as all from "./stock.ts";\nexport const { price, unit } = all;\n',
      },
    ],
  ])("names nothing of it %s", async (_, more) => {
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
      "an import of another name of it",
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
      "an import of a module whose name comes when it runs",
      'const { s3cr3tReserve } = await import(`./shop/${location.hash}.ts`);\nvoid s3cr3tReserve("a", {});',
      ["s3cr3tReserve"],
    ],
    [
      "a protected one",
      'import { s3cr3tRecount } from "./shop/stock.ts";\nvoid s3cr3tRecount("a");',
      ["s3cr3tRecount"],
    ],
  ])("names no more of it than code of pages does by %s", async (_, code, names) => {
    const { text } = await publicText(
      {
        "src/main.ts": `import { startClient } from "seamline/client";\n${code}\nawait startClient("ui");\n`,
      },
      "export default { build: { minify: false } };",
    );
    expect(secretsIn(text)).toEqual(names);
    // What it names is there, and rejects.
    expect(text).toMatch(
      /throw new \$?(?:ProcedureNotFound\("Procedure .*not found: pages can't call it"\)|Unauthorized\(\))/,
    );
    for (const place of ["shop/s3cr3t", "Sku", "Count", "Rest", "Shelf", "Value"])
      expect(text).not.toContain(
        place === "Count" ? "s3cr3tCount" : place.startsWith("shop") ? place : `s3cr3t${place}`,
      );
  });

  it("names no more of it than exported code beside it does, which pages have", async () => {
    const { text } = await publicText({
      "src/shop/stock.ts": `${closed["src/shop/stock.ts"]}export const hold = async (sku: string): Promise<number> => s3cr3tReserve(sku, {});\n`,
    });
    expect(secretsIn(text)).toEqual(["s3cr3tReserve"]);
  });

  it("has the names of a private procedure of the page's own segment, and not of its neighbours", async () => {
    const { text } = await publicText({
      "segments/ui.segment.json":
        '{ "./ui/filter": { "filter": { "access": "public" }, "s3cr3tOther": { "access": "private" } } }',
    });
    expect(secretsIn(text)).toEqual(["s3cr3tOther", "s3cr3tWord"]);
  });
});

describe("a page that imports what it can't call", () => {
  it("isn't warned of where it imports the module as a whole, and uses something else of it", async () => {
    const main =
      'import * as stock from "./shop/stock.ts";\nvoid stock.price("a");\nimport { startClient } from "seamline/client";\nawait startClient("ui");\n';
    expect((await publicText({ "src/main.ts": main })).warnings).toEqual([]);
  });

  it("is warned of by the build, with the chain of imports, private and protected", async () => {
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
