// Imports that only a page or a bundler refuses: modules that only Node has, and missing exports.
// They break the page that loads them, and Vite reports that in the page's console at most.

import { describe, expect, it } from "vitest";

import type { DevEvent } from "../../server/dev/session.ts";
import { develop, shop } from "./_session.ts";

const problemsOf = (event: DevEvent | undefined): readonly unknown[] =>
  event?.kind === "problems" ? event.problems : [];

describe("what a page can't import", () => {
  it("an import that pages can't have is reported until it is fixed, and everything keeps running", async () => {
    const { edit, get, nextEvent, events, session } = await develop(shop);
    edit("src/main.ts", "console.log(quote, Money);", "console.log(quote, Money, readFileSync);");
    edit(
      "src/main.ts",
      "import { Money }",
      'import { readFileSync } from "node:fs";\nimport { Money }',
    );
    const { problems, isLive } = await nextEvent("problems");
    expect(problems).toEqual([
      expect.objectContaining({
        file: "src/main.ts",
        line: 2,
        column: 30,
        message:
          '"node:fs" exists on Node only, but a browser would get it: index.html → src/main.ts → node:fs',
        frame: expect.stringContaining("> 2 | import { readFileSync }"),
      }),
    ]);
    expect(isLive).toBe(true);
    // Other edits are still live, and the problem is reported once.
    const since = events.length;
    edit("src/shop/suppliers.ts", "* 10", "* 20");
    await nextEvent("reloaded", since);
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 120 });
    await nextEvent("unsolved", since);
    expect(events.slice(since).map(({ kind }) => kind)).toEqual(["reloaded", "unsolved"]);
    expect(session.isRead).toBe(true);
    edit("src/main.ts", 'import { readFileSync } from "node:fs";\n', "");
    await nextEvent("mended", since);
  });

  it.each<[string, string, string, string, object]>([
    [
      "a module below a page's",
      "src/shop/money.ts",
      "export class",
      'import { join } from "path";\nexport const path = join;\nexport class',
      {
        file: "src/shop/money.ts",
        line: 1,
        message: expect.stringContaining("index.html → src/main.ts → src/shop/money.ts → path"),
      },
    ],
    [
      "a procedure that pages load",
      "src/ui/filter.ts",
      "return words",
      "void hostname;\n  return words",
      {
        file: "src/ui/filter.ts",
        line: 1,
        message: expect.stringContaining('"node:os" exists on Node only'),
      },
    ],
  ])("is found in %s", async (_, file, from, to, problem) => {
    const { edit, nextEvent, events } = await develop({
      ...shop,
      "src/ui/filter.ts": `import { hostname } from "node:os";\n${shop["src/ui/filter.ts"] ?? ""}`,
    });
    expect(events.filter(({ kind }) => kind === "problems")).toEqual([]);
    edit(file, from, to);
    expect((await nextEvent("problems")).problems).toEqual([expect.objectContaining(problem)]);
  });

  it("a file that an editor empties before it writes it is no mistake, and one that stays empty is", async () => {
    const { write, get, events, nextEvent } = await develop(shop);
    const money = shop["src/shop/money.ts"] ?? "";
    const since = events.length;
    write({ "src/shop/money.ts": "" });
    await new Promise((resolve) => setTimeout(resolve, 40));
    write({ "src/shop/money.ts": money.replace("amount;", "amount; // in cents") });
    await nextEvent("reloaded", since);
    expect(events.slice(since).map(({ kind }) => kind)).toEqual(["reloaded"]);
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(200);
    write({ "src/shop/money.ts": "" });
    expect((await nextEvent("problems", since)).problems).not.toEqual([]);
  });

  it("an import that pages can't have is reported at the start, and nodes start", async () => {
    const { get, events, nextEvent } = await develop({
      ...shop,
      "src/main.ts": `import { readFileSync } from "node:fs";\n${shop["src/main.ts"] ?? ""}console.log(readFileSync);\n`,
    });
    expect(problemsOf(events.find(({ kind }) => kind === "problems"))).toEqual([
      expect.objectContaining({ file: "src/main.ts", line: 1 }),
    ]);
    expect((await nextEvent("problems")).isLive).toBe(true);
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 60 });
  });

  it.each([
    ["Vite's configuration has an alias for it", 'resolve: { alias: { "node:fs": file } }'],
    [
      "a plugin resolves it",
      'plugins: [{ name: "x", enforce: "pre", resolveId: (id) => (id === "node:fs" ? file : undefined) }]',
    ],
  ])("a page's import of a Node module isn't reported if %s", async (_, config) => {
    const { get, events } = await develop({
      ...shop,
      "src/main.ts": `import { readFileSync } from "node:fs";\n${shop["src/main.ts"] ?? ""}console.log(readFileSync);\n`,
      "stand-in.js": "export const readFileSync = () => '';\n",
      "vite.config.js": `import { resolve } from "node:path";\nconst file = resolve(import.meta.dirname, "stand-in.js");\nexport default { ${config} };\n`,
    });
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 60 });
    expect(events.filter(({ kind }) => kind === "problems")).toEqual([]);
  });
});

describe("a name that isn't exported", () => {
  it("an import of a missing export is reported for pages", async () => {
    const { edit, nextEvent, get } = await develop(shop);
    edit("src/main.ts", "{ Money }", "{ Mony as Money }");
    const { problems, isLive } = await nextEvent("problems");
    expect(problems).toEqual([
      expect.objectContaining({
        file: "src/main.ts",
        line: 2,
        column: 10,
        message: '"./shop/money.ts" doesn\'t export "Mony"',
      }),
    ]);
    expect(isLive).toBe(true);
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 60 });
  });

  it("an import of a missing export is reported for nodes, even if the exporting module changed", async () => {
    const { edit, nextEvent, events } = await develop(shop);
    edit("src/shop/suppliers.ts", "costOf", "costFor");
    expect((await nextEvent("problems")).problems).toEqual([
      expect.objectContaining({
        file: "src/shop/quote.ts",
        line: 2,
        message: '"./suppliers.ts" doesn\'t export "costOf"',
        hint: 'Did you mean "costFor"?',
      }),
    ]);
    const since = events.length;
    edit("src/shop/suppliers.ts", "costFor", "costOf");
    await nextEvent("mended", since);
  });

  it("an import mistake is reported beside the application's problems, as long as it lasts", async () => {
    const { edit, nextEvent, events } = await develop(shop);
    edit("src/main.ts", "{ Money }", "{ Mony as Money }");
    expect((await nextEvent("problems")).problems).toHaveLength(1);
    let since = events.length;
    edit("segments/office.segment.json", "{", "");
    expect((await nextEvent("problems", since)).isLive).toBeUndefined();
    since = events.length;
    edit("segments/office.segment.json", '"./shop', '{ "./shop');
    expect((await nextEvent("problems", since)).problems).toEqual([
      expect.objectContaining({ file: "src/main.ts" }),
    ]);
    expect(events.map(({ kind }) => kind)).not.toContain("mended");
  });
});
