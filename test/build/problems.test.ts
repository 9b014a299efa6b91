import { describe, expect, it } from "vitest";

import { type Files, createFixture, shop } from "./_fixture.ts";

const segment = (module: string, fields: Record<string, unknown>): string =>
  JSON.stringify({ [module]: fields });
const open = { access: "public" };

async function problemsOf(files: Files, options = {}) {
  return await createFixture({ ...shop, ...files }).problems(options);
}

describe("segment files in a build", () => {
  it("a build reports every mistake of every segment file at once", async () => {
    const problems = await problemsOf({
      "bad.segment.json": segment("./shop/qoute", { quote: open }),
      "worse.segment.json": segment("./shop/quote", { qoute: open, other: { access: "publik" } }),
      "worst.segment.json": "{",
      "src/a/sync.ts":
        "export function sync(): void {}\nexport const value = 1;\nexport async function deep({ a: { b } }: { a: { b: string } }): Promise<string> {\n  return b;\n}\n",
      "sync.segment.json": segment("./a/sync", { sync: open, value: open, deep: open }),
    });
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          file: "bad.segment.json",
          path: '$["./shop/qoute"].quote',
          hint: 'Did you mean "./shop/quote"?',
        }),
        expect.objectContaining({
          file: "worse.segment.json",
          path: '$["./shop/quote"].qoute',
          hint: 'Did you mean "quote"?',
        }),
        expect.objectContaining({
          file: "worse.segment.json",
          path: '$["./shop/quote"].other.access',
          hint: 'Did you mean "public"?',
        }),
        expect.objectContaining({
          file: "worst.segment.json",
          message: expect.stringMatching(/not JSON/),
        }),
        expect.objectContaining({
          file: "src/a/sync.ts",
          line: 1,
          frame: expect.any(String),
          hint: expect.any(String),
        }),
        expect.objectContaining({ file: "src/a/sync.ts", line: 2 }),
        expect.objectContaining({ file: "src/a/sync.ts", line: 3 }),
      ]),
    );
    expect(problems).toHaveLength(7);
  });

  it("a segment entry that names a class is one problem, whatever else the entry lacks", async () => {
    const problems = await problemsOf({
      "a.segment.json": segment("./shop/money", { Money: {} }),
      "b.segment.json": segment("./shop/money", {
        Money: { access: "publik", version: "x", more: 1 },
      }),
      "c.segment.json": segment("./a/errors", {
        Oops: { access: "public", other: 1 },
        default: "public",
      }),
      "d.segment.json": segment("./a/errors", {
        Oops: { access: "public", version: "2" },
        Again: { access: "private", version: "3" },
      }),
      "src/a/errors.ts":
        "export default class {}\nexport class Oops extends Error {}\nexport { Oops as Again };\n",
    });
    expect([...new Set(problems.map(({ file, message }) => `${file} ${message}`))].sort()).toEqual([
      "src/a/errors.ts 'Again' is named by a segment, but it is a class",
      "src/a/errors.ts 'Oops' is named by a segment, but it is a class",
      "src/a/errors.ts The default export is named by a segment, but it is a class",
      "src/shop/money.ts 'Money' is named by a segment, but it is a class",
    ]);
  });

  it("an entry for a function that isn't exported gets the hint to write export", async () => {
    const problems = await problemsOf({
      "src/a/own.ts":
        "import { far } from './far.ts';\nasync function own(): Promise<void> {}\nvoid far;\nconst arrow = async (): Promise<void> => own();\nvoid arrow;\n// function said\n",
      "src/a/far.ts": "export const far = 1;\n",
      "own.segment.json": segment("./a/own", { own: open, arrow: open, said: open, far: open }),
    });
    const hint = "Write 'export' in front of it.";
    expect(problems.map((one) => one.hint)).toEqual([hint, hint, undefined, undefined]);
  });

  it("a build warns of an application without a segment file", async () => {
    const { "shop.segment.json": _, "src/ui/ui.segment.json": __, ...files } = shop;
    const app = createFixture({ ...files, "src/main.ts": "", "segments/shop.json": "{}" });
    expect((await app.build()).warnings).toMatchObject([
      {
        file: "*.segment.json",
        message: expect.stringMatching(/no such file/),
        hint: expect.stringContaining("NAME.segment.json"),
      },
    ]);
  });

  it("a build reports every module that can't be parsed, wherever it is imported from", async () => {
    const problems = await problemsOf(
      {
        "src/main.ts": 'import "./shop/quote.ts";\nlet x = ;\n',
        "src/shop/stock.ts": "export async function stock( {",
      },
      { browserSegments: [] },
    );
    expect(problems).toMatchObject([
      { file: "src/shop/stock.ts", line: 1 },
      { file: "src/main.ts", line: 2, frame: expect.any(String) },
    ]);
  });

  it("a build reports every import that can't be resolved, for servers and browsers", async () => {
    const problems = await problemsOf(
      {
        "src/main.ts":
          'import "./page/one.ts";\nimport two from "no-such-package";\nconsole.log(two);\n',
        "src/shop/quote.ts":
          '\nexport async function quote(): Promise<unknown> {\n  return await import("./three.ts");\n}\n',
      },
      { browserSegments: [] },
    );
    expect(problems).toMatchObject([
      {
        file: "src/shop/quote.ts",
        line: 3,
        message: expect.stringContaining("./three.ts"),
        frame: expect.any(String),
      },
      { file: "src/main.ts", line: 1, message: expect.stringContaining("./page/one.ts") },
      { file: "src/main.ts", line: 2, message: expect.stringContaining("no-such-package") },
    ]);
  });

  it("segment files are found everywhere but in node_modules, the output and dot folders", async () => {
    const bad = '{ "./no/such": { "x": { "access": "public" } } }';
    const app = createFixture({
      ...shop,
      "deploy/eu/a.segment.json": bad,
      "node_modules/x/b.segment.json": bad,
      ".hidden/c.segment.json": bad,
      "dist/d.segment.json": bad,
    });
    expect((await app.problems()).map((one) => one.file)).toEqual(["deploy/eu/a.segment.json"]);
  });

  it("keys of segment files work with and without extension, and a folder means its index", async () => {
    const app = createFixture({
      "src/a/index.ts": "export default async (): Promise<number> => 1;\n",
      "src/b.mts": "export async function b(): Promise<void> {}\n",
      "src/c/view.tsx": "export async function c(): Promise<void> {}\n",
      "src/d.js": "export default async function () {}\n",
      "x.segment.json": JSON.stringify({
        "./a": { default: open },
        "./b.mjs": { b: open },
        "./c/view.js": { c: open },
        "./d": { default: open },
      }),
    });
    const { manifest } = await app.build();
    expect(manifest.procedures.map((one) => `${one.fqn} ${one.module}`)).toEqual([
      "a a/index",
      "b b",
      "c/c c/view",
      "d d",
    ]);
  });

  it("a build refuses a source folder that doesn't exist", async () => {
    expect(await problemsOf({}, { source: "./lib", browserSegments: [] })).toContainEqual(
      expect.objectContaining({ file: "lib", hint: expect.stringContaining("source") }),
    );
  });

  it("a build refuses two files that are one module", async () => {
    const problems = await problemsOf({ "src/shop/quote.js": "export {};\n" });
    expect(problems[0]).toMatchObject({
      file: "src/shop/quote.ts",
      message: expect.stringMatching(/src\/shop\/quote\.js are one module/),
    });
  });
});

