import { describe, expect, it } from "vitest";

import type { Inspection } from "../../../../server/report/inspection.ts";
import type { Why } from "../../../../server/report/why.ts";
import { run } from "../../../../server/cli/program.ts";
import { type Files, type Fixture, createFixture, shop } from "../../../build/_fixture.ts";

async function inspect(
  app: Fixture,
  ...words: string[]
): Promise<{ code: number | undefined; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await run(["inspect", "--root", app.root, ...words], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
  });
  return { code, out, err };
}

const json = async <T>(app: Fixture, ...words: string[]): Promise<T> =>
  JSON.parse((await inspect(app, ...words, "--json")).out) as T;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
const written = (at: number): string =>
  `export async function procedure${at}(id: string, { limit = ${at} }: { limit?: number }): Promise<Map<string, readonly number[]>> {\n  return new Map([[id, [limit]]]);\n}\n`;
/** 100 modules with 20 procedures each. */
const big: Files = {
  ...shop,
  ...Object.fromEntries(
    numbers(100).map((at) => [`src/area${at}/p.ts`, numbers(20).map(written).join("")]),
  ),
  "big.segment.json": JSON.stringify(
    Object.fromEntries(
      numbers(100).map((at) => [
        `./area${at}/p`,
        Object.fromEntries(
          numbers(20).map((number) => [`procedure${number}`, { access: "public" }]),
        ),
      ]),
    ),
  ),
};

