// Mistakes in bundled packages: a build and a check report the same ones, with file and line.

import { existsSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { buildApplication } from "../../server/vite/build.ts";
import { checkApplication } from "../../server/report/check.ts";
import { type Problem, Problems, formatProblem } from "../../src/base/problem.ts";
import { type Files, createFixture } from "./_fixture.ts";
import { applicationFolder, installed, link, linked } from "./_workspace.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };
const run = {
  "src/run.ts": 'import { value } from "db";\nexport async function run() {\n  return value;\n}\n',
  "run.segment.json": '{ "./run": { "run": { "access": "public" } } }',
};
const typed = { exports: "./src/index.ts" };
const inner = "../../packages/db";
const decorator = "const logged = (value: any, ..._: any[]): any => value;\n";

async function said(files: Files): Promise<{ build: readonly string[]; check: readonly string[] }> {
  const app = createFixture({ ...run, ...files }, undefined, applicationFolder);
  if (existsSync(app.path("../../packages/db"))) link(app, "db");
  const told = (problems: readonly Problem[]) =>
    problems.map(({ frame: _, ...one }) => formatProblem(one).replaceAll(app.path("../.."), ""));
  const built = await buildApplication({ root: app.root, log }).then(
    ({ warnings }) => warnings,
    (error: unknown) => {
      if (error instanceof Problems) return error.problems;
      throw error;
    },
  );
  const { problems, warnings } = await checkApplication({ root: app.root, env: {}, log });
  return { build: told(built), check: told([...problems, ...warnings]) };
}

describe("mistakes in packages that are built for servers", () => {
  it.each<[string, Files, RegExp]>([
    [
      "an import of a file that isn't there",
      linked("db", typed, {
        "src/index.ts": '// first line\nimport { value } from "./gone.ts";\nexport { value };\n',
      }),
      /^\.\.\/\.\.\/packages\/db\/src\/index\.ts:2:23: "\.\/gone\.ts" isn't a file$/m,
    ],
    [
      "an import in a package of a package that isn't installed",
      {
        ...linked("db", typed, {
          "src/index.ts": 'export { value } from "./deep.ts";\n',
          "src/deep.ts": 'import { absent } from "absent";\nexport const value = absent;\n',
        }),
      },
      /^\.\.\/\.\.\/packages\/db\/src\/deep\.ts:1:24: the package "absent" is not installed here$/m,
    ],
    [
      "code that isn't TypeScript",
      linked("db", typed, { "src/index.ts": "export const value = 1;\nexport const = 2;\n" }),
      /^\.\.\/\.\.\/packages\/db\/src\/index\.ts:2:\d+: /m,
    ],
    [
      "an entry that isn't there",
      linked("db", { exports: "./dist/index.js" }, { "src/index.ts": "export const value = 1;\n" }),
      /^src\/run\.ts:1:23: the package "db" is installed, but has no file for this import$/m,
    ],
    [
      "a dependency with machine code that only the package has",
      {
        ...linked("db", typed, {
          "src/index.ts": 'import native from "native";\nexport const value = native;\n',
        }),
        ...installed(
          "native",
          { main: "index.js", gypfile: true },
          { "index.js": "export default 1;\n" },
          inner,
        ),
      },
      /^\.\.\/\.\.\/packages\/db\/src\/index\.ts:1:20: the package "native" holds machine code, which can't be bundled[\s\S]*npm install native/m,
    ],
    [
      "a decorator that nothing compiles",
      linked("db", typed, {
        "src/index.ts": `${decorator}export class Row {\n  @logged count(): number {\n    return 3;\n  }\n}\nexport const value = 1;\n`,
      }),
      /^\.\.\/\.\.\/packages\/db\/src\/index\.ts:3:3: Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them$/m,
    ],
    [
      "an accessor field deep in a package, in JavaScript",
      linked("db", typed, {
        "src/index.ts": 'export { value } from "./deep.js";\n',
        "src/deep.js":
          "class Row {\n  accessor count = 3;\n}\nexport const value = new Row().count;\n",
      }),
      /^\.\.\/\.\.\/packages\/db\/src\/deep\.js:2:3: Neither Node nor browsers can run decorators and `accessor` fields/m,
    ],
    [
      "a decorator in an installed package in TypeScript",
      installed("db", typed, {
        "src/index.ts": `${decorator}@logged class Row {}\nexport const value = new Row();\n`,
      }),
      /node_modules\/db\/src\/index\.ts:2:1: Neither Node nor browsers can run decorators and `accessor` fields/m,
    ],
    [
      "an accessor field in a package that only a page loads",
      {
        ...linked("db", typed, {
          "src/index.ts":
            "class Row {\n  accessor count = 3;\n}\nexport const value = new Row().count;\n",
        }),
        "src/run.ts": "export async function run() {\n  return 1;\n}\n",
        "src/main.ts": 'import { value } from "db";\ndocument.title = String(value);\n',
        "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>\n',
      },
      /^\.\.\/\.\.\/packages\/db\/src\/index\.ts:2:3: Neither Node nor browsers can run decorators and `accessor` fields/m,
    ],
  ])("a build and a check refuse %s", async (_, files, message) => {
    const { build, check } = await said(files);
    expect(build.join("\n")).toMatch(message);
    expect(check).toEqual(build);
  });

  it("a dependency with machine code isn't bundled if the application has installed it", async () => {
    const native = { main: "index.js", gypfile: true };
    const { build, check } = await said({
      ...linked("db", typed, {
        "src/index.ts": 'import native from "native";\nexport const value = native;\n',
      }),
      ...installed("native", native, { "index.js": "export default 1;\n" }),
    });
    expect([build, check]).toEqual([[], []]);
  });

  it("an optional require in a dependency isn't a mistake", async () => {
    const { build, check } = await said({
      ...linked("db", typed, {
        "src/index.ts": 'import old from "old";\nexport const value = old;\n',
      }),
      ...installed(
        "old",
        { type: "commonjs" },
        {
          "index.js":
            "let found;\ntry { found = require('absent'); } catch {}\nmodule.exports = found;\n",
        },
        inner,
      ),
    });
    expect([build, check]).toEqual([[], []]);
  });

  it("decorators are compiled as the package's tsconfig.json says", async () => {
    const { build, check } = await said(
      linked("db", typed, {
        "tsconfig.json": '{ "compilerOptions": { "experimentalDecorators": true } }',
        "src/index.ts": `${decorator}export class Row {\n  @logged count(): number {\n    return 3;\n  }\n}\nexport const value = 1;\n`,
      }),
    );
    expect([build, check]).toEqual([[], []]);
  });
});