describe("names and duplicates", () => {
  const two = {
    "src/shop/v1.ts": "export async function offer(): Promise<number> {\n  return 1;\n}\n",
    "src/shop/v2.ts": "export async function offer(): Promise<number> {\n  return 2;\n}\n",
  };

  it("a build refuses one name and version for two functions, and names both files", async () => {
    const problems = await problemsOf({
      ...two,
      "one.segment.json": segment("./shop/v1", { offer: open }),
      "two.segment.json": segment("./shop/v2", { offer: open }),
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(
      /v1\.ts \(one\.segment\.json\).*v2\.ts \(two\.segment\.json\)/,
    );
  });

  it("versions of a procedure may be in several files, but must be in the same segments", async () => {
    const both = {
      "./shop/v1": { offer: open },
      "./shop/v2": { offer: { access: "public", version: "2" } },
    };
    const app = createFixture({ ...shop, ...two, "one.segment.json": JSON.stringify(both) });
    expect(
      (await app.build()).manifest.procedures.map((one) => `${one.fqn}@${one.version}`),
    ).toContain("shop/offer@2.0.0");
    app.write({
      "other.segment.json": segment("./shop/v2", { offer: { access: "public", version: "2" } }),
    });
    expect(await app.problems()).toMatchObject([
      {
        message: expect.stringMatching(
          /version 2\.0\.0 of "shop\/offer" is in one, other, but version 0\.0\.0 is in one/,
        ),
      },
    ]);
  });

  it("an export may be in several segments, but with one version and one name", async () => {
    const app = createFixture({
      ...shop,
      "more.segment.json": segment("./shop/quote.ts", {
        quote: { access: "private", version: "1.0" },
      }),
    });
    expect((await app.build()).manifest.segments["more"]).toEqual([
      { procedure: 0, access: "private" },
    ]);
    app.write({ "more.segment.json": segment("./shop/quote", { quote: { access: "private" } }) });
    expect((await app.problems()).map((one) => one.message).join()).toMatch(
      /has version 0\.0\.0 here, and 1\.0\.0 in more|has version 1\.0\.0 here, and 0\.0\.0 in/,
    );
    app.write({
      "more.segment.json": segment("./shop/quote", {
        quote: { access: "private", version: "1", as: "offer" },
      }),
    });
    expect((await app.problems()).map((one) => one.message).join()).toMatch(
      /is named "shop\/\w+" here, and "shop\/\w+" in/,
    );
  });

  it("a build refuses two segment files with the same name", async () => {
    const problems = await problemsOf({ "deploy/shop.segment.json": "{}" });
    expect(problems).toMatchObject([
      { message: expect.stringMatching(/segment "shop" is also defined by/) },
    ]);
  });

  it("a procedure is named after `as`, the function, the export, the file or the folder", async () => {
    const app = createFixture({
      "src/n/names.ts":
        "export async function declared(): Promise<void> {}\nexport const arrow = async (): Promise<void> => {};\nasync function inner(): Promise<void> {}\nexport { inner as outer };\nexport async function renamed(): Promise<void> {}\nexport default async (): Promise<void> => {};\n",
      "n.segment.json": segment("./n/names", {
        declared: open,
        arrow: open,
        outer: open,
        renamed: { access: "public", as: "given" },
        default: open,
      }),
    });
    const { manifest } = await app.build();
    expect(manifest.procedures.map((one) => one.fqn)).toEqual([
      "n/arrow",
      "n/declared",
      "n/given",
      "n/inner",
      "n/names",
    ]);
  });

  it("a re-exported procedure is split where it is declared, and named after the module in the segment file", async () => {
    const app = createFixture({
      "src/api/index.ts":
        'export * from "../inner/deep.ts";\nexport { two as second } from "../inner/two.ts";\n',
      "src/inner/deep.ts": "export async function one(): Promise<void> {}\n",
      "src/inner/two.ts": "export const two = async (): Promise<void> => {};\n",
      "api.segment.json": segment("./api", { one: open, second: open }),
    });
    const { manifest } = await app.build();
    expect(manifest.procedures).toMatchObject([
      { fqn: "api/one", module: "inner/deep", export: "one" },
      { fqn: "api/two", module: "inner/two", export: "two" },
    ]);
    app.write({ "inner.segment.json": segment("./inner/deep", { one: open }) });
    expect(await app.problems()).toMatchObject([
      {
        message: expect.stringMatching(
          /is named "(api|inner)\/one" here, and "(api|inner)\/one" in/,
        ),
      },
    ]);
  });

  it("a build refuses a function of a package as a procedure", async () => {
    const problems = await problemsOf({
      "node_modules/lib/package.json":
        '{ "name": "lib", "type": "module", "exports": "./index.js" }',
      "node_modules/lib/index.js": "export async function far() {}\n",
      "src/lib.ts": 'export { far } from "lib";\n',
      "lib.segment.json": segment("./lib", { far: open }),
    });
    expect(problems).toMatchObject([
      { file: "lib.segment.json", message: expect.stringMatching(/comes from "lib"/) },
    ]);
  });
});

describe("modules of Node in pages", () => {
  it("a build refuses a page that imports a module of Node, and shows the chain of imports", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts": `${shop["src/main.ts"]}import { a } from "./util/a.ts";\nconsole.log(a);\n`,
      "src/util/a.ts": 'import { b } from "lib";\nexport const a = b;\n',
      "node_modules/lib/package.json":
        '{ "name": "lib", "type": "module", "exports": "./index.js" }',
      "node_modules/lib/index.js":
        'import { readFileSync } from "node:fs";\nexport const b = readFileSync;\n',
    });
    expect(await app.problems()).toMatchObject([
      {
        file: "src/util/a.ts",
        line: 1,
        frame: expect.any(String),
        message: expect.stringContaining(
          "index.html → src/main.ts → src/util/a.ts → package lib → node:fs",
        ),
        hint: expect.any(String),
      },
    ]);
  });

  it("a build warns of a private procedure that code of another segment imports, with the chain of imports", async () => {
    const app = createFixture({
      ...shop,
      "src/shop/quote.ts":
        'import { helper } from "./helper.ts";\nexport async function quote(): Promise<number> {\n  return await helper();\n}\n',
      "src/shop/helper.ts":
        'import { stock } from "./stock.ts";\nexport const helper = async (): Promise<number> => await stock("a");\n',
      "shop.segment.json": segment("./shop/quote", { quote: open }),
      "store.segment.json": segment("./shop/stock", { stock: { access: "private" } }),
    });
    const { warnings } = await app.build();
    expect(warnings.map((one) => one.message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /"shop\/stock" is private to "store", but code of segment "shop" imports it: src\/shop\/quote\.ts → src\/shop\/helper\.ts → src\/shop\/stock\.ts/,
        ),
      ]),
    );
    app.write({
      "store.segment.json": "{}",
      "shop.segment.json": JSON.stringify({
        "./shop/quote": { quote: open },
        "./shop/stock": { stock: { access: "private" } },
      }),
    });
    expect((await app.build()).warnings).toEqual([]);
    expect(app.warned.length).toBeGreaterThanOrEqual(warnings.length);
  });
});
