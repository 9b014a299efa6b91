// Modules that export `then`: whoever imports one dynamically, as the runtime does, waits for ever.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/build/check.ts";
import { formatProblem } from "../../src/problem.ts";
import { type Files, createFixture, shop } from "./_fixture.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };
const then = "export function then(): void {}\n";

describe("a module that exports `then`", () => {
  it.each<[string, Files, string]>([
    [
      "as a procedure",
      {
        "src/shop/stock.ts":
          "export async function then(sku: string): Promise<number> {\n  return sku.length;\n}\n",
        "src/shop/quote.ts":
          'import { then } from "./stock.ts";\nexport async function quote(): Promise<number> {\n  return await then("a");\n}\n',
        "shop.segment.json":
          '{ "./shop/stock": { "then": { "access": "public" } }, "./shop/quote": { "quote": { "access": "public" } } }',
      },
      "src/shop/stock.ts:1:8: ",
    ],
    [
      "beside a class that travels",
      { "src/shop/money.ts": `${shop["src/shop/money.ts"]}${then}` },
      "src/shop/money.ts:7:8: ",
    ],
    [
      "under another name, beside a class",
      {
        "src/shop/money.ts": `${shop["src/shop/money.ts"]}const next = 1;\nexport { next as then };\n`,
      },
      "src/shop/money.ts:8:10: ",
    ],
    [
      "of another module, beside a class",
      {
        "src/shop/money.ts": `${shop["src/shop/money.ts"]}export * from "./later.ts";\n`,
        "src/shop/later.ts": then,
      },
      "src/shop/later.ts:1:8: ",
    ],
    [
      "beside middleware",
      {
        "src/log.ts": `${then}export default { async handle(f: string, v: unknown, a: unknown, h: unknown, next: () => Promise<unknown>) { return await next(); } };\n`,
        "seamline.json":
          '{ "mode": "standalone", "url": "http://127.0.0.1:0", "middleware": ["./src/log.ts"] }',
      },
      "src/log.ts:1:8: ",
    ],
    [
      // A server that was built takes it; Vite's runner, in development, doesn't.
      "that a procedure imports",
      {
        "src/shop/later.ts": then,
        "src/shop/stock.ts":
          'import { then } from "./later.ts";\nexport async function stock(sku: string): Promise<number> {\n  then();\n  return sku.length;\n}\n',
      },
      "src/shop/later.ts:1:8: ",
    ],
    [
      "for client.import",
      {
        "src/later.ts": then,
        "src/main.ts":
          'import { startClient } from "seamline/client";\nconst client = await startClient("ui");\nawait client.import("./later");\n',
      },
      "src/later.ts:1:8: ",
    ],
  ])("%s is refused with file and line, by a build and by a check", async (_, files, place) => {
    const app = createFixture({ ...shop, ...files });
    const [problem, ...others] = await app.problems();
    expect(others).toEqual([]);
    expect(formatProblem(problem!)).toMatch(
      /^\S+ a module can't export `then`: `import\(\)` takes such a module for a promise, and waits for ever\n/,
    );
    expect(formatProblem(problem!).startsWith(place)).toBe(true);
    expect((await checkApplication({ root: app.root, env: {}, log })).problems).toEqual([problem]);
  });

  it("is fine in a page, where the browser alone imports it", async () => {
    const app = createFixture({
      ...shop,
      "src/later.ts": then,
      "src/main.ts": `import { then } from "./later.ts";\nthen();\n${shop["src/main.ts"]}`,
    });
    await app.build();
  });
});