describe("seamline inspect", () => {
  it("prints segments, their procedures and importers, and the modules that browsers receive", async () => {
    const { code, out, err } = await inspect(createFixture(shop));
    expect([code, err]).toEqual([0, ""]);
    const lines = out.split("\n");
    expect(lines.slice(0, 13)).toEqual([
      "3 procedures in 2 segments",
      "",
      "shop  nodes  shop.segment.json",
      "  shop/quote 1.0.0  public  (sku: string, quantity: number = 1): Promise<Money>",
      "    from src/main.ts:2",
      "  shop/stock        public  (sku: string): Promise<number>",
      "    from src/shop/quote.ts:2",
      "",
      "ui  browsers  src/ui/ui.segment.json",
      "  ui/filter  public  (words: string[]): Promise<string[]>",
      "",
      expect.stringMatching(/^Browsers receive 3 modules: \d+ B of source$/),
      "  sizes are those of the sources: there is no build. Run seamline build",
    ]);
    expect(
      lines
        .slice(13, 16)
        .map((line) => line.trim().replace(/^\d+ B +/, ""))
        .sort(),
    ).toEqual(["src/main.ts", "src/shop/quote.ts (face)", "src/ui/filter.ts (body)"]);
    expect(lines.slice(16)).toEqual([""]);
  });

  it("only uses the sizes of a build of the current sources", async () => {
    const app = createFixture(shop);
    await app.build();
    const { browser } = await json<Inspection>(app);
    expect(browser).toMatchObject({ sizes: "built", build: "fresh" });
    expect(browser.modules).toContainEqual({
      name: "src/ui/filter.ts",
      part: "body",
      bytes: expect.any(Number),
      importers: [{ name: 'segment "ui", started in src/main.ts' }],
    });
    expect(browser.modules.find(({ name }) => name === "src/shop/quote.ts")).toMatchObject({
      importers: [{ name: "src/main.ts", line: 2 }],
    });
    expect(browser.files.map(({ name }) => name).sort()).toEqual(
      app.list("dist/browser").filter((name) => !name.endsWith(".html")),
    );
    for (const { name, bytes, gzip } of browser.files) {
      expect(bytes).toBe(app.read(`dist/browser/${name}`).length);
      expect(gzip).toBeGreaterThan(0);
    }
    expect((await inspect(app)).out).toMatch(
      /^Browsers receive \d+ modules: .* in \d+ files, .* gzipped$/m,
    );

    app.write({ "src/more.ts": "export const more = 1;\n" });
    expect((await json<Inspection>(app)).browser).toMatchObject({
      sizes: "source",
      build: "stale",
      files: [],
    });
    expect((await inspect(app)).out).toContain(
      "the build is older than the sources. Run seamline build",
    );
  });

  it("prints all details of one procedure", async () => {
    const { code, out } = await inspect(createFixture(shop), "--procedure", "shop/quote");
    expect([code, out.split("\n")]).toEqual([
      0,
      [
        "shop/quote 1.0.0",
        "  declared     src/shop/quote.ts:5:8",
        "  takes        (sku: string, quantity: number = 1): Promise<Money>",
        "  segments     shop (public, nodes)",
        "  imported by  src/main.ts:2",
        "",
      ],
    ]);
  });

  it("prints the same as JSON, with the same filters", async () => {
    const app = createFixture(shop);
    const all = await json<Inspection>(app);
    expect(all.segments.map(({ name }) => name)).toEqual(["shop", "ui"]);
    expect(all.procedures[0]).toEqual({
      fqn: "shop/quote",
      version: "1.0.0",
      file: "src/shop/quote.ts",
      line: 5,
      column: 8,
      export: "quote",
      signature: "(sku: string, quantity: number = 1): Promise<Money>",
      parameters: [
        { kind: "plain", name: "sku", form: "string" },
        { kind: "plain", name: "quantity", optional: true, type: "number" },
      ],
      segments: [{ name: "shop", access: "public" }],
      importers: [{ file: "src/main.ts", line: 2 }],
    });
    const some = await json<Inspection>(app, "--segment", "ui");
    expect([some.segments.map(({ name }) => name), some.procedures.map(({ fqn }) => fqn)]).toEqual([
      ["ui"],
      ["ui/filter"],
    ]);
  });

  it("prints one line per segment for 2,000 procedures, within 80 columns, until one is selected", async () => {
    const app = createFixture(big);
    const { out } = await inspect(app);
    const lines = out.split("\n");
    expect(lines.slice(0, 7)).toEqual([
      "2,003 procedures in 3 segments",
      "",
      "big   2,000 procedures  2,000 public  nodes     big.segment.json",
      "shop  2 procedures      2 public      nodes     shop.segment.json",
      "ui    1 procedure       1 public      browsers  src/ui/ui.segment.json",
      "",
      "seamline inspect --segment NAME lists a segment's procedures",
    ]);
    expect(lines.length).toBeLessThan(20);
    const chosen = (await inspect(app, "--segment", "big")).out.split("\n");
    expect(chosen).toHaveLength(2_000 + 4);
    expect(Math.max(...[...lines, ...chosen].map((line) => line.length))).toBeLessThanOrEqual(80);
    const { out: details } = await inspect(app, "--procedure", "area7/procedure1");
    // The name is also a prefix of other names.
    expect(details.match(/^area7\/procedure1\d* 0\.0\.0$/gm)).toHaveLength(11);
    expect(details).toContain(
      "  takes        (id: string, { limit = 1 }: { limit?: number }):\n               Promise<Map<string, readonly number[]>>\n",
    );
  });

  it("prints warnings, and the problems for which a build fails", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { stock } from "./shop/stock.ts";\nimport { join } from "node:path";\ndocument.title = join(String(await stock("x")));\n',
      "shop.segment.json": '{ "./shop/stock": { "stock": { "access": "private" } } }',
    });
    const { code, out } = await inspect(app);
    expect(code).toBe(0);
    expect(out.match(/^warning: .*$/gm)).toEqual([
      expect.stringContaining('"shop/stock" is private to "shop", but code of pages imports it'),
      expect.stringContaining('src/main.ts:2:22: "node:path" exists on Node only'),
    ]);
  });

  it.each([
    [["--segment", "shp"], 'there is no segment "shp"\n  → Did you mean shop?'],
    [["--segment", "warehouse"], 'there is no segment "warehouse"\n  → There are: shop, ui'],
    [
      ["--procedure", "shop/qoute"],
      'there is no procedure "shop/qoute"\n  → Did you mean shop/quote?',
    ],
    [["--why", "src/shop/qoute.ts"], "Did you mean src/shop/quote.ts?"],
    [["--why", "react"], "Name a file of the source folder, a package or a module of Node"],
    [["--unknown"], "unknown option"],
  ])("exits with 2 for %j", async (words, message) => {
    const { code, out, err } = await inspect(createFixture(shop), ...words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });

  it("exits with 1 and prints all problems if the application can't be read", async () => {
    const { code, out, err } = await inspect(
      createFixture({ ...shop, "a.segment.json": "{", "b.segment.json": "[]" }),
    );
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^error: 2 problems\n\na\.segment\.json:.*\n\nb\.segment\.json:1:1/s);
  });

  it("prints a hint if there is nothing to inspect", async () => {
    const { code, out } = await inspect(createFixture({ "src/a.ts": "export const a = 1;\n" }));
    expect(code).toBe(0);
    expect(out).toMatch(
      /^0 procedures in 0 segments\n\nBrowsers receive nothing.*\n\nwarning: \*\.segment\.json: there is no such file.*→ Write one/s,
    );
    expect((await inspect(createFixture({}))).err).toMatch(/src: the source folder doesn't exist/);
  });
});

