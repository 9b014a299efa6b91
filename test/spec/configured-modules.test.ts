// Middleware and health checks that a configuration names.

import { describe, expect, it } from "vitest";

import { Problems } from "../../src/base/problem.ts";
import type { Files } from "../build/_fixture.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const files: Files = {
  "src/greet.ts": "export async function greet(name: string) { return `Hello ${name}`; }\n",
  "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
  "src/loud.ts":
    "const mark: string = '!';\nexport default { async handle(fqn, version, args, headers, next: () => Promise<unknown>) { return `${await next()}${mark}`; } };\n",
  "src/twice.ts":
    "export default class { times = 2; async handle(fqn, version, args, headers, next) { return String(await next()).repeat(this.times); } }\n",
  "src/fine.ts":
    "export default class Fine { async isHealthy(): Promise<boolean> { return true; } }\n",
  "checks/ill.mjs": "export default { async isHealthy() { return false; } };\n",
};
const standalone = { mode: "standalone", url: anyPort };

async function started(config: object, more: Files = {}) {
  const application = applicationOf({
    ...files,
    ...more,
    "seamline.json": JSON.stringify({ ...standalone, ...config }),
  });
  await application.build();
  const imported: string[] = [];
  const importer = async (specifier: string) => {
    imported.push(specifier);
    return await application.importer(specifier);
  };
  const server = await start({ root: application.root, importer }, "seamline.json");
  const text = async (path: string): Promise<string> =>
    await (await fetch(`${server.url}${path}`)).text();
  return { text, imported, root: application.root };
}

async function problemsOf(config: object, more: Files = {}): Promise<readonly string[]> {
  const error: unknown = await started(config, more).then(
    () => new Error("it started"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problems)) throw error;
  return error.problems.map((problem) => `${problem.path}: ${problem.message}`);
}

