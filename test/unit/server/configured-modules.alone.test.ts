import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { configuredModules } from "../../../server/modules/configured-modules.ts";
import { compose } from "../../../src/http/middleware.ts";
import type { Call } from "../../../src/base/call.ts";
import type { ServerManifest } from "../../../src/base/manifest.ts";
import { ModulesUnavailable } from "../../../src/base/ports.ts";
import type { Problems } from "../../../src/base/problem.ts";

it("the log names the module of a configured middleware that is a plain object", async () => {
  const root = join(import.meta.dirname, "application");
  const { middleware } = await configuredModules(
    {
      mode: "gateway",
      url: "http://127.0.0.1:0",
      middleware: [join(root, "src", "log.ts")],
    } as unknown as Parameters<typeof configuredModules>[0],
    {
      root,
      modules: undefined,
      moduleImporter: async () => ({ default: { handle: async () => "nothing" } }),
    },
  );
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const run = compose(middleware, async () => "never", { info: note, warn: note, error: note });
  await expect(run({ fqn: "shop/stock" } as Call, new Map())).rejects.toThrow(
    "A middleware did not call next",
  );
  expect(lines).toEqual([
    "middleware src/log.ts did not call next() for shop/stock: every middleware must",
  ]);
});

it.each([
  [
    "nowhere.js",
    "ERR_MODULE_NOT_FOUND",
    "configuration at middleware[0]: './src/nowhere.js' doesn't exist",
    "run 'seamline build'",
  ],
  [
    "log.ts",
    "ERR_UNKNOWN_FILE_EXTENSION",
    "configuration at middleware[0]: './src/log.ts' is in the source folder, but this gateway has no modules of the build",
    "Set 'repository' to the one that has them",
  ],
])(
  "the error for a configured module that can't be loaded has its configured name and a hint: %s",
  async (file, code, message, wayOut) => {
    const root = join(import.meta.dirname, "application");
    const config = {
      mode: "gateway",
      url: "http://127.0.0.1:0",
      middleware: [join(root, "src", file)],
    };
    const moduleImporter = (): Promise<never> =>
      Promise.reject(Object.assign(new Error("imported from start.js"), { code }));
    const told = await configuredModules(
      config as unknown as Parameters<typeof configuredModules>[0],
      {
        root,
        modules: undefined,
        moduleImporter,
      },
    ).catch((error: Error) => error.message);
    expect(told).toContain(message);
    expect(told).toContain(wayOut);
    expect(told).not.toContain("start.js");
  },
);

it("a path without './' gets another error than a missing package", async () => {
  const config = {
    mode: "gateway",
    url: "http://127.0.0.1:0",
    middleware: ["test/unit/server/configured-modules.alone.test.ts", "nowhere"],
  };
  const moduleImporter = (specifier: string): Promise<never> =>
    Promise.reject(
      Object.assign(new Error(`Cannot find package '${specifier}'`), {
        code: "ERR_MODULE_NOT_FOUND",
      }),
    );
  const options = {
    root: join(import.meta.dirname, "../../.."),
    modules: undefined,
    moduleImporter,
  };
  const told = await configuredModules(
    config as unknown as Parameters<typeof configuredModules>[0],
    options,
  ).catch((error: Problems) => error.problems);
  expect(told).toMatchObject([
    {
      path: "middleware[0]",
      message: "'test/unit/server/configured-modules.alone.test.ts' isn't a package",
      hint: "Begin a path with './': './test/unit/server/configured-modules.alone.test.ts'",
    },
    { path: "middleware[1]", message: "'nowhere' can't be loaded: Cannot find package 'nowhere'" },
  ]);
});

/** The line of this file that throws an error with this message. */
function lineOf(message: string): number {
  const lines = readFileSync(import.meta.filename, "utf8").split("\n");
  return lines.findIndex((line) => line.includes(`throw new TypeError("${message}")`)) + 1;
}

it.each<[string, unknown, string]>([
  ["nothing", undefined, "has no default export with handle(…)"],
  ["null", null, "has no default export with handle(…)"],
  ["an object without it", { handler: () => 1 }, "has no default export with handle(…)"],
  ["a function", async () => 1, "has no default export with handle(…)"],
  ["a class without it", class Log {}, "has no default export with handle(…)"],
  [
    "a class that can't be made",
    class Log {
      constructor() {
        throw new TypeError("no file to write to");
      }
    },
    `can't be constructed: ../configured-modules.alone.test.ts:${lineOf("no file to write to")}:15: TypeError: no file to write to`,
  ],
])(
  "the error for a middleware whose default export is %s has the key and the module (middleware-1)",
  async (_, given, what) => {
    const root = join(import.meta.dirname, "application");
    const config = {
      mode: "gateway",
      url: "http://127.0.0.1:0",
      middleware: ["layers", join(root, "src", "log.ts")],
    };
    const moduleImporter = async (specifier: string) => ({
      default: specifier === "layers" ? { handle: async () => 1 } : given,
    });
    await expect(
      configuredModules(config as unknown as Parameters<typeof configuredModules>[0], {
        root,
        modules: undefined,
        moduleImporter,
      }),
    ).rejects.toThrow(`configuration at middleware[1]: './src/log.ts' ${what}\n  → `);
  },
);

it("an unreachable repository isn't reported as a mistake in the configuration", async () => {
  const root = join(import.meta.dirname, "application");
  const config = {
    mode: "gateway",
    url: "http://127.0.0.1:0",
    healthChecks: { disk: join(root, "src", "disk.ts") },
  };
  const away = new ModulesUnavailable(
    "The repository at http://files could not be reached for 60 s: it refused the connection. Start it",
  );
  const rejecting = async (): Promise<never> => await Promise.reject(away);
  const manifest = async () =>
    ({ modules: { disk: { file: "disk.js" } } }) as unknown as ServerManifest;
  for (const modules of [
    { manifest: rejecting, import: rejecting },
    { manifest, import: rejecting },
  ])
    await expect(
      configuredModules(config as unknown as Parameters<typeof configuredModules>[0], {
        root,
        modules,
        moduleImporter: rejecting,
      }),
    ).rejects.toBe(away);
});

it("a middleware of another framework is refused at the start, with the expected signature (middleware-1)", async () => {
  const root = join(import.meta.dirname, "application");
  const config = {
    mode: "gateway",
    url: "http://127.0.0.1:0",
    middleware: [join(root, "src", "log.ts")],
  };
  const koa = {
    handle: async (context: unknown, next: () => Promise<unknown>) => [context, await next()],
  };
  await expect(
    configuredModules(config as unknown as Parameters<typeof configuredModules>[0], {
      root,
      modules: undefined,
      moduleImporter: async () => ({ default: koa }),
    }),
  ).rejects.toThrow(
    "configuration at middleware[0]: './src/log.ts' is another kind of middleware: its handle takes (context, next), but must take (fqn, version, args, headers, next), or a rest parameter\n  → Write async handle(fqn, version, args, headers, next), and return the result of next()",
  );
});
