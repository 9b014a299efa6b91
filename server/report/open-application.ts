// Reads an application as its build would, with Vite's configuration and resolver, without building
// it.

import { isBuiltin } from "node:module";
import { isAbsolute } from "node:path";

import type { Plugin } from "vite";

import type { Problem } from "../../src/base/problem.ts";
import type { Parse } from "../../src/split/write/split-module.ts";
import type { Application } from "../compile/cut/application.ts";
import { type BuildOptions, prepareBuild } from "../vite/build.ts";
import type { Side } from "../compile/cut/cut.ts";
import { environmentNames } from "../compile/read/module-ids.ts";
import { readTypesOf } from "../compile/write/argument-types.ts";
import type { TypesReading } from "../types/reading.ts";
import { pageBase } from "../compile/write/page-base.ts";
import { parserOf } from "../compile/read/load-vite.ts";
import { resolveForNode } from "../compile/plugin/resolve.ts";

export interface OpenApplication {
  readonly application: Application;
  readonly output: string;
  /** The path below which the application is. */
  readonly base: string;
  readonly parse: Parse;
  /**
   * Resolves an import as the build of that side does: to a file, a module of Node or an id of
   * Vite's; `undefined` if it can't be resolved.
   */
  readonly resolve: (
    side: Side,
    specifier: string,
    importer: string,
  ) => Promise<string | undefined>;
  /** Compiles a module with Vite's compiler alone, without the other plugins. */
  readonly compile: (file: string, source: string) => Promise<string>;
  /** Whether plugins of the application transform modules. */
  readonly hasOtherTransforms: boolean;
  /**
   * Resolves an import for nodes. `file` is a bundled file, or the specifier of a package that stays an
   * import; absent if the import can't be resolved.
   */
  readonly forNode: (
    specifier: string,
    importer: string,
  ) => Promise<{ readonly file?: string; readonly problem?: Problem }>;
  /** The mistakes in the tsconfig.json of these files, each once. */
  readonly tsconfigProblems: (files: Iterable<string>) => Promise<readonly Problem[]>;
  /** The types of parameters; undefined if no arguments are checked. */
  readonly readTypes: (
    options?: Parameters<typeof readTypesOf>[2],
  ) => Promise<TypesReading | undefined>;
  /** Whether plugins of the application resolve modules that Vite's own resolver doesn't find. */
  readonly hasOtherResolvers: boolean;
}

/** Reads an application. Mistakes in its sources are in `application.problems`. */
export async function openApplication(options: BuildOptions): Promise<OpenApplication> {
  const {
    vite,
    build: { reader },
    builder,
    output,
  } = await prepareBuild(options);
  const environments = {
    browser: builder.environments[environmentNames.browser],
    server: builder.environments[environmentNames.server],
  };
  const { browser } = environments;
  if (browser === undefined)
    throw new Error("Vite's configuration has no environment for browsers");
  const application = await reader.application(browser);
  const resolveId = vite.createIdResolver(builder.config);
  const resolve: OpenApplication["resolve"] = async (side, specifier, importer) => {
    const environment = environments[side];
    // The resolver throws if a package maps a path to nothing.
    const id =
      environment === undefined
        ? undefined
        : await resolveId(environment, specifier, importer).catch(() => undefined);
    if (id !== undefined && (isAbsolute(id) || !isBuiltin(specifier))) return id;
    return isBuiltin(specifier) ? (id ?? specifier) : undefined;
  };
  return {
    application,
    output,
    base: pageBase(builder.config),
    parse: parserOf(vite),
    async compile(file, source) {
      // Vite doesn't transform JavaScript.
      return /\.m?js$/.test(file)
        ? source
        : (await vite.transformWithOxc(source, file, undefined, undefined, builder.config)).code;
    },
    hasOtherTransforms: builder.config.plugins.some(
      (plugin) => !isKnown(plugin) && plugin.transform !== undefined,
    ),
    hasOtherResolvers: builder.config.plugins.some(
      (plugin) => !isKnown(plugin) && plugin.resolveId !== undefined,
    ),
    readTypes: async (how) => await readTypesOf(application, builder.config, how),
    tsconfigProblems: async (files) => await reader.tsconfigProblems(browser, files),
    resolve,
    async forNode(source, importer) {
      const id = await resolve("server", source, importer);
      if (id === undefined || environments.server === undefined) return {};
      if (source.startsWith(".")) return { file: id };
      const found = { id, external: !isAbsolute(id) };
      const { resolved, problem } = await resolveForNode(
        environments.server,
        { source, importer, found },
        reader,
      );
      return { file: resolved?.id ?? id, ...(problem !== undefined && { problem }) };
    },
  };
}

function isKnown({ name }: Plugin): boolean {
  return /^(?:vite:|builtin:|rolldown:|alias$|commonjs$|seamline)/.test(name);
}
