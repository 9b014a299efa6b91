import { describe, expect, it } from "vitest";

import { develop, eventually, shop } from "./_session.ts";

const list = [
  'export const patterns = Object.keys(import.meta.glob("./patterns/*.ts", { eager: true }));',
  "export const made = Math.random();",
  "",
].join("\n");

const application = {
  ...shop,
  "src/shop/list.ts": list,
  "src/shop/patterns/plain.ts": "export const name = 'plain';\n",
  "src/shop/stock.ts": [
    'import { made, patterns } from "./list.ts";',
    "let calls = 0;",
    "export async function stock(): Promise<number> {",
    "  const own = import.meta.glob('./patterns/*.md');",
    "  calls++;",
    "  return Object.keys(own).length;",
    "}",
    "export async function worth(): Promise<object> {",
    "  return { patterns, made, calls };",
    "}",
    "",
  ].join("\n"),
};

type Worth = {
  readonly patterns: readonly string[];
  readonly made: number;
  readonly calls: number;
};

describe("import.meta.glob on nodes", () => {
  it("import.meta.glob on nodes gains added files and loses removed ones", async () => {
    const { write, remove, get, nextEvent, events } = await develop(application);
    const worth = async () => (await get("/rpc/shop/worth")).value as Worth;
    expect((await worth()).patterns).toEqual(["./patterns/plain.ts"]);
    const since = events.length;
    write({ "src/shop/patterns/striped.ts": "export const name = 'striped';\n" });
    const both = await eventually(worth, ({ patterns }) => patterns.length === 2);
    expect(both.patterns).toEqual(["./patterns/plain.ts", "./patterns/striped.ts"]);
    expect(await nextEvent("reloaded", since)).toMatchObject({
      file: "src/shop/list.ts",
      where: ["store"],
    });
    expect(events.slice(since).filter(({ kind }) => kind === "reloaded")).toHaveLength(1);
    // Again soon after: by then Vite has dropped its code of the module.
    write({ "src/shop/patterns/dotted.ts": "export const name = 'dotted';\n" });
    expect((await eventually(worth, ({ patterns }) => patterns.length === 3)).patterns).toContain(
      "./patterns/dotted.ts",
    );
    remove("src/shop/patterns/plain.ts");
    const left = await eventually(worth, ({ patterns }) => patterns.length === 2);
    expect(left.patterns).toEqual(["./patterns/dotted.ts", "./patterns/striped.ts"]);
  });

  it("import.meta.glob in a body on nodes may match files that aren't modules", async () => {
    const { write, get } = await develop(application);
    const stock = async () => (await get("/rpc/shop/stock")).value;
    expect(await stock()).toBe(0);
    write({ "src/shop/patterns/notes.md": "# Notes\n" });
    expect(await eventually(stock, (value) => value === 1)).toBe(1);
  });

  it("a module whose import.meta.glob matches the same files isn't reloaded", async () => {
    const { write, get, edit, nextEvent } = await develop(application);
    const worth = async () => (await get("/rpc/shop/worth")).value as Worth;
    await get("/rpc/shop/stock");
    const before = await worth();
    write({ "src/shop/other.ts": "export const other = 1;\n", "src/shop/notes.md": "# Notes\n" });
    edit("src/shop/suppliers.ts", "* 10", "* 100");
    await nextEvent("reloaded");
    expect(await worth()).toEqual(before);
  });
});

describe("import.meta on nodes", () => {
  it("import.meta.resolve on nodes leads to a package from the module's own folder", async () => {
    const { get } = await develop({
      ...shop,
      "src/shop/stock.ts": [
        "export async function stock(): Promise<object> {",
        '  return { path: import.meta.resolve("paint"), main: import.meta.main };',
        "}",
        "export async function worth(): Promise<number> {",
        "  return 1;",
        "}",
        "",
      ].join("\n"),
      "src/shop/node_modules/paint/package.json": '{ "name": "paint", "main": "red.js" }',
      "src/shop/node_modules/paint/red.js": "",
    });
    const found = await eventually(
      async () => await get("/rpc/shop/stock"),
      ({ status }) => status !== 503,
    );
    expect(found.value).toEqual({
      path: expect.stringMatching(/^file:.*\/src\/shop\/node_modules\/paint\/red\.js$/),
      main: false,
    });
  });
});
