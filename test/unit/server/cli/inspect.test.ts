import { describe, expect, it } from "vitest";

import type { Inspection } from "../../../../server/report/inspection.ts";
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
  it("shows the guard of a procedure or route, and in JSON that an entry has none", async () => {
    const app = createFixture({
      ...shop,
      "src/auth.ts": "export async function signedIn(): Promise<void> {}\n",
      "src/hook.ts":
        "export async function hook(): Promise<Response> {\n  return new Response();\n}\n",
      "shop.segment.json": JSON.stringify({
        $guard: "./auth.ts#signedIn",
        "./shop/quote": { quote: { access: "public" } },
        "./shop/stock": { stock: { access: "public", guard: false } },
        "./hook": { hook: { access: "protected", route: "POST /hook" } },
      }),
    });
    const { out } = await inspect(app);
    expect(out).toMatch(/^ {2}shop\/quote {2}public, guard auth#signedIn {2}\(sku/m);
    expect(out).toMatch(/^ {2}shop\/stock {2}public {21,}\(sku/m);
    expect(out).toMatch(/^ {2}POST \/hook {2}protected, guard auth#signedIn {2}hook$/m);
    const { procedures, routes } = await json<Inspection>(app);
    const guards = procedures.map(({ fqn, segments }) => [fqn, segments[0]?.guard]);
    expect(Object.fromEntries(guards)).toEqual({
      "shop/quote": "auth#signedIn",
      "shop/stock": false,
      "ui/filter": undefined,
    });
    expect(routes[0]?.segments).toEqual([
      { name: "shop", access: "protected", guard: "auth#signedIn" },
    ]);
  });

  it("shows which procedures are streams, and in JSON which can be resumed", async () => {
    const app = createFixture({
      ...shop,
      "src/shop/rows.ts":
        "export async function* rows(after = 0): AsyncGenerator<number, void> {\n  yield after + Number(this.lastEventId);\n}\n",
      "rows.segment.json": '{ "./shop/rows": { "rows": { "access": "public", "resume": true } } }',
    });
    const { out } = await inspect(app);
    expect(out).toMatch(
      /^ {2}shop\/rows {2}public, stream {2}\(after = 0\): AsyncGenerator<number, void>$/m,
    );
    const { procedures } = await json<Inspection>(app);
    expect(procedures.map(({ fqn, stream }) => [fqn, stream])).toEqual([
      ["shop/quote", undefined],
      ["shop/rows", true],
      ["shop/stock", undefined],
      ["ui/filter", undefined],
    ]);
    expect(procedures[1]?.segments).toEqual([
      { name: "rows", access: "public", idempotent: true, resume: true },
    ]);
  });

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

  it("prints everything as JSON", async () => {
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
        { kind: "plain", name: "sku" },
        { kind: "plain", name: "quantity", optional: true, type: "number" },
      ],
      segments: [{ name: "shop", access: "public" }],
      unchecked: [],
      importers: [{ file: "src/main.ts", line: 2 }],
    });
  });

  it("lists arguments of callers from outside that aren't checked, and why", async () => {
    const app = createFixture({
      ...shop,
      "src/shop/note.js":
        "export async function note(text) {}\n/** @param {string} text */\nexport async function typed(text) {}\n",
      "src/shop/keep.ts":
        "export async function keep(lines: { more: unknown; any: any }[]): Promise<void> {}\nexport async function raw(value: Missing): Promise<void> {}\nexport async function hidden(value: any): Promise<void> {}\n",
      "more.segment.json": JSON.stringify({
        "./shop/note": { note: { access: "public" }, typed: { access: "public" } },
        "./shop/keep": {
          keep: { access: "protected", extra: "refuse" },
          raw: { access: "public", validate: false },
          hidden: { access: "private" },
        },
      }),
    });
    const { out } = await inspect(app);
    expect(out).toContain(`
arguments that aren't checked
  shop/keep  lines[].more (unknown), lines[].any (any)
  shop/note  text (no JSDoc)
  shop/raw   "validate": false
`);
    const { procedures } = await json<Inspection>(app);
    const found = (fqn: string) => procedures.find((procedure) => procedure.fqn === fqn);
    expect(found("shop/keep")).toMatchObject({
      segments: [{ extra: "refuse" }],
      unchecked: [
        { path: "lines[].more", reason: "unknown" },
        { path: "lines[].any", reason: "any" },
      ],
    });
    expect(found("shop/raw")).toMatchObject({
      segments: [{ validate: false }],
      unchecked: [{ path: "", reason: "validate" }],
    });
    expect(found("shop/hidden")?.unchecked).toEqual([]);
  });

  it("prints one line per segment for 2,000 procedures, within 80 columns", async () => {
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
      "seamline inspect --json lists the procedures of each segment",
    ]);
    expect(lines.length).toBeLessThan(20);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await json<Inspection>(app)).procedures).toHaveLength(2_003);
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

  it("exits with 2 for an unknown option", async () => {
    const { code, out, err } = await inspect(createFixture(shop), "--unknown");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("unknown option");
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
