// Modules that export `then`: a dynamic import of one, which the runtime uses, never resolves.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { formatProblem } from "../../src/base/problem.ts";
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
      "next to a class that is sent",
      { "src/shop/money.ts": `${shop["src/shop/money.ts"]}${then}` },
      "src/shop/money.ts:7:8: ",
    ],
    [
      "under another name, next to a class",
      {
        "src/shop/money.ts": `${shop["src/shop/money.ts"]}const next = 1;\nexport { next as then };\n`,
      },
      "src/shop/money.ts:8:10: ",
    ],
    [
      "of another module, next to a class",
      {
        "src/shop/money.ts": `${shop["src/shop/money.ts"]}export * from "./later.ts";\n`,
        "src/shop/later.ts": then,
      },
      "src/shop/later.ts:1:8: ",
    ],
    [
      "next to middleware",
      {
        "src/log.ts": `${then}export default { async handle(f: string, v: unknown, a: unknown, h: unknown, next: () => Promise<unknown>) { return await next(); } };\n`,
        "seamline.json":
          '{ "mode": "standalone", "url": "http://127.0.0.1:0", "middleware": ["./src/log.ts"] }',
      },
      "src/log.ts:1:8: ",
    ],
    [
      // A built server could load it, but Vite's runner in development couldn't.
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
  ])(
    "a build and a check refuse an export named then, with file and line: %s",
    async (_, files, place) => {
      const app = createFixture({ ...shop, ...files });
      const [problem, ...others] = await app.problems();
      expect(others).toEqual([]);
      expect(formatProblem(problem!)).toMatch(
        /^\S+ a module can't export `then`: `import\(\)` takes such a module for a promise, and waits forever\n/,
      );
      expect(formatProblem(problem!).startsWith(place)).toBe(true);
      expect((await checkApplication({ root: app.root, env: {}, log })).problems).toEqual([
        problem,
      ]);
    },
  );

  it("an export named then is fine in a module that only pages import", async () => {
    const app = createFixture({
      ...shop,
      "src/later.ts": then,
      "src/main.ts": `import { then } from "./later.ts";\nthen();\n${shop["src/main.ts"]}`,
    });
    await app.build();
  });
});
