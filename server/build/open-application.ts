// An application read as its build would read it, with Vite's configuration and resolver, and nothing built.

import { isBuiltin } from "node:module";
import { isAbsolute } from "node:path";

import type { Plugin } from "vite";

import type { Problem } from "../../src/problem.ts";
import type { Parse } from "../../src/split/split-module.ts";
import type { Application } from "./application.ts";
import { type BuildOptions, prepareBuild } from "./build.ts";
import type { Side } from "./cut.ts";
import { environmentNames } from "./environments.ts";
import { parserOf } from "./load-vite.ts";
import { resolveForNode } from "./resolve.ts";

export interface OpenApplication {
  readonly application: Application;
  readonly output: string;
  readonly parse: Parse;
  /** What an import leads to in the build of a side: a file, a module of Node, an id of Vite's; `undefined` if to nothing. */
  readonly resolve: (
    side: Side,
    specifier: string,
    importer: string,
  ) => Promise<string | undefined>;
  /** What Vite's compiler makes of a module; the other plugins of a build are left out. */
  readonly compile: (file: string, source: string) => Promise<string>;
  /** Whether plugins of the application's change modules before they are run. */
  readonly hasOtherTransforms: boolean;
  /** What an import leads to for nodes: a file that becomes a part of the build, or the name of what stays outside; neither if to nothing. */
  readonly forNode: (
    specifier: string,
    importer: string,
  ) => Promise<{ readonly file?: string; readonly problem?: Problem }>;
  /** See {@link Build.tsconfigProblems}. */
  readonly tsconfigProblems: (files: Iterable<string>) => Promise<readonly Problem[]>;
  /** Whether plugins of the application's find modules where Vite's own resolver, which is asked here, finds none. */
  readonly hasOtherResolvers: boolean;
}

/** Reads an application. What is wrong in its sources stands in `application.problems`. */
export async function openApplication(options: BuildOptions): Promise<OpenApplication> {
  const { vite, build, builder, output } = await prepareBuild(options);
  const environments = {
    browser: builder.environments[environmentNames.browser],
    server: builder.environments[environmentNames.server],
  };
  const { browser } = environments;
  if (browser === undefined)
    throw new Error("Vite's configuration has no environment for browsers");
  const application = await build.application(browser);
  const resolveId = vite.createIdResolver(builder.config);
  const resolve: OpenApplication["resolve"] = async (side, specifier, importer) => {
    const environment = environments[side];
    // A package that maps a path to nothing makes the resolver throw: no file either.
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
    parse: parserOf(vite),
    async compile(file, source) {
      // Vite leaves JavaScript as it is.
      return /\.m?js$/.test(file)
        ? source
        : (await vite.transformWithOxc(source, file, undefined, undefined, builder.config)).code;
    },
    hasOtherTransforms: builder.config.plugins.some(
      (one) => !isKnown(one) && one.transform !== undefined,
    ),
    hasOtherResolvers: builder.config.plugins.some(
      (one) => !isKnown(one) && one.resolveId !== undefined,
    ),
    tsconfigProblems: async (files) => await build.tsconfigProblems(browser, files),
    resolve,
    async forNode(source, importer) {
      const id = await resolve("server", source, importer);
      if (id === undefined || environments.server === undefined) return {};
      if (source.startsWith(".")) return { file: id };
      const found = { id, external: !isAbsolute(id) };
      const { resolved, problem } = await resolveForNode(
        environments.server,
        { source, importer, found },
        build,
      );
      return { file: resolved?.id ?? id, ...(problem !== undefined && { problem }) };
    },
  };
}

function isKnown({ name }: Plugin): boolean {
  return /^(?:vite:|builtin:|rolldown:|alias$|commonjs$|seamline)/.test(name);
}
