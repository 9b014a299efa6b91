// Middleware and health checks that a configuration names (decisions §6, configured modules).

import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

import type { HealthCheck } from "../src/health.ts";
import { entryOf } from "../src/manifest.ts";
import { type Middleware, nameMiddleware, signatureProblem } from "../src/middleware.ts";
import { type ModuleNamespace, ModulesUnavailable } from "../src/ports.ts";
import { Problems } from "../src/problem.ts";
import type { ServerModules } from "../src/roles/load-node.ts";
import type { Config } from "./config.ts";
import { shownError } from "./load-failure.ts";
import { slashed } from "./sources.ts";
import { thrownPlace } from "./thrown-place.ts";

export interface ConfiguredModulesOptions {
  readonly root: string;
  /** Where the built modules are; a gateway that names no repository has none. */
  readonly modules: ServerModules | undefined;
  readonly moduleImporter: (specifier: string) => Promise<ModuleNamespace>;
}

/** Imports what `middleware` and `healthChecks` name: the default export is the object, or a class made without arguments. */
export async function configuredModules(
  config: Config,
  options: ConfiguredModulesOptions,
): Promise<{ middleware: Middleware[]; healthChecks: [string, HealthCheck][] }> {
  const middleware: Middleware[] = [];
  const problems: Problems[] = [];
  const tell = (error: unknown): undefined => {
    if (!(error instanceof Problems)) throw error;
    problems.push(error);
  };
  // One after the other, as their order matters (§4.8).
  for (const [index, specifier] of (config.middleware ?? []).entries()) {
    const made = await configured(
      specifier,
      `middleware[${index}]`,
      "handle",
      config,
      options,
    ).catch(tell);
    if (made === undefined) continue;
    const layer = made as Middleware;
    nameMiddleware(
      layer,
      isAbsolute(specifier) ? slashed(relative(options.root, specifier)) : specifier,
    );
    middleware.push(layer);
  }
  const healthChecks: [string, HealthCheck][] = [];
  for (const [name, specifier] of Object.entries(config.healthChecks ?? {})) {
    const made = await configured(
      specifier,
      `healthChecks.${name}`,
      "isHealthy",
      config,
      options,
    ).catch(tell);
    if (made !== undefined) healthChecks.push([name, made as HealthCheck]);
  }
  const [first] = problems;
  // With the stack of what went wrong in the module, if it is one.
  if (first !== undefined)
    throw problems.length === 1 ? first : new Problems(problems.flatMap((one) => one.problems));
  return { middleware, healthChecks };
}

async function configured(
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
    // Nothing is wrong with what the configuration names: the modules of the build can't be had.
    if (error instanceof ModulesUnavailable) throw error;
    // Of a built module it is known that it is there.
    const { code } = error instanceof Problems ? {} : (error as NodeJS.ErrnoException);
    // Sources that nobody built: Node would speak of a file's extension. Or the file isn't there, and the message would name our own one as the importer.
    const unbuilt = code === "ERR_UNKNOWN_FILE_EXTENSION";
    // Newer versions of Node run TypeScript, but not of what is installed.
    if (
      !isAbsolute(specifier) &&
      (unbuilt || code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
    )
      throw wrong(
        "is a package in TypeScript, which Node doesn't run",
        `Pass it on from a module of the source folder, and name that one: export { default } from ${JSON.stringify(specifier)};`,
        error,
      );
    if (unbuilt && options.modules === undefined)
      throw wrong(
        `is in the source folder, and this ${config.mode} has no modules of the build`,
        "Name the 'repository' that has them, or a module outside of the source folder",
        error,
      );
    if (
      unbuilt ||
      (code === "ERR_MODULE_NOT_FOUND" && isAbsolute(specifier) && !existsSync(specifier))
    )
      throw wrong(
        unbuilt ? "is not in the build" : "is not there",
        "Name a package, or a path relative to the application folder. One in the source folder has to be in the build: run 'seamline build'",
        error,
      );
    if (
      code === "ERR_MODULE_NOT_FOUND" &&
      !isAbsolute(specifier) &&
      existsSync(join(options.root, specifier))
    )
      throw wrong("is no package", `A path begins with './': './${specifier}'`, error);
    throw wrong(
      `can't be loaded: ${whereOf(error, options.root)}`,
      "Mend it, or take it out of the configuration",
      error,
    );
  }
  const given = namespace["default"];
  let made: unknown = given;
  // A function that is no class falls through: it has no method either.
  if (typeof given === "function" && "prototype" in given)
    try {
      made = new (given as new () => unknown)();
    } catch (error) {
      throw wrong(
        `can't be made: ${whereOf(error, options.root)}`,
        "Its class is constructed without arguments; what goes wrong there ends the start",
        error,
      );
    }
  if (typeof (made as Record<string, unknown> | null | undefined)?.[method] !== "function")
    throw wrong(
      `has no default export with ${method}(…)`,
      `Its default export must be an object with ${method}(…), or a class without constructor arguments`,
    );
  const problem = method === "handle" ? signatureProblem(made as Middleware) : undefined;
  if (problem !== undefined)
    throw wrong(
      `is a middleware of another kind: ${problem}`,
      "Write async handle(fqn, version, args, headers, next), and return what next() gives",
    );
  return made;
}

/** What was thrown, and where. */
function whereOf(thrown: unknown, root: string): string {
  // Built modules say it themselves.
  if (thrown instanceof Problems)
    return thrown.message.replace(/\n[^]*$/, "").replace(/, while loading .*/, "");
  const place = thrownPlace(thrown);
  return `${place === undefined ? "" : `${slashed(relative(root, place.file))}:${place.line}:${place.column}: `}${shownError(thrown)}`;
}

async function importConfigured(
  specifier: string,
  source: string,
  options: ConfiguredModulesOptions,
): Promise<ModuleNamespace> {
  if (!isAbsolute(specifier)) return await options.moduleImporter(specifier);
  const inside = slashed(relative(source, specifier));
  if (options.modules !== undefined && !inside.startsWith("..")) {
    const manifest = await options.modules.manifest();
    const file = entryOf(manifest.modules, inside.replace(/\.[cm]?[jt]sx?$/, ""))?.file;
    if (file !== undefined) return await options.modules.import(file);
  }
  return await options.moduleImporter(pathToFileURL(specifier).href);
}
