// Loads the middleware and health checks that a configuration names.

import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

import type { HealthCheck } from "../../src/http/health.ts";
import { entryOf } from "../../src/base/manifest.ts";
import { type Middleware, nameMiddleware, signatureProblem } from "../../src/http/middleware.ts";
import { type ModuleNamespace, ModulesUnavailable } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { Config } from "../config/config.ts";
import type { ModuleImporter } from "./module-importer.ts";
import { shownError } from "./load-failure.ts";
import { slashed } from "../files/sources.ts";
import { moduleNameOf } from "./lack.ts";
import { errorLocation } from "./error-location.ts";

export interface ConfiguredModulesOptions {
  readonly root: string;
  /** The built modules; `undefined` for a gateway without a repository. */
  readonly modules: ServerModules | undefined;
  readonly moduleImporter: ModuleImporter;
}

/**
 * Imports the modules in `middleware` and `healthChecks`: each default export is an object, or a class without
 * constructor arguments.
 */
export async function configuredModules(
  config: Config,
  options: ConfiguredModulesOptions,
): Promise<{ middleware: Middleware[]; healthChecks: [string, HealthCheck][] }> {
  const middleware: Middleware[] = [];
  const problems: Problems[] = [];
  const collect = (error: unknown): undefined => {
    if (!(error instanceof Problems)) throw error;
    problems.push(error);
  };
  // Load them one after the other, as their order matters.
  for (const [index, specifier] of (config.middleware ?? []).entries()) {
    const instance = await loadConfigured(
      specifier,
      `middleware[${index}]`,
      "handle",
      config,
      options,
    ).catch(collect);
    if (instance === undefined) continue;
    const layer = instance as Middleware;
    nameMiddleware(
      layer,
      isAbsolute(specifier) ? slashed(relative(options.root, specifier)) : specifier,
    );
    middleware.push(layer);
  }
  const healthChecks: [string, HealthCheck][] = [];
  for (const [name, specifier] of Object.entries(config.healthChecks ?? {})) {
    const instance = await loadConfigured(
      specifier,
      `healthChecks.${name}`,
      "isHealthy",
      config,
      options,
    ).catch(collect);
    if (instance !== undefined) healthChecks.push([name, instance as HealthCheck]);
  }
  const [first] = problems;
  // A single problem keeps the stack of its cause.
  if (first !== undefined)
    throw problems.length === 1 ? first : new Problems(problems.flatMap((error) => error.problems));
  return { middleware, healthChecks };
}

async function loadConfigured(
  specifier: string,
  path: string,
  method: string,
  config: Config,
  options: ConfiguredModulesOptions,
): Promise<unknown> {
  const source = "source" in config ? config.source : `${options.root}/src`;
  const shown = isAbsolute(specifier)
    ? `./${slashed(relative(options.root, specifier))}`
    : specifier;
  const wrong = (message: string, hint: string, cause?: unknown): Problems =>
    Object.assign(
      new Problems([{ file: "configuration", path, message: `'${shown}' ${message}`, hint }]),
      { cause },
    );
  let namespace: ModuleNamespace;
  try {
    namespace = await importConfigured(specifier, source, options);
  } catch (error) {
    // The build's modules are unavailable, which isn't a mistake in the configuration.
    if (error instanceof ModulesUnavailable) throw error;
    // A problem in a built module has no code: that module exists.
    const { code } = error instanceof Problems ? {} : (error as NodeJS.ErrnoException);
    // For sources that aren't built, Node complains about the extension; for a missing file, it
    // names ours as the importer.
    const unbuilt = code === "ERR_UNKNOWN_FILE_EXTENSION";
    // Newer versions of Node run TypeScript, but not in packages.
    if (
      !isAbsolute(specifier) &&
      (unbuilt || code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
    )
      throw wrong(
        "is a package in TypeScript, which Node doesn't run",
        `Name a module of the source folder that exports it: export { default } from ${JSON.stringify(specifier)};`,
        error,
      );
    if (unbuilt && options.modules === undefined)
      throw wrong(
        `is in the source folder, but this ${config.mode} has no modules of the build`,
        "Set 'repository' to the one that has them, or name a module outside the source folder",
        error,
      );
    if (
      unbuilt ||
      (code === "ERR_MODULE_NOT_FOUND" && isAbsolute(specifier) && !existsSync(specifier))
    )
      throw wrong(
        unbuilt ? "isn't in the build" : "doesn't exist",
        "Name a package, or a path relative to the application folder. A module of the source folder must be in the build: run 'seamline build'",
        error,
      );
    if (
      code === "ERR_MODULE_NOT_FOUND" &&
      !isAbsolute(specifier) &&
      existsSync(join(options.root, specifier))
    )
      throw wrong("isn't a package", `Begin a path with './': './${specifier}'`, error);
    throw wrong(
      `can't be loaded: ${whereOf(error, options.root)}`,
      "Fix it, or remove it from the configuration",
      error,
    );
  }
  const exported = namespace["default"];
  let instance: unknown = exported;
  // A function that isn't a class falls through: it doesn't have such a method either.
  if (typeof exported === "function" && "prototype" in exported)
    try {
      instance = new (exported as new () => unknown)();
    } catch (error) {
      throw wrong(
        `can't be constructed: ${whereOf(error, options.root)}`,
        "Its class is constructed without arguments; an error there ends the start",
        error,
      );
    }
  if (typeof (instance as Record<string, unknown> | null | undefined)?.[method] !== "function")
    throw wrong(
      `has no default export with ${method}(…)`,
      `Its default export must be an object with ${method}(…), or a class without constructor arguments`,
    );
  const problem = method === "handle" ? signatureProblem(instance as Middleware) : undefined;
  if (problem !== undefined)
    throw wrong(
      `is another kind of middleware: ${problem}`,
      "Write async handle(fqn, version, args, headers, next), and return the result of next()",
    );
  return instance;
}

/** The place and text of a thrown error. */
function whereOf(thrown: unknown, root: string): string {
  // Problems of built modules name their location already.
  if (thrown instanceof Problems)
    return thrown.message.replace(/\n[^]*$/, "").replace(/, while loading .*/, "");
  const location = errorLocation(thrown);
  if (location === undefined) return shownError(thrown);
  const { file, line, column } = location;
  return `${slashed(relative(root, file))}:${line}:${column}: ${shownError(thrown)}`;
}

async function importConfigured(
  specifier: string,
  source: string,
  options: ConfiguredModulesOptions,
): Promise<ModuleNamespace> {
  if (!isAbsolute(specifier)) return await options.moduleImporter(specifier);
  const name = moduleNameOf(specifier, source);
  if (options.modules !== undefined && name !== undefined) {
    const manifest = await options.modules.manifest();
    const file = entryOf(manifest.modules, name)?.file;
    if (file !== undefined) return await options.modules.import(file);
  }
  return await options.moduleImporter(pathToFileURL(specifier).href);
}
