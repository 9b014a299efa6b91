// The types of parameters in a build: the models for nodes, and mistakes.

import { once } from "node:events";
import { existsSync, statSync, utimesSync, writeFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { TypeModel } from "../../server/types/model.ts";
import { createFixture, type Files, type Fixture } from "./_fixture.ts";

const order = `import type { Line } from "./line.ts";
export async function order(lines: Line[], due: Date, admin = false): Promise<void> {}
`;
const line = "export interface Line { sku: string; metres: number }\n";
const segment = (entry: object, module = "./shop/order") =>
  JSON.stringify({ [module]: { order: { access: "public", ...entry } } });

const shop = (entry: object = {}, files: Files = {}): Fixture =>
  createFixture({
    "src/shop/order.ts": order,
    "src/shop/line.ts": line,
    "shop.segment.json": segment(entry),
    ...files,
  });

async function modelOf(app: Fixture): Promise<TypeModel> {
  const { types = "" } = app.manifest();
  const module = (await import(app.path(`dist/server/modules/${types}`))) as { model: TypeModel };
  return module.model;
}

describe("types of parameters", () => {
  it("are a module of the nodes' build, in files and revision of its manifest, and in no file for browsers", async () => {
    const app = shop();
    const { manifest } = await app.build();
    expect(manifest.types).toBe("_seamline/types.js");
    expect(Object.keys(manifest.files)).toContain(manifest.types);
    const model = await modelOf(app);
    expect(model.functions["shop/order#order"]).toHaveLength(1);
    expect(model.definitions["Line"]).toMatchObject({ kind: "object" });
    for (const file of app.list("dist/browser"))
      expect(app.read(`dist/browser/${file}`)).not.toContain("metres");
    expect(app.browserManifest()).not.toHaveProperty("types");
    app.write({ "src/shop/line.ts": line.replace("number", "string") });
    expect((await app.build()).manifest.revision).not.toBe(manifest.revision);
  });

  it.each([
    ["an entry says so", { validate: false }, {}],
    ["the configuration says so", {}, { validate: false }],
    ["nobody outside can call it", { access: "private" }, {}],
  ])("aren't read if %s", async (_, entry, options) => {
    const app = shop(entry, { "src/shop/line.ts": "export type Line = Missing;" });
    const { manifest } = await app.build(options);
    expect(manifest.types).toBeUndefined();
    expect(existsSync(app.path("dist/server/modules/_seamline"))).toBe(false);
  });

  it("are read where an entry says so, though the configuration says no", async () => {
    const app = shop({ validate: true });
    const { manifest } = await app.build({ validate: false });
    expect(Object.keys((await modelOf(app)).functions)).toEqual(["shop/order#order"]);
    expect(manifest.segments["shop"]?.[0]).not.toHaveProperty("validate");
  });

  it("that can't be resolved fail the build together with its other mistakes", async () => {
    const app = shop(
      {},
      {
        "src/shop/line.ts":
          "import type { Sku } from './sku.ts';\nexport interface Line { sku: Sku }",
      },
    );
    expect(await app.problems()).toMatchObject([
      {
        file: "src/shop/order.ts",
        line: 2,
        message: expect.stringContaining("lines[].sku: its type can't be resolved"),
        hint: expect.stringContaining('"validate": false'),
      },
    ]);
  });

  it("that take anything are no mistake, and notes are warnings", async () => {
    const app = shop(
      {},
      {
        "src/shop/line.ts":
          "export interface Line {\n/** @minimum 1 */\nmetres: number; more: unknown }",
      },
    );
    const { warnings } = await app.build();
    expect(warnings).toMatchObject([{ message: expect.stringContaining("@minimum") }]);
  });

  it("of a wrapped function come from the function that it wraps", async () => {
    const app = shop(
      {},
      {
        "src/shop/order.ts":
          "const logged = (run: (...args: any[]) => Promise<void>) => run;\nexport const order: (...args: any[]) => Promise<void> = logged(async (metres: number) => {});\n",
      },
    );
    await app.build();
    expect((await modelOf(app)).functions["shop/order#order"]).toEqual([
      { parameters: [{ kind: "plain", name: "metres", type: { kind: "number" } }] },
    ]);
  });

  it("of classes have the key that instances travel with", async () => {
    const app = shop(
      {},
      { "src/shop/line.ts": "export class Line { constructor(readonly sku: string) {} }" },
    );
    await app.build();
    expect((await modelOf(app)).classes).toMatchObject({
      "shop/Line": { parameters: [{ name: "sku" }] },
    });
  });

  it("follow Vite's aliases", async () => {
    const app = shop(
      {},
      {
        "src/shop/order.ts": order.replace("./line.ts", "@lines/line.ts"),
        "lines/line.ts": line,
        "vite.config.js": "export default { resolve: { alias: { '@lines': '/lines' } } };",
      },
    );
    app.write({
      "vite.config.js": `export default { resolve: { alias: { "@lines": ${JSON.stringify(app.path("lines"))} } } };`,
    });
    await app.build();
    expect((await modelOf(app)).definitions).toHaveProperty("Line");
  });
});

describe("a reading that is kept", () => {
  const cache = "node_modules/.vite/seamline-contract.json";
  const withPackage = (files: Files = {}) => shop({}, { "package.json": "{}", ...files });

  it("counts for the next build, until a file that was read changes", async () => {
    const app = withPackage();
    await app.build();
    const kept = app.read(cache);
    // A name that isn't in the sources.
    writeFileSync(app.path(cache), kept.replaceAll("metres", "yards"));
    await app.build();
    expect(JSON.stringify(await modelOf(app))).toContain("yards");
    app.write({ "src/shop/line.ts": `${line}// longer\n` });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).not.toContain("yards");
  });

  it("counts after a checkout, whose files are as they were but for their times", async () => {
    const app = withPackage();
    await app.build();
    writeFileSync(app.path(cache), app.read(cache).replaceAll("metres", "yards"));
    app.write({ "src/shop/line.ts": `${line}// longer\n` });
    app.write({ "src/shop/line.ts": line });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("yards");
  });

  it("counts after changes in functions that say what they return, and is kept with them", async () => {
    const said = `export const guarded = <T>(run: T): T => run;
export const limit = guarded((): number => { return 30; });
export class Shelf { size(): number { return 1; } }
`;
    const app = withPackage({ "src/shop/line.ts": line + said });
    await app.build();
    writeFileSync(app.path(cache), app.read(cache).replaceAll("metres", "yards"));
    app.write({
      "src/shop/order.ts": order.replace("{}", '{\n  if (admin) throw new Error("no");\n}'),
      "src/shop/line.ts":
        line + said.replace("30", '"30" as never').replace("return 1", "return 2"),
    });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("yards");
    const { ino } = statSync(app.path(cache));
    await app.build();
    expect(statSync(app.path(cache)).ino).toBe(ino);
  });

  it("counts no longer after a change in a function that doesn't say what it returns", async () => {
    const inferred = `export const limit = () => { return 30; };
export type Limit = ReturnType<typeof limit>;
`;
    const app = withPackage({
      "src/shop/line.ts": `${inferred}export interface Line { metres: Limit }`,
    });
    await app.build();
    app.write({
      "src/shop/line.ts": `${inferred.replace("30", '"text"')}export interface Line { metres: Limit }`,
    });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain('\\"string\\"');
  });

  it("with notes counts no longer after any change, as notes name lines", async () => {
    const app = withPackage({
      "tsconfig.json": '{ "include": ["src"], "compilerOptions": { "strict": false } }',
    });
    await app.build();
    writeFileSync(app.path(cache), app.read(cache).replaceAll("metres", "yards"));
    app.write({ "src/shop/order.ts": order.replace("{}", "{\n\n}") });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).not.toContain("yards");
  });

  it("counts no longer after a file got another content of the same size and modification time", async () => {
    const app = withPackage();
    await app.build();
    const file = app.path("src/shop/line.ts");
    const { atime, mtime } = statSync(file);
    app.write({ "src/shop/line.ts": line.replace("metres", "litres") });
    utimesSync(file, atime, mtime);
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("litres");
  });

  it.each([
    '{"files":{},"folders":{}}',
    '{"files":{},"folders":{}}\n{}',
    '{"request":"\n',
    "null\n",
  ])(
    "doesn't count if another release has kept it, or only a part is left of it: %j",
    async (content) => {
      const app = withPackage({ [cache]: content });
      const { manifest } = await app.build();
      expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("metres");
    },
  );

  it("counts beside a configuration, where builds put their output", async () => {
    const app = withPackage({ "tsconfig.json": '{ "include": ["src"] }' });
    await app.build();
    writeFileSync(app.path(cache), app.read(cache).replaceAll("metres", "yards"));
    // As another process would see it.
    app.write({ ".dist.123-1/server/manifest.json": "{}" });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("yards");
  });

  it("counts no longer if a new file may declare more, or other functions are checked", async () => {
    const app = withPackage({
      "src/shop/line.ts":
        "export interface Line extends Extra { sku: string }\ndeclare global { interface Extra {} }",
    });
    await app.build();
    app.write({
      "src/shop/extra.d.ts": "interface Extra { note: string }",
      "tsconfig.json":
        '{ "include": ["src"], "compilerOptions": { "strict": true, "skipLibCheck": true } }',
    });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("note");
  });

  it("counts no longer once there is a tsconfig.json", async () => {
    const app = withPackage({
      "src/shop/line.ts": 'import type { Sku } from "@lines/sku";\nexport type Line = Sku;',
      "lib/sku.ts": "export interface Sku { pieces: number }",
      "other/sku.ts": "export interface Sku { boxes: number }",
      "vite.config.js": "",
    });
    app.write({
      "vite.config.js": `export default { resolve: { alias: { "@lines": ${JSON.stringify(app.path("lib"))} } } };`,
    });
    await app.build();
    expect(JSON.stringify(await modelOf(app))).toContain("pieces");
    app.write({
      "tsconfig.json":
        '{ "include": ["src"], "compilerOptions": { "paths": { "@lines/*": ["./other/*"] } } }',
    });
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("boxes");
  });

  it("counts for the build after one that wrote other files, where tsconfig.json includes the output", async () => {
    const app = withPackage({ "tsconfig.json": "{}" });
    await app.build();
    app.write({ "src/shop/order.ts": `${order}export async function more() {}\n` });
    await app.build();
    writeFileSync(app.path(cache), app.read(cache).replaceAll("metres", "yards"));
    const { manifest } = await app.build();
    expect(app.read(`dist/server/modules/${manifest.types}`)).toContain("yards");
  });

  it("that can't be kept fails no build", async () => {
    const app = withPackage({ [`${cache}/a-folder`]: "" });
    const warning = once(process, "warning");
    await app.build();
    expect((await modelOf(app)).definitions).toHaveProperty("Line");
    expect(String(await warning)).toContain("can't be kept for the next start: EISDIR");
    expect(app.list("node_modules/.vite").filter((name) => name.includes(".json."))).toEqual([]);
  });

  it("isn't kept if there are problems", async () => {
    const app = withPackage({ "src/shop/line.ts": "export interface Line { sku: Sku }" });
    await app.problems();
    app.write({
      "src/shop/globals.d.ts": "type Sku = string;",
      "tsconfig.json": '{ "include": ["src"] }',
    });
    await app.build();
  });
});

it("checks of equal types share their code, as the clients of databases say the same of thousands of fields", async () => {
  const codeOf = async (count: number): Promise<number> => {
    const fields = Array.from(
      { length: count },
      (_, at) => `f${at}?: string | { equals?: string; not?: string; in?: string[] }`,
    );
    const app = shop({}, { "src/shop/line.ts": `export interface Line { ${fields.join("; ")} }` });
    const { manifest } = await app.build();
    const text = app.read(`dist/server/modules/${manifest.types}`);
    return text.match(/v\["equals"\]/g)?.length ?? 0;
  };
  expect([await codeOf(1), await codeOf(100)]).toEqual([1, 1]);
});
