// A name that is imported and that the other module doesn't export: only a bundler refuses it, and until then the page is dead.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/build/check.ts";
import { formatProblem } from "../../src/problem.ts";
import { createFixture, type Files, shop } from "./_fixture.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };

async function checked(files: Files): Promise<readonly string[]> {
  const app = createFixture({ ...shop, ...files });
  return (await checkApplication({ root: app.root, env: {}, log })).problems.map(formatProblem);
}

const types =
  "export interface Price {\n  a: number;\n}\nexport type Sku = string;\nexport const one = 1;\n";
const heads = (texts: readonly string[]): string[] =>
  texts.map((text) => text.split("\n")[0] ?? "");
const main = (text: string): Files => ({ "src/main.ts": `${text}\n` });

describe("an import of a name that isn't exported", () => {
  it("fails a check, with its place and what to do", async () => {
    expect(
      await checked(
        main(
          'import { Money, Mony } from "./shop/money.ts";\ndocument.title = `${Mony} ${Money}`;',
        ),
      ),
    ).toEqual([
      [
        'src/main.ts:1:17: "./shop/money.ts" doesn\'t export "Mony"',
        '> 1 | import { Money, Mony } from "./shop/money.ts";',
        "    |                 ^",
        "  2 | document.title = `${Mony} ${Money}`;",
        '  → Did you mean "Money"?',
      ].join("\n"),
    ]);
  });

  it.each<[string, Files, readonly string[]]>([
    [
      "by default",
      main('import money from "./shop/money.ts";\ndocument.title = String(money);'),
      ['src/main.ts:1:8: "./shop/money.ts" has no default export'],
    ],
    [
      "of a module with procedures",
      main('import { quoet } from "./shop/quote.js";\nawait quoet();'),
      ['src/main.ts:1:10: "./shop/quote.js" doesn\'t export "quoet"'],
    ],
    [
      "under another name",
      main('import { gone as here } from "./shop/money.ts";\ndocument.title = String(here);'),
      ['src/main.ts:1:10: "./shop/money.ts" doesn\'t export "gone"'],
    ],
    [
      "by a name that is no word",
      main('import { "a (b" as here } from "./shop/money.ts";\ndocument.title = String(here);'),
      ['src/main.ts:1:10: "./shop/money.ts" doesn\'t export "a (b"'],
    ],
    [
      "in a module that only nodes load",
      {
        "src/shop/stock.ts":
          'import { gone } from "./money.ts";\nexport async function stock(): Promise<number> {\n  return gone;\n}\n',
      },
      ['src/shop/stock.ts:1:10: "./money.ts" doesn\'t export "gone"'],
    ],
    [
      "through a module that passes everything on",
      {
        ...main('import { gone } from "./all.ts";\ndocument.title = String(gone);'),
        "src/all.ts": 'export * from "./shop/money.ts";\nexport * from "./all.ts";\n',
      },
      ['src/main.ts:1:10: "./all.ts" doesn\'t export "gone"'],
    ],
    [
      "in a re-export, which is where the mistake is",
      {
        ...main('import { gone } from "./all.ts";\ndocument.title = String(gone);'),
        "src/all.ts": 'export { gone } from "./shop/money.ts";\n',
      },
      ['src/all.ts:1:10: "./shop/money.ts" doesn\'t export "gone"'],
    ],
    [
      "in JavaScript, used or not",
      {
        ...main('import "./plain.js";'),
        "src/plain.js": 'import { gone } from "./shop/money.ts";\n',
      },
      ['src/plain.js:1:10: "./shop/money.ts" doesn\'t export "gone"'],
    ],
  ])("is found %s", async (_, files, expected) => {
    expect(heads(await checked(files))).toEqual(expected);
  });

  it("is found where a type is passed on and nothing says that it is one, which the build refuses as well", async () => {
    const files = {
      ...main('import { one } from "./all.ts";\ndocument.title = String(one);'),
      "src/all.ts":
        'import { Sku } from "./types.ts";\nexport { one, Price } from "./types.ts";\nexport { Sku };\n',
      "src/types.ts": types,
    };
    const problems = await checked(files);
    expect(heads(problems)).toEqual([
      'src/all.ts:2:15: "./types.ts" doesn\'t export "Price"',
      'src/all.ts:3:10: "./types.ts" doesn\'t export "Sku"',
    ]);
    expect(problems[0]).toContain('→ If the type "Price" is meant, write "type" before it.');
    expect(await createFixture({ ...shop, ...files }).problems()).toHaveLength(2);
  });

  it("says where the name is declared", async () => {
    const files = {
      ...main('import { rate } from "./rate.ts";\ndocument.title = String(rate);'),
      "src/rate.ts": "const rate = 1;\nexport const twice = rate * 2;\n",
    };
    expect((await checked(files))[0]).toContain("→ Export it in src/rate.ts, which declares it.");
  });
});

describe("it isn't one", () => {
  it.each<[string, Files]>([
    [
      "where a name is used as a type only",
      {
        ...main(
          'import { one, Price, type Sku } from "./types.ts";\nconst price: Price = { a: one };\ndocument.title = `${price.a}` satisfies Sku;',
        ),
        "src/types.ts": types,
      },
    ],
    [
      "where a type is passed on",
      {
        ...main(
          'import { one, Price } from "./all.ts";\ndocument.title = String(one satisfies Price["a"]);',
        ),
        "src/all.ts":
          'import type { Sku } from "./types.ts";\nexport { one, type Price } from "./types.ts";\nexport type { Sku };\n',
        "src/types.ts": types,
      },
    ],
    [
      "where a package passes on what it likes",
      {
        ...main('import { deep } from "./all.ts";\ndocument.title = deep;'),
        "src/all.ts": 'export * from "pack";\n',
        "node_modules/pack/package.json":
          '{ "name": "pack", "type": "module", "exports": "./index.js" }',
        "node_modules/pack/index.js": 'export const deep = "deep";\n',
      },
    ],
    [
      "where a plugin makes something else of the file",
      main(
        'import text from "./shop/money.ts?raw";\nimport address from "./shop/money.ts?url";\ndocument.title = text + address;',
      ),
    ],
    [
      "where modules pass each other on",
      {
        ...main('import { one } from "./a.ts";\ndocument.title = String(one);'),
        "src/a.ts": 'export * from "./b.ts";\n',
        "src/b.ts": 'export * from "./a.ts";\nexport const one = 1;\n',
      },
    ],
    [
      "where what is exported is an enum, a namespace, a pattern or a default without a name",
      {
        ...main(
          'import made, { E, N, a, b, again } from "./kinds.ts";\nimport * as all from "./kinds.ts";\ndocument.title = `${made} ${E.x} ${N.y} ${a} ${b} ${again} ${all}`;',
        ),
        "src/kinds.ts":
          'export enum E { x }\nexport namespace N { export const y = 1; }\nexport const { a, c: [b] } = { a: 1, c: [2] };\nexport default 3;\nexport * as again from "./shop/money.ts";\n',
      },
    ],
  ])("%s", async (_, files) => {
    expect(await checked(files)).toEqual([]);
    await createFixture({ ...shop, ...files }).build();
  });
});
