// Modules that throw while a node loads them: the report names the place, procedures and segment.

import { describe, expect, it } from "vitest";

import { develop, eventually, type Files, shop } from "./_session.ts";

const thrown = (file: string, text: string, at = ""): Files => ({
  ...shop,
  [file]: at + text + (shop[file] ?? "").slice(at.length),
});

describe("a module that throws while it is loaded", () => {
  // Vitest rewrites stacks, so test/process/throwing-modules.test.ts checks the lines.
  it.each<[string, Files, string, RegExp]>([
    [
      "the body of procedures",
      {
        ...shop,
        "src/shop/stock.ts": (shop["src/shop/stock.ts"] ?? "")
          .replace('";\n', '";\nconst rows: number = JSON.parse("{");\n')
          .replace("sku.length", "sku.length + rows"),
      },
      "store",
      /^src\/shop\/stock\.ts:\d+:\d+: SyntaxError: .*, while loading shop\/stock, shop\/worth \(segment store\)$/,
    ],
    [
      "a module below",
      thrown("src/shop/suppliers.ts", '\n  throw new RangeError("no room");\n'),
      "office",
      /^src\/shop\/suppliers\.ts:\d+:\d+: RangeError: no room, while loading shop\/counts, shop\/quote \(segment office\)$/,
    ],
    [
      "one that throws what is no error",
      thrown("src/shop/suppliers.ts", 'throw "no room";\n'),
      "office",
      /^src\/shop\/quote\.ts: 'no room' was thrown, while loading shop\/counts, shop\/quote \(segment office\)$/,
    ],
    [
      "the body of procedures, which imports a package that isn't installed",
      {
        ...shop,
        "src/shop/stock.ts": `import { absent } from "absent";\n${(shop["src/shop/stock.ts"] ?? "").replace("sku.length", "absent(sku)")}`,
      },
      "store",
      /^src\/shop\/stock\.ts:1:24: Cannot find package 'absent', while loading shop\/stock, shop\/worth \(segment store\)$/,
    ],
    [
      "a module below, which imports a package that isn't installed",
      thrown("src/shop/suppliers.ts", '\n  import { absent } from "absent"; absent();\n'),
      "office",
      /^src\/shop\/suppliers\.ts:2:26: Cannot find package 'absent', while loading shop\/counts, shop\/quote \(segment office\)$/,
    ],
    [
      "a module below, which imports a package that isn't installed, at once and dynamically",
      thrown("src/shop/suppliers.ts", '\n  await import("absent");\n'),
      "office",
      /^src\/shop\/suppliers\.ts:2:16: Cannot find package 'absent', while loading shop\/counts, shop\/quote \(segment office\)$/,
    ],
    [
      "a module below, which imports a file that isn't there",
      thrown("src/shop/suppliers.ts", '\n  import { absent } from "./absent.ts"; absent();\n'),
      "office",
      /^src\/shop\/suppliers\.ts:2:26: Cannot find module '\.\/absent\.ts', while loading shop\/counts, shop\/quote \(segment office\)$/,
    ],
  ])("%s", async (_, files, node, why) => {
    const { session, events } = await develop(files);
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.some(({ state }) => state === "failed"),
    );
    const failed = events.filter((event) => event.kind === "node" && event.state === "failed");
    expect(failed).toEqual([expect.objectContaining({ node })]);
    expect(failed[0]).toHaveProperty("why", expect.stringMatching(why));
  });

  it("a class module that throws while a node loads it is reported with its place", async () => {
    const { logged } = await develop({
      ...shop,
      "src/main.ts": 'import { startClient } from "seamline/client";\nawait startClient("ui");\n',
      "src/shop/quote.ts": (shop["src/shop/quote.ts"] ?? "")
        .replace("import { Money }", "import type { Money }")
        .replace("new Money(", "({ amount: 0 } as Money, "),
      "src/shop/money.ts": `throw new Error("no mint");\n${shop["src/shop/money.ts"]}`,
    });
    const found = await eventually(
      () => logged.join("\n"),
      (text) => text.includes("can't be loaded"),
    );
    expect(found).toMatch(
      /class 'shop\/Money' can't be loaded, so its instances are refused src\/shop\/money\.ts:\d+:\d+: Error: no mint/,
    );
  });
});
