// Imports of names that the module doesn't export. Without a bundler nothing refuses them, and the
// page fails to load.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { formatProblem } from "../../src/base/problem.ts";
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
  it("a check refuses an import of a missing export, with its place and a hint", async () => {
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
      "as a default import",
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
      "by a name that isn't an identifier",
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
      "through a module with export *",
      {
        ...main('import { gone } from "./all.ts";\ndocument.title = String(gone);'),
        "src/all.ts": 'export * from "./shop/money.ts";\nexport * from "./all.ts";\n',
      },
      ['src/main.ts:1:10: "./all.ts" doesn\'t export "gone"'],
    ],
    [
      "in a re-export",
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
  ])("a check finds an import of a missing export %s", async (_, files, expected) => {
    expect(heads(await checked(files))).toEqual(expected);
  });

  it("a check and a build refuse a re-export of a type without `type`", async () => {
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

  it("the hint names the module that declares the name", async () => {
    const files = {
      ...main('import { rate } from "./rate.ts";\ndocument.title = String(rate);'),
      "src/rate.ts": "const rate = 1;\nexport const twice = rate * 2;\n",
    };
    expect((await checked(files))[0]).toContain("→ Export it in src/rate.ts, which declares it.");
  });
});

describe("an import that a check accepts", () => {
  it.each<[string, Files]>([
    [
      "of a name that is used as a type only",
      {
        ...main(
          'import { one, Price, type Sku } from "./types.ts";\nconst price: Price = { a: one };\ndocument.title = `${price.a}` satisfies Sku;',
        ),
        "src/types.ts": types,
      },
    ],
    [
      "of a type that is re-exported as one",
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
      "of a name that a package may export",
      {
        ...main('import { deep } from "./all.ts";\ndocument.title = deep;'),
        "src/all.ts": 'export * from "pack";\n',
        "node_modules/pack/package.json":
          '{ "name": "pack", "type": "module", "exports": "./index.js" }',
        "node_modules/pack/index.js": 'export const deep = "deep";\n',
      },
    ],
    [
      "of a file that a plugin turns into something else",
      main(
        'import text from "./shop/money.ts?raw";\nimport address from "./shop/money.ts?url";\ndocument.title = text + address;',
      ),
    ],
    [
      "through modules that re-export each other",
      {
        ...main('import { one } from "./a.ts";\ndocument.title = String(one);'),
        "src/a.ts": 'export * from "./b.ts";\n',
        "src/b.ts": 'export * from "./a.ts";\nexport const one = 1;\n',
      },
    ],
    [
      "of an enum, a namespace, a pattern and an anonymous default",
      {
        ...main(
          'import made, { E, N, a, b, again } from "./kinds.ts";\nimport * as all from "./kinds.ts";\ndocument.title = `${made} ${E.x} ${N.y} ${a} ${b} ${again} ${all}`;',
        ),
        "src/kinds.ts":
          'export enum E { x }\nexport namespace N { export const y = 1; }\nexport const { a, c: [b] } = { a: 1, c: [2] };\nexport default 3;\nexport * as again from "./shop/money.ts";\n',
      },
    ],
  ])("a check accepts an import %s", async (_, files) => {
    expect(await checked(files)).toEqual([]);
    await createFixture({ ...shop, ...files }).build();
  });
});
