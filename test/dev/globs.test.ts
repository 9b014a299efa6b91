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
  it("names a file that is new, and one that is gone no more", async () => {
    const { write, remove, get, told, events } = await develop(application);
    const worth = async () => (await get("/rpc/shop/worth")).value as Worth;
    expect((await worth()).patterns).toEqual(["./patterns/plain.ts"]);
    const since = events.length;
    write({ "src/shop/patterns/striped.ts": "export const name = 'striped';\n" });
    const both = await eventually(worth, ({ patterns }) => patterns.length === 2);
    expect(both.patterns).toEqual(["./patterns/plain.ts", "./patterns/striped.ts"]);
    expect(await told("reloaded", since)).toMatchObject({
      file: "src/shop/list.ts",
      where: ["store"],
    });
    expect(events.slice(since).filter(({ kind }) => kind === "reloaded")).toHaveLength(1);
    // Once more, soon after: Vite has thrown away by then what it had made of the module before.
    write({ "src/shop/patterns/dotted.ts": "export const name = 'dotted';\n" });
    expect((await eventually(worth, ({ patterns }) => patterns.length === 3)).patterns).toContain(
      "./patterns/dotted.ts",
    );
    remove("src/shop/patterns/plain.ts");
    const left = await eventually(worth, ({ patterns }) => patterns.length === 2);
    expect(left.patterns).toEqual(["./patterns/dotted.ts", "./patterns/striped.ts"]);
  });

  it("names files that are no modules, in a body of its own", async () => {
    const { write, get } = await develop(application);
    const stock = async () => (await get("/rpc/shop/stock")).value;
    expect(await stock()).toBe(0);
    write({ "src/shop/patterns/notes.md": "# Notes\n" });
    expect(await eventually(stock, (value) => value === 1)).toBe(1);
  });

  it("leaves a module alone whose files are the same as before", async () => {
    const { write, get, edit, told } = await develop(application);
    const worth = async () => (await get("/rpc/shop/worth")).value as Worth;
    await get("/rpc/shop/stock");
    const before = await worth();
    write({ "src/shop/other.ts": "export const other = 1;\n", "src/shop/notes.md": "# Notes\n" });
    edit("src/shop/suppliers.ts", "* 10", "* 100");
    await told("reloaded");
    expect(await worth()).toEqual(before);
  });
});
