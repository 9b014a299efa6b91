import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { basename } from "node:path";

import { describe, expect, it } from "vitest";

import { bundlerProblems } from "../../server/compile/write/problems.ts";
import { findOutput, isStale } from "../../server/files/sources.ts";
import { createFixture, shop } from "./_fixture.ts";
import { runtimeHash } from "../../server/base/runtime-files.ts";

describe("the output of a build", () => {
  it("a build writes a module for each part under its plain name, and leaves bare imports as they are", async () => {
    const app = createFixture(shop);
    await app.build();
    const modules = app
      .list("dist/server/modules")
      .filter((file) => file.endsWith(".js") && !file.startsWith("_virtual/"));
    expect(modules).toEqual([
      "_seam.js",
      "_seamline/types.js",
      "shop/money.js",
      "shop/quote.js",
      "shop/quote~body.js",
      "shop/stock.js",
      "shop/stock~body.js",
      "ui/filter.js",
      "ui/filter~body.js",
    ]);
    expect(app.read("dist/server/modules/shop/stock~body.js")).toMatch(/from "node:fs"/);
    expect(app.read("dist/server/modules/_seam.js")).toMatch(/from "seamline"/);
    for (const file of modules.filter((name) => name.endsWith("~body.js")))
      expect(app.read(`dist/server/modules/${file}`)).toMatch(/\n\/\/# sourceMappingURL=data:\S+$/);
    expect(app.list("dist/server").filter((file) => file.endsWith(".map"))).toEqual([]);
  });

  it("the server's manifest has procedures, segments, classes and imports", async () => {
    const app = createFixture(shop);
    const { manifest } = await app.build();
    expect(app.manifest()).toEqual(manifest);
    expect(manifest.procedures).toEqual([
      {
        fqn: "shop/quote",
        version: "1.0.0",
        module: "shop/quote",
        export: "quote",
        parameters: [
          { kind: "plain", name: "sku" },
          { kind: "plain", name: "quantity", optional: true, type: "number" },
        ],
      },
      {
        fqn: "shop/stock",
        version: "0.0.0",
        module: "shop/stock",
        export: "stock",
        parameters: [{ kind: "plain", name: "sku" }],
      },
      {
        fqn: "ui/filter",
        version: "0.0.0",
        module: "ui/filter",
        export: "filter",
        parameters: [{ kind: "plain", name: "words", type: "string[]" }],
      },
    ]);
    expect(manifest.segments).toEqual({
      shop: [
        { procedure: 0, access: "public" },
        { procedure: 1, access: "public" },
      ],
      ui: [{ procedure: 2, access: "public" }],
    });
    expect(manifest.classes).toEqual([
      { key: "shop/Money", module: "shop/money", export: "Money", args: ["amount"], fields: [] },
    ]);
    expect(manifest).toMatchObject({
      format: 1,
      graph: "_seam.js",
      browserSegments: ["ui"],
      modules: {
        "shop/money": { file: "shop/money.js" },
        "shop/quote": { file: "shop/quote.js", body: "shop/quote~body.js" },
      },
      imports: { "shop/quote": ["shop/money", "shop/stock"] },
    });
    for (const [file, record] of Object.entries(manifest.files)) {
      const content = readFileSync(app.path(`dist/server/modules/${file}`));
      expect(record).toMatchObject({
        size: content.length,
        integrity: `sha256-${createHash("sha256").update(content).digest("base64")}`,
      });
      for (const one of record.imports) expect(Object.keys(manifest.files)).toContain(one);
    }
  });

  it("the browser's manifest has only what browsers can load", async () => {
    const app = createFixture(shop);
    await app.build();
    const manifest = app.browserManifest();
    expect(manifest.procedures.map((one) => one.fqn)).toEqual(["ui/filter"]);
    expect(manifest.segments).toEqual({ ui: [{ procedure: 0, access: "public" }] });
    // The page imports Money only as a type, and stock not at all.
    expect(Object.keys(manifest.modules)).toEqual(["shop/quote", "ui/filter"]);
    expect(manifest.modules["shop/quote"]).not.toHaveProperty("body");
    expect(manifest.classes).toEqual([]);
    for (const file of Object.keys(manifest.files)) {
      expect(file).toMatch(/^assets\/[\w-]+-[\w-]{8}\.js$/);
      expect(app.list("dist/browser")).toContain(file);
    }
    expect(app.list("dist/browser").filter((file) => !file.startsWith("assets/"))).toEqual([
      "index.html",
    ]);
    expect(app.read("dist/browser/index.html")).toContain(
      `<meta name="seamline-revision" content="${manifest.revision}">`,
    );
    // The runtime is preloaded, so that it loads beside the page's modules and not after them.
    for (const name of ["client", "remote"])
      expect(app.read("dist/browser/index.html")).toContain(
        `<link rel="modulepreload" href="/svc/${runtimeHash()}/${name}.js">`,
      );
  });

  it("a module that pages import by value is the same file as in the manifest, classes included", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts": `${shop["src/main.ts"]}import { Money } from "./shop/money.ts";\nconsole.log(new Money(1));\n`,
    });
    await app.build();
    const manifest = app.browserManifest();
    expect(manifest.classes.map((one) => one.key)).toEqual(["shop/Money"]);
    const page = app.list("dist/browser").find((file) => file.startsWith("assets/index-")) ?? "";
    expect(app.read(`dist/browser/${page}`)).toContain(
      `from"./${manifest.modules["shop/money"]?.file.slice("assets/".length)}"`,
    );
    const holders = app
      .list("dist/browser")
      .filter(
        (file) => file.endsWith(".js") && /class\{amount/.test(app.read(`dist/browser/${file}`)),
      );
    expect(holders).toHaveLength(1);
  });

  it("a face without code of its own is part of the page that imports it, and a file for client.import", async () => {
    const app = createFixture(shop);
    await app.build();
    const { modules } = app.browserManifest();
    const file = modules["shop/quote"]?.file ?? "";
    const holders = app
      .list("dist/browser")
      .filter((name) => name.endsWith(".js"))
      .filter((name) => /"shop\/quote"|`shop\/quote`/.test(app.read(`dist/browser/${name}`)));
    expect(holders).toHaveLength(2);
    expect(holders).toContain(file);
    expect(holders.filter((name) => /\/index-[^/]*$/.test(name))).toHaveLength(1);
  });

  it("pages, faces and bodies import the runtime from the same URL", async () => {
    const app = createFixture(shop);
    await app.build();
    const scripts = app.list("dist/browser").filter((file) => file.endsWith(".js"));
    const asking = scripts.filter((file) =>
      app.read(`dist/browser/${file}`).includes(`from"/svc/${runtimeHash()}/client.js"`),
    );
    expect(asking.length).toBeGreaterThanOrEqual(3);
    for (const file of scripts)
      expect(app.read(`dist/browser/${file}`)).not.toMatch(/from\s*"seamline/);
  });

  it("a build includes modules that configuration files name, and classes that are only imported as types", async () => {
    const app = createFixture({
      ...shop,
      "src/log.ts": "export default { async handle() {} };\n",
      "src/checks/database.ts": "export default class { async isHealthy() { return true; } }\n",
      "src/shop/draft.ts": "export class Draft {\n  lines: string[] = [];\n}\n",
      "src/shop/order.ts":
        'import type { Draft } from "./draft.ts";\nexport async function order(draft: Draft): Promise<number> {\n  return draft.lines.length;\n}\n',
      "order.segment.json": '{ "./shop/order": { "order": { "access": "public" } } }',
      "config/node.json":
        '{ "mode": "node", "middleware": ["./src/log.ts"], "healthChecks": { "database": "./src/checks/database.ts" } }',
    });
    const { manifest } = await app.build();
    expect(Object.keys(manifest.modules)).toEqual(
      expect.arrayContaining(["log", "checks/database", "shop/draft"]),
    );
    expect(manifest.classes.map((one) => one.key)).toContain("shop/Draft");
    expect(manifest.imports["shop/order"]).toEqual(["shop/draft"]);
  });

  it("a built module keeps all of its exports, in TypeScript and JavaScript", async () => {
    const app = createFixture({
      "src/a/view.tsx":
        'import { one } from "./util.mts";\nexport async function view(): Promise<unknown> {\n  const { lazy } = await import("./lazy.jsx");\n  return <p title={lazy}>{one}</p>;\n}\n',
      "src/a/util.mts": "export const one: number = 1;\nexport const two = (): number => 2;\n",
      "src/a/lazy.jsx": "export const lazy = 1;\nexport const more = () => <b />;\n",
      "a.segment.json": '{ "./a/view": { "view": { "access": "public" } } }',
    });
    const { manifest } = await app.build();
    expect(manifest.modules).toMatchObject({
      "a/view": { file: "a/view.js", body: "a/view~body.js" },
      "a/util": { file: "a/util.js" },
      "a/lazy": { file: "a/lazy.js" },
    });
    expect(app.read("dist/server/modules/a/util.js")).toMatch(/export \{ one, two \}/);
    expect(app.read("dist/server/modules/a/lazy.js")).toMatch(/export \{ lazy, more \}/);
    expect(app.read("dist/server/modules/a/view~body.js")).toMatch(/import\("\.\/lazy\.js"\)/);
    expect(manifest.files["a/view~body.js"]?.imports).toContain("a/lazy.js");
  });

  it("a built module runs on Node, with stack traces that lead to the TypeScript source", async () => {
    const app = createFixture(shop);
    await app.build();
    const script = `const { quote } = await import("./dist/server/modules/shop/quote~body.js");
      const { seam } = await import("./dist/server/modules/_seam.js");
      await import("./dist/server/modules/shop/stock.js");
      try { await quote("package.json", 1e9) } catch (error) { console.log(error.stack) }`;
    const stack = execFileSync(
      process.execPath,
      ["--enable-source-maps", "--input-type=module", "-e", script],
      {
        cwd: app.root,
        encoding: "utf8",
      },
    );
    expect(stack).toMatch(/at .*quote.* \(.*src\/shop\/quote\.ts:6:\d+\)/);
  });

  it("a build accepts a page in the source folder, and an application without a page", async () => {
    const { "index.html": page = "", ...rest } = shop;
    const app = createFixture({
      ...rest,
      "src/index.html": page.replace("./src/main.ts", "/main.ts"),
    });
    await app.build();
    expect(app.list("dist/browser")).toContain("index.html");
    app.remove("src/index.html");
    app.remove("src/main.ts");
    await app.build({ browserSegments: [] });
    expect(app.list("dist/browser").filter((file) => !file.startsWith("assets/"))).toEqual([]);
    expect(app.browserManifest().modules).toEqual({});
  });
});

