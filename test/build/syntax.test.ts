// Decorators and `accessor` fields. Vite compiles them if tsconfig.json has
// `experimentalDecorators`; a plugin may, too.

import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { formatProblem } from "../../src/base/problem.ts";
import { type Files, type Fixture, createFixture, shop } from "./_fixture.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };
const check = async (app: Fixture) => await checkApplication({ root: app.root, env: {}, log });

const logged = "const logged = (value: any, ..._: any[]): any => value;\n";
const decorated: Files = {
  "src/shop/money.ts":
    "// @logged accessor\nexport class Money {\n  static accessor made = 0;\n  readonly amount: number;\n  constructor(amount: number) {\n    this.amount = amount;\n  }\n}\n",
  "src/shop/stock.ts": `${logged}class Shelf {\n  @logged count(): number {\n    return 3;\n  }\n}\nexport async function stock(): Promise<number> {\n  return new Shelf().count();\n}\n`,
};
const legacy = { "tsconfig.json": '{ "compilerOptions": { "experimentalDecorators": true } }' };
const told = [
  "src/shop/money.ts:3:3: Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
  "src/shop/stock.ts:3:3: Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
];
const heads = (problems: Parameters<typeof formatProblem>[0][]): string[] =>
  problems.map((one) => formatProblem(one).split("\n")[0] ?? "").sort();

describe("syntax that neither Node nor browsers run", () => {
  it("a build refuses decorators and accessor fields, with file and line", async () => {
    const problems = await createFixture({ ...shop, ...decorated }).problems();
    expect(heads([...problems])).toEqual(told);
    for (const { frame, hint } of problems)
      expect([frame, hint]).toEqual([
        expect.stringContaining(">"),
        expect.stringContaining("experimentalDecorators"),
      ]);
  });

  it("a check refuses decorators and accessor fields", async () => {
    const app = createFixture({ ...shop, ...decorated });
    expect(heads([...(await check(app)).problems])).toEqual(told);
  });

  it("a build refuses decorators in a class of a page, and in JavaScript", async () => {
    const problems = await createFixture({
      ...shop,
      "src/main.ts": `import "./page.js";\n${shop["src/main.ts"]}`,
      "src/page.js": "export class Page {\n  accessor open = true;\n}\nconsole.log(new Page());\n",
    }).problems();
    expect(heads([...problems])).toEqual([
      "src/page.js:2:3: Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
    ]);
  });

  it("decorators are compiled if tsconfig.json has experimentalDecorators", async () => {
    const app = createFixture({ ...shop, ...decorated, ...legacy });
    expect((await check(app)).problems).toEqual([]);
    await app.build();
    const { Money } = (await import(
      pathToFileURL(app.path("dist/server/modules/shop/money.js")).href
    )) as { Money: { made: number } };
    Money.made++;
    expect(Money.made).toBe(1);
    const { stock } = (await import(
      pathToFileURL(app.path("dist/server/modules/shop/stock~body.js")).href
    )) as {
      stock: () => Promise<number>;
    };
    expect(await stock()).toBe(3);
  });

  it("if a plugin compiles decorators, a build accepts them, and a check, which runs no plugins, warns", async () => {
    const plugin = `{ name: "decorators", transform: (code) => code.replace("@logged", "").replace("accessor ", "") }`;
    const app = createFixture({
      ...shop,
      ...decorated,
      "vite.config.js": `export default { plugins: [${plugin}] };`,
    });
    await app.build();
    const checked = await check(app);
    expect(checked.problems).toEqual([]);
    expect(checked.warnings.map((one) => one.file)).toEqual([
      "src/shop/money.ts",
      "src/shop/stock.ts",
    ]);
  });

  it("a build accepts the same characters where they aren't decorators or accessor fields", async () => {
    const app = createFixture({
      ...shop,
      "src/shop/stock.ts":
        'abstract class A { abstract accessor x: number; accessor = "@logged"; }\nexport async function stock(): Promise<string> {\n  /* @logged */ const accessor = { accessor: A.name };\n  return accessor.accessor;\n}\n',
    });
    expect((await check(app)).problems).toEqual([]);
    await app.build();
  });
});
