// Mistakes in tsconfig.json. Vite reads it for each module in TypeScript, but each mistake is one
// problem, with its file and the reason.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { createTestCluster } from "../../server/testing/index.ts";
import { type Problem, formatProblem, Problems } from "../../src/base/problem.ts";
import { develop, eventually } from "../dev/_session.ts";
import { createFixture, type Files, shop } from "./_fixture.ts";
import { applicationFolder, link, linked } from "./_workspace.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };
const told = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ frame: _, ...one }) => formatProblem(one));
const hint = "  → Vite reads it for every module in TypeScript, as the compiler does.";

describe("a tsconfig.json that can't be read", () => {
  it.each<[string, Files, string]>([
    [
      "that extends a file that isn't there",
      { "tsconfig.json": '{\n  "extends": "./nope.json"\n}\n' },
      `tsconfig.json:2:14: there is no tsconfig "./nope.json"`,
    ],
    [
      "that extends a package that isn't installed, among others",
      {
        "tsconfig.json": '{ "extends": ["./base.json", "@tsconfig/none/tsconfig.json"] }',
        "base.json": "{}",
      },
      `tsconfig.json:1:30: there is no tsconfig "@tsconfig/none/tsconfig.json"`,
    ],
    [
      "that extends one that extends a missing one",
      { "tsconfig.json": '{ "extends": "./base" }', "base.json": '{\n  "extends": "./gone"\n}\n' },
      `base.json:2:14: there is no tsconfig "./gone"`,
    ],
    [
      "that references a missing one",
      { "tsconfig.json": '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }' },
      `tsconfig.json:1:41: there is no tsconfig "./tsconfig.app.json"`,
    ],
    [
      "that is extended in a circle",
      {
        "tsconfig.json": '{ "extends": "./base.json" }',
        "base.json": '{ "extends": "./tsconfig.json" }',
      },
      "tsconfig.json: Circular reference detected in tsconfig 'extends'",
    ],
    [
      "that isn't JSON",
      { "tsconfig.json": '{\n  "compilerOptions": { "strict": tru }\n}\n' },
      "tsconfig.json:2:37: expected ident",
    ],
    [
      "of the source folder alone",
      { "tsconfig.json": "{}", "src/tsconfig.json": '{ "extends": "../gone.json" }' },
      `src/tsconfig.json:1:14: there is no tsconfig "../gone.json"`,
    ],
  ])(
    "a build, a check and the test kit report a tsconfig.json once: %s",
    async (_, files, message) => {
      const app = createFixture({ ...shop, ...files });
      const expected = [`${message}\n${hint}`];
      expect(told(await app.problems())).toEqual(expected);
      expect(told((await checkApplication({ root: app.root, env: {}, log })).problems)).toEqual(
        expected,
      );
      const error: unknown = await createTestCluster({ root: app.root }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error instanceof Problems ? told(error.problems) : error).toEqual(expected);
    },
  );

  it("a tsconfig.json may have comments and trailing commas", async () => {
    const app = createFixture({
      ...shop,
      "tsconfig.json": '// first\n{ "compilerOptions": { "strict": true, /* last */ }, }\n',
    });
    await app.build();
  });

  it("a mistake in the tsconfig.json of a linked package is reported the same way", async () => {
    const app = createFixture(
      {
        ...linked(
          "db",
          { exports: "./index.ts" },
          {
            "index.ts": 'export * from "./deep.ts";\n',
            "deep.ts": "export const value: number = 1;\n",
            "tsconfig.json": '{ "extends": "./gone.json" }',
          },
        ),
        "src/run.ts":
          'import { value } from "db";\nexport async function run() {\n  return value;\n}\n',
        "run.segment.json": '{ "./run": { "run": { "access": "public" } } }',
      },
      undefined,
      applicationFolder,
    );
    link(app, "db");
    const expected = [
      `../../packages/db/tsconfig.json:1:14: there is no tsconfig "./gone.json"\n${hint}`,
    ];
    expect(told(await app.problems())).toEqual(expected);
    expect(told((await checkApplication({ root: app.root, env: {}, log })).problems)).toEqual(
      expected,
    );
  });

  it("development reports a mistake in tsconfig.json once, without a backtrace, until it is fixed", async () => {
    const session = await develop({ ...shop, "tsconfig.json": '{ "extends": "./gone.json" }' });
    const { problems } = await session.nextEvent("problems");
    expect(told(problems)).toEqual([
      `tsconfig.json:1:14: there is no tsconfig "./gone.json"\n${hint}`,
    ]);
    expect(session.logged.join("\n")).not.toMatch(/backtrace|TSCONFIG_ERROR/i);
    session.write({ "gone.json": "{}" });
    await session.nextEvent("mended");
    expect(
      (
        await eventually(
          async () => await session.get("/rpc/shop/stock?sku=package.json"),
          ({ status }) => status === 200,
        )
      ).status,
    ).toBe(200);
  });
});