describe("a build", () => {
  it("a failed build leaves the previous output as it is", async () => {
    const app = createFixture(shop);
    await app.build();
    const before = app.list("dist").map((file) => app.read(`dist/${file}`));
    app.write({ "src/shop/quote.ts": "export async function quote( {" });
    await app.problems();
    app.write({
      "src/shop/quote.ts":
        'import "./nowhere.ts";\nexport async function quote(): Promise<void> {}\n',
    });
    await expect(app.build()).rejects.toThrow(/nowhere/);
    expect(app.list("dist").map((file) => app.read(`dist/${file}`))).toEqual(before);
    expect(
      app.list(".").filter((file) => file.startsWith(".") && !file.startsWith(".seamline/")),
    ).toEqual([]);
  });

  it("the same sources give the same revision, and any change gives another one", async () => {
    const app = createFixture(shop);
    const revisions = [
      (await app.build()).manifest.revision,
      (await app.build()).manifest.revision,
    ];
    const changes = [
      { "src/shop/money.ts": `${shop["src/shop/money.ts"]}export const currency = "EUR";\n` },
      { "src/main.ts": `${shop["src/main.ts"]}console.log("new");\n` },
      { "src/ui/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "private" } } }' },
    ];
    for (const change of changes) {
      app.write(change);
      revisions.push((await app.build()).manifest.revision);
    }
    expect(revisions[1]).toBe(revisions[0]);
    expect(new Set(revisions).size).toBe(1 + changes.length);
  });

  it("an application has the same revision in any folder", async () => {
    const files = {
      ...shop,
      "vite.config.js": "export default { build: { minify: false, sourcemap: true } };",
    };
    const [one, other] = [createFixture(files), createFixture(files)];
    expect((await one.build()).manifest).toEqual((await other.build()).manifest);
  });

  it("an application has the same revision in any folder if its folder is the source folder", async () => {
    const files = {
      "index.ts": "export async function greet(): Promise<string> {\n  return 'hello';\n}\n",
      "greet.segment.json": '{ "./index": { "greet": { "access": "public" } } }',
    };
    const [one, other] = [createFixture(files), createFixture(files)];
    const options = { source: ".", browserSegments: ["greet"] };
    expect((await one.build(options)).manifest).toEqual((await other.build(options)).manifest);
  });

  it("a build keeps the browser files of the previous revision, but no older ones", async () => {
    const app = createFixture(shop);
    const scripts: (readonly string[])[] = [];
    for (const word of ["one", "two", "two", "three"]) {
      app.write({ "src/main.ts": `${shop["src/main.ts"]}console.log("${word}");\n` });
      await app.build();
      scripts.push(app.list("dist/browser").filter((file) => file.startsWith("assets/index-")));
    }
    expect(scripts.map((files) => files.length)).toEqual([1, 2, 2, 2]);
    expect(scripts[2]).toEqual(scripts[1]);
    expect(scripts[3]).not.toContain(scripts[0]?.[0]);
  });

  it("an output that is older than the sources is stale", async () => {
    const app = createFixture(shop);
    const { manifest } = await app.build();
    expect(await findOutput(app.root, "./dist")).toEqual({
      browser: app.path("dist/browser"),
      server: app.path("dist/server"),
    });
    expect(await findOutput(app.root, "./elsewhere")).toBeUndefined();
    expect(await isStale(app.root, "./src", "./dist", manifest)).toBe(false);
    app.write({ "src/shop/money.ts": "export class Money {}\n" });
    expect(await isStale(app.root, "./src", "./dist", manifest)).toBe(true);
  });

  it("a build refuses an output that would replace the sources", async () => {
    const app = createFixture(shop);
    await expect(app.build({ output: "." })).rejects.toThrow(/choose another "output"/);
    await expect(app.build({ output: "./src" })).rejects.toThrow(/choose another "output"/);
    mkdirSync(app.path("segments"));
    for (const name of app.list(".").filter((one) => one.endsWith(".segment.json")))
      renameSync(app.path(name), app.path(`segments/${basename(name)}`));
    const kept = app.list("segments");
    expect(kept).not.toEqual([]);
    await expect(app.build({ output: "./segments" })).rejects.toThrow(
      "would replace all segment files, segments/",
    );
    expect(app.list("segments")).toEqual(kept);
  });

  it("a build refuses an output that is a file or someone else's folder, and replaces the folder of a build", async () => {
    const app = createFixture({ ...shop, "seamline.json": "{}" });
    await expect(app.build({ output: "seamline.json" })).rejects.toThrow(
      "The output seamline.json is a file, but a build writes a folder",
    );
    expect(app.read("seamline.json")).toBe("{}");
    const other = createFixture({ "letters/monday.txt": "Dear" });
    await expect(app.build({ output: other.path("letters") })).rejects.toThrow(
      "holds files that no build made",
    );
    expect(other.read("letters/monday.txt")).toBe("Dear");
    for (let time = 0; time < 2; time++) await app.build({ output: other.path("built") });
    expect(other.list("built/server")).toContain("manifest.json");
  });

  it("a build that can't write says where and why in one line, before it builds", async () => {
    const app = createFixture({ ...shop, blocked: "" });
    const error = await app
      .build({ output: "blocked/out/dist" })
      .catch((thrown: unknown) => thrown);
    expect((error as Error).message).toBe(
      `Can't write ${app.path("blocked")}: there is a file where a folder should be (ENOTDIR). Remove the file, or choose another "output"`,
    );
    expect(app.read("blocked")).toBe("");
    symlinkSync("nowhere", app.path("lost"));
    await expect(app.build({ output: "lost/dist" })).rejects.toThrow(
      /^Can't write \S*\/lost: there is a file/,
    );
  });

  it("a file that the bundler can't write is one line, without its backtrace", () => {
    const dump = `Build failed with 1 error:

[UNHANDLEABLE_ERROR] Something went wrong inside rolldown, please report this problem.
Could not create directory for output chunks: /app/dist

Caused by:
    Permission denied (os error 13)

Stack backtrace:
   0: <unknown>
`;
    expect(() => bundlerProblems(new Error(dump), "/app")).toThrow(
      /^Can't write \/app\/dist: permission denied \(EACCES\)\. .*"output"$/,
    );
  });
});
