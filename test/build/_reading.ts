// Reads an application as before a build, with an alias instead of Vite's resolver.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import * as vite from "vite";

import type { ApplicationCache } from "../../server/compile/read/application-cache.ts";
import type { Application } from "../../server/compile/cut/application.ts";
import { type ReadOptions, readApplication } from "../../server/compile/read-application.ts";
import { parserOf } from "../../server/compile/read/load-vite.ts";

export const parse = parserOf(vite);

/** Reads the application in `root`; `~/x` leads to the folder that its package.json names as `alias`. */
export async function readAt(
  root: string,
  options: Partial<ReadOptions> & { readonly cache?: ApplicationCache | undefined } = {},
): Promise<Application> {
  return await readApplication({
    root,
    source: join(root, "src"),
    except: [join(root, "dist")],
    pages: existsSync(join(root, "index.html")) ? [join(root, "index.html")] : [],
    inputs: [],
    bases: [root, join(root, "src")],
    parse,
    resolveImport: async (specifier) => {
      if (!specifier.startsWith("~/")) return undefined;
      const { alias } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
        alias: string;
      };
      const file = join(root, alias, specifier.slice(2));
      return [`${file}.ts`, join(file, "index.ts")].find((one) => existsSync(one));
    },
    ...options,
  });
}

/** A reading as plain data: equal readings give equal data. */
export function factsOf(application: Application): unknown {
  const {
    segments,
    procedures,
    guards,
    browserSegments,
    cut,
    browserModules,
    serverModules,
    serverEntries,
    imports,
    pageOnlyCalls,
    problems,
    warnings,
  } = application;
  return {
    ids: [...application.modules.ids],
    segments,
    procedures,
    guards: [...guards],
    browserSegments,
    cut: [...cut].map(([file, { module, procedures: here, parts, bodyOf }]) => ({
      file,
      module,
      here,
      parts,
      alone: here.map((one) => bodyOf(new Set([one.export]))),
    })),
    browserModules,
    serverModules: [...serverModules],
    serverEntries,
    imports,
    pageOnlyCalls,
    problems,
    warnings,
  };
}