describe("configured modules", () => {
  it("configured-1: `middleware` in a configuration is a list of modules, and the last one runs first", async () => {
    const { text } = await started({ middleware: ["./src/loud.ts", "./src/twice.ts"] });
    expect(await text("/rpc/greet?name=Ada")).toBe("Hello Ada!Hello Ada!");
    expect(
      await (
        await started({ middleware: ["./src/twice.ts", "./src/loud.ts"] })
      ).text("/rpc/greet?name=Ada"),
    ).toBe("Hello AdaHello Ada!");
  });

  it("configured-2: `healthChecks` in a configuration is an object of names and modules", async () => {
    const { text } = await started({
      healthChecks: { "the first": "./src/fine.ts", second: "./checks/ill.mjs" },
    });
    expect(JSON.parse(await text("/health"))).toEqual({ "the first": true, second: false });
    expect(await text("/health/status")).toBe("false");
  });

  it("configured-3: the default export of a configured module is an object, or a class that is constructed without arguments", async () => {
    const { text } = await started({
      middleware: ["./src/twice.ts"],
      healthChecks: { ill: "./checks/ill.mjs", fine: "./src/fine.ts" },
    });
    expect([await text("/rpc/greet?name=A"), await text("/health")]).toEqual([
      "Hello AHello A",
      '{"ill":false,"fine":true}',
    ]);
  });

  it("a repository has the build, and so its health checks may lie in the source folder (configured-4)", async () => {
    const { text } = await started({ mode: "repository", healthChecks: { fine: "./src/fine.ts" } });
    expect(await text("/health")).toBe('{"fine":true}');
  });

  it("a configured package in TypeScript is refused with an alternative that works", async () => {
    const more = {
      "node_modules/@acme/loud/package.json":
        '{ "name": "@acme/loud", "type": "module", "exports": "./index.ts" }',
      "node_modules/@acme/loud/index.ts": files["src/loud.ts"] ?? "",
      "src/from-acme.ts": 'export { default } from "@acme/loud";\n',
    };
    expect(await problemsOf({ middleware: ["@acme/loud"] }, more)).toEqual([
      "middleware[0]: '@acme/loud' is a package in TypeScript, which Node doesn't run",
    ]);
    const { text } = await started({ middleware: ["./src/from-acme.ts"] }, more);
    expect(await text("/rpc/greet?name=Ada")).toBe("Hello Ada!");
  });

  it("a service without the build's modules says which key is missing: the one that names a repository (configured-4)", async () => {
    const application = applicationOf({
      ...files,
      "gateway.json": JSON.stringify({
        mode: "gateway",
        url: anyPort,
        middleware: ["./src/loud.ts"],
      }),
    });
    const error: unknown = await start(application, "gateway.json").catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      problems: [
        {
          path: "middleware[0]",
          message:
            "'./src/loud.ts' is in the source folder, but this gateway has no modules of the build",
          hint: "Set 'repository' to the one that has them, or name a module outside the source folder",
        },
      ],
    });
  });

  it("everything that is wrong with configured modules is reported at start, with its key (configured-3)", async () => {
    const wrong = {
      "src/none.ts": "export const handle = async () => 1;\n",
      "src/arrow.ts": "export default async () => 1;\n",
      "src/throws.ts":
        "export default class { constructor() { throw new Error('no database'); } async isHealthy() { return true; } }\n",
      "src/broken.ts": "throw new Error('at its top level');\nexport default {};\n",
    };
    const config = {
      middleware: [
        "./src/none.ts",
        "./src/arrow.ts",
        "./src/loud.ts",
        "./src/missing.ts",
        "no-such-package",
      ],
      healthChecks: {
        database: "./src/throws.ts",
        other: "./src/broken.ts",
        third: "./src/loud.ts",
      },
    };
    expect(await problemsOf(config, wrong)).toEqual([
      "middleware[0]: './src/none.ts' has no default export with handle(…)",
      "middleware[1]: './src/arrow.ts' has no default export with handle(…)",
      "middleware[3]: './src/missing.ts' doesn't exist",
      expect.stringMatching(/^middleware\[4\]: 'no-such-package' can't be loaded: /),
      "healthChecks.database: './src/throws.ts' can't be constructed: src/throws.ts:1:46: Error: no database",
      "healthChecks.other: './src/broken.ts' can't be loaded: src/broken.ts:1:7: Error: at its top level",
      "healthChecks.third: './src/loud.ts' has no default export with isHealthy(…)",
    ]);
  });

  it("configured-4: the path of a configured module inside the source folder means its built module", async () => {
    const { text, imported } = await started({ middleware: ["./src/loud.ts"] });
    expect(await text("/rpc/greet?name=Ada")).toBe("Hello Ada!");
    expect(imported.filter((specifier) => specifier.endsWith("/loud.ts"))).toEqual([]);
    expect(imported.filter((specifier) => /^file:.*\/loud\.js$/.test(specifier))).toHaveLength(1);
  });

  it("the build reads a configuration that begins with a byte order mark (configured-4)", async () => {
    const application = applicationOf({
      ...files,
      "config/a.json": `\uFEFF${JSON.stringify({ ...standalone, middleware: ["./src/loud.ts"] })}`,
    });
    expect(Object.keys((await application.build()).manifest.modules)).toContain("loud");
  });

  it("configured-5: configured modules are imported through moduleImporter: built ones, files outside of the source folder, packages", async () => {
    const { imported } = await started(
      { middleware: ["layers"], healthChecks: { ill: "./checks/ill.mjs", fine: "./src/fine.ts" } },
      {
        "node_modules/layers/package.json":
          '{ "name": "layers", "type": "module", "exports": "./index.js" }',
        "node_modules/layers/index.js":
          "export default { async handle(fqn, version, args, headers, next) { return await next(); } };\n",
      },
    );
    expect(imported).toEqual(
      expect.arrayContaining([
        "layers",
        expect.stringMatching(/^file:.*\/checks\/ill\.mjs$/),
        expect.stringMatching(/\/fine\.js$/),
      ]),
    );
  });
});