it("seamline inspect --json lists the importers through which browsers receive a module", async () => {
  const app = createFixture({
    ...shop,
    "src/main.ts": `${shop["src/main.ts"]}import { deep } from "./lib/deep.ts";\ndocument.title = deep;\n`,
    "src/lib/deep.ts": '\nexport { deep } from "packed/deep";\n',
    "node_modules/packed/package.json":
      '{ "name": "packed", "type": "module", "exports": { "./deep": "./src/deep.js" } }',
    "node_modules/packed/src/deep.js": "export const deep = 1;\n",
  });
  const { browser } = await json<Inspection>(app);
  const importersOf = (name: string) =>
    browser.modules.find((module) => module.name === name)?.importers;
  expect(importersOf("packed/src/deep.js")).toEqual([{ name: "src/lib/deep.ts", line: 2 }]);
  expect(importersOf("src/lib/deep.ts")).toEqual([{ name: "src/main.ts", line: 5 }]);
  expect(importersOf("src/main.ts")).toEqual([{ name: "index.html" }]);
});

describe("seamline inspect --why", () => {
  const app = (): Fixture =>
    createFixture({
      ...shop,
      "src/main.ts": `${shop["src/main.ts"]}import { deep } from "./lib/deep.ts";\ndocument.title = deep;\n`,
      "src/lib/deep.ts": '\nexport { deep } from "packed/deep";\n',
      "node_modules/packed/package.json":
        '{ "name": "packed", "type": "module", "exports": { "./deep": "./src/deep.js" } }',
      "node_modules/packed/src/deep.js":
        'import { platform } from "os";\nexport const deep = platform;\n',
    });

  it.each([
    [
      "src/lib/deep.ts",
      [
        "src/lib/deep.ts reaches browsers",
        "",
        "    index.html",
        "  → src/main.ts:5",
        "  → src/lib/deep.ts",
        "",
      ],
    ],
    [
      "packed",
      [
        "packed reaches browsers",
        "",
        "    index.html",
        "  → src/main.ts:5",
        "  → src/lib/deep.ts:2",
        "  → packed/src/deep.js",
        "",
      ],
    ],
    [
      "os",
      [
        "node:os reaches browsers",
        "",
        "    index.html",
        "  → src/main.ts:5",
        "  → src/lib/deep.ts:2",
        "  → packed/src/deep.js",
        "  → node:os",
        "",
      ],
    ],
    [
      "./ui/filter",
      [
        "src/ui/filter.ts reaches browsers",
        "",
        "its body, the procedures' code, through",
        '    segment "ui", started in src/main.ts',
        "  → src/ui/filter.ts",
        "",
      ],
    ],
    [
      "src/shop/stock.ts",
      [
        "src/shop/stock.ts does not reach browsers",
        "  src/shop/quote.ts:2 imports it, but browsers only get that module's face",
        "",
      ],
    ],
    ["node:fs", ["node:fs does not reach browsers", "  src/shop/stock.ts:1 imports it", ""]],
  ])("prints the import chain of %s, or where it ends", async (name, lines) => {
    const { code, out } = await inspect(app(), "--why", name);
    expect([code, out.split("\n")]).toEqual([0, lines]);
  });

  it("prints the chain as JSON", async () => {
    expect(await json<Why>(app(), "--why", "packed")).toEqual({
      name: "packed",
      inBrowser: true,
      ways: [
        {
          chain: [
            { name: "index.html" },
            { name: "src/main.ts", line: 5 },
            { name: "src/lib/deep.ts", line: 2 },
            { name: "packed/src/deep.js" },
          ],
        },
      ],
      importers: [{ name: "src/lib/deep.ts", line: 2 }],
    });
  });
});
