import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ApplicationCache } from "../../server/compile/read/application-cache.ts";
import { createFixture, shop } from "./_fixture.ts";
import { factsOf, parse, readAt } from "./_reading.ts";

const modules = [
  "src/a.ts",
  "src/b.ts",
  "src/c/index.ts",
  "src/c.ts",
  "src/c/d.tsx",
  "src/lib/e.js",
];
const specifiers = [
  "./a",
  "./a.ts",
  "./b.js",
  "./c",
  "./c/index.ts",
  "./c/d",
  "../a",
  "../b",
  "./d",
  "../lib/e",
  "~/a",
  "~/c",
  "pack",
  "./gone",
];
const names = ["f", "g", "h", "default"];

const one = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Statements whose mixture may or may not make sense, like the states of a file during edits. */
const statement: fc.Arbitrary<string> = fc.oneof(
  fc
    .record({
      name: one("f", "g", "h"),
      parameters: one("", "a: string", "{ b, c = 1 }: P", "n: number = 2", "version", "...x: P[]"),
    })
    .map(
      ({ name, parameters }) =>
        `export async function ${name}(${parameters}): Promise<unknown> {\n  return state.size;\n}`,
    ),
  one(
    "export const state = new Map<string, number>();",
    "const state = { size: 1 };",
    "state.size++;",
    "export function f(): void {}",
    "export default async () => helper();",
    "export class Money extends Error {\n  constructor(readonly amount: number) { super(); }\n}",
    "async function helper(): Promise<void> {}",
    "import { startClient } from 'seamline/client';\nawait startClient('one');",
    "import { startClient } from 'seamline/client';\nawait startClient(which());",
    "declare const client: any;\nawait client.import('./b.js');",
    "export async function* h(): AsyncGenerator<number> { yield 1; }",
    "const = ;",
    "import './c/d.css';",
  ),
  fc
    .record({ from: one(...specifiers), name: one(...names), type: one("", "type ") })
    .map(
      ({ from, name, type }) =>
        `import ${type}{ ${name} as ${name}In } from '${from}';\nexport const used = [${type === "" ? `${name}In` : ""}];`,
    ),
  fc
    .record({ from: one(...specifiers), name: one(...names) })
    .map(({ from, name }) => `export { ${name} } from '${from}';`),
  one(...specifiers).map((from) => `export * from '${from}';`),
  one(...specifiers).map((from) => `export async function g() { return await import('${from}'); }`),
);

const entry = fc.record(
  {
    access: one("public", "private", "protected", "publik"),
    version: one("1", "1.0", "x"),
    as: one("f", "other"),
  },
  { requiredKeys: ["access"] },
);
const segment = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .dictionary(
        one("./a", "./b.js", "./c", "./c/d", "./lib/e"),
        fc.dictionary(one(...names), entry, { maxKeys: 3 }),
        { maxKeys: 3 },
      )
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: one("{", "[]") },
);
const page = fc
  .array(
    one(
      '<script type="module" src="./src/a.ts"></script>',
      '<script type="module" src="/c/d.tsx"></script>',
      "<script type=module>import { f } from './src/b.ts';</script>",
      "<script type=module>const = 1</script>",
    ),
    { maxLength: 2 },
  )
  .map((scripts) => `<!doctype html>\n${scripts.join("\n")}`);

interface Edit {
  readonly file: string;
  /** `undefined` removes it. */
  readonly text: string | undefined;
}

const change = (file: fc.Arbitrary<string>, text: fc.Arbitrary<string>): fc.Arbitrary<Edit> =>
  fc.record({
    file,
    text: fc.oneof(
      { weight: 7, arbitrary: text },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  });

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 8,
    arbitrary: change(
      one(...modules),
      fc.array(statement, { maxLength: 4 }).map((lines) => `${lines.join("\n")}\n`),
    ),
  },
  { weight: 4, arbitrary: change(one("one.segment.json", "src/two.segment.json"), segment) },
  { weight: 1, arbitrary: change(one("index.html", "src/other.html"), page) },
  {
    weight: 1,
    arbitrary: change(
      one("gateway.json", "configs/node.json"),
      one('{ "mode": "gateway", "middleware": ["./src/b.ts"] }', "{}", "{"),
    ),
  },
  {
    weight: 1,
    arbitrary: one("./src", "./src/c").map((alias) => ({
      file: "package.json",
      text: JSON.stringify({ name: "x", alias }),
    })),
  },
  { weight: 1, arbitrary: one("src/c", "src/lib").map((file) => ({ file, text: undefined })) },
);

const start: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "x", "alias": "./src" }',
  "src/a.ts":
    "import { g } from './b.js';\nexport async function f(a: string): Promise<unknown> {\n  return g(a);\n}\n",
  "src/b.ts":
    "const state = new Map();\nexport async function g(b: string): Promise<unknown> {\n  return state.get(b);\n}\n",
  "src/lib/e.js": "export { f } from '../a';\n",
  "one.segment.json": '{ "./a": { "f": { "access": "public" } } }',
  "src/two.segment.json": '{ "./b": { "g": { "access": "private" } } }',
  "index.html": "<!doctype html>\n<script type=module>import { f } from './src/a.ts';</script>",
};

describe("an application that is read again", () => {
  it("a second reading equals a first one after any edits, additions and removals", async () => {
    let [read, broken, cutModules] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
        async (rounds) => {
          let remove = (): void => {};
          const { root } = createFixture(start, (end) => (remove = end));
          try {
            const cache = new ApplicationCache();
            await readAt(root, { cache });
            for (const edits of rounds) {
              for (const { file, text } of edits) {
                const path = join(root, file);
                if (text === undefined) rmSync(path, { recursive: true, force: true });
                else {
                  mkdirSync(dirname(path), { recursive: true });
                  writeFileSync(path, text);
                }
                cache.changed(path);
              }
              const [warm, cold] = [await readAt(root, { cache }), await readAt(root)];
              expect(factsOf(warm)).toEqual(factsOf(cold));
              read++;
              if (cold.problems.length > 0) broken++;
              cutModules += cold.cut.size;
            }
          } finally {
            remove();
          }
        },
      ),
      { numRuns: 60 },
    );
    // Some of the edits must lead to a valid application.
    expect(broken).toBeLessThan(read * 0.9);
    expect(cutModules).toBeGreaterThan(read / 4);
  }, 120_000);

  it("a second reading parses only the files reported as changed", async () => {
    const app = createFixture(shop);
    const cache = new ApplicationCache();
    const parsed: string[] = [];
    const read = async () =>
      await readAt(app.root, {
        cache,
        parse: (file, source) => {
          parsed.push(file);
          return parse(file, source);
        },
      });
    const first = await read();
    expect(new Set(parsed)).toEqual(new Set([...first.modules.ids].map((id) => `src/${id}.ts`)));

    parsed.length = 0;
    expect(factsOf(await read())).toEqual(factsOf(first));
    expect(parsed).toEqual([]);

    app.write({
      "src/shop/stock.ts":
        "export async function stock(sku: string): Promise<number> {\n  return sku.length;\n}\n",
    });
    // The change wasn't reported.
    expect(factsOf(await read())).toEqual(factsOf(first));
    cache.changed(app.path("src/shop/stock.ts"));
    const after = await read();
    expect(new Set(parsed)).toEqual(new Set(["src/shop/stock.ts"]));
    expect(after.cut.get(app.path("src/shop/stock.ts"))?.parts.server.body?.code).toContain(
      "sku.length",
    );
    // Unchanged parts are the same objects, so readings can be compared cheaply.
    const quote = app.path("src/shop/quote.ts");
    expect(after.cut.get(quote)?.parts.server).toBe(first.cut.get(quote)?.parts.server);
    expect(after.cut.get(quote)?.parts.browser).toBe(first.cut.get(quote)?.parts.browser);
    expect(after.modules.byFile(quote)).toBe(first.modules.byFile(quote));
  });

  it("a reading parses a module once to describe and split it", async () => {
    const app = createFixture(shop);
    const parsed: string[] = [];
    const { modules, cut } = await readAt(app.root, {
      parse: (file, source) => {
        parsed.push(source);
        return parse(file, source);
      },
    });
    expect(cut.size).toBeGreaterThan(0);
    for (const file of cut.keys())
      expect(parsed.filter((source) => source === modules.text(file))).toHaveLength(1);
  });

  it("a second reading splits only modules whose segment entries changed", async () => {
    const app = createFixture(shop);
    const cache = new ApplicationCache();
    const first = await readAt(app.root, { cache });
    app.write({
      "shop.segment.json":
        '{ "./shop/quote.js": { "quote": { "access": "public", "version": "2" } }, "./shop/stock": { "stock": { "access": "public" } } }',
    });
    cache.changed(app.path("shop.segment.json"));
    const after = await readAt(app.root, { cache });
    const server = (application: typeof first, name: string) =>
      application.cut.get(app.path(name))?.parts.server;
    expect(server(after, "src/shop/stock.ts")).toBe(server(first, "src/shop/stock.ts"));
    expect(server(after, "src/shop/quote.ts")).not.toBe(server(first, "src/shop/quote.ts"));
  });

  it("a reading that fails because a folder disappears while it is listed loses no change", async () => {
    const { root } = createFixture(shop);
    const cache = new ApplicationCache();
    await readAt(root, { cache });
    const [added, brief] = [join(root, "src/shop/added.ts"), join(root, "src/shop/brief")];
    writeFileSync(added, "export const added = 1;\n");
    mkdirSync(brief);
    for (const path of [added, brief]) cache.changed(path);
    const except = [join(root, "dist")];
    const includes = except.includes.bind(except);
    // Asked between the listing of its parent and its own.
    except.includes = (path) => {
      if (path === brief) rmSync(brief, { recursive: true, force: true });
      return includes(path);
    };
    await expect(readAt(root, { cache, except })).rejects.toThrow(/ENOENT/);
    cache.changed(brief);
    const { modules } = await readAt(root, { cache, except });
    expect([...modules.ids]).toContain("shop/added");
  });

  it("concurrent readings run one after another", async () => {
    const app = createFixture(shop);
    const cache = new ApplicationCache();
    const before = readAt(app.root, { cache });
    app.write({ "src/shop/extra.ts": "export const extra = 1;\n" });
    cache.changed(app.path("src/shop/extra.ts"));
    const [, after] = await Promise.all([before, readAt(app.root, { cache })]);
    expect([...after.modules.ids]).toContain("shop/extra");
  });
});
