// Finds imports that Vite's development server accepts but a page or a build refuses, as
// `seamline check` does.

import { isBuiltin } from "node:module";

import type { DevEnvironment } from "vite";

import type { Problem } from "../../src/base/problem.ts";
import type { Application } from "../compile/cut/application.ts";
import { browserGraph, nodeProblems } from "../compile/rules/browser-graph.ts";
import { loadVite, parserOf, type Vite } from "../compile/read/load-vite.ts";
import { missingExports } from "../compile/rules/missing-exports.ts";

/** Returns the function that finds them in an application. Pages are served by `browser`. */
export function createImportJudge(
  root: string,
  browser: DevEnvironment,
): (application: Application) => Promise<readonly Problem[]> {
  let loading: Promise<Vite> | undefined;
  return async (application) => {
    const vite = await (loading ??= loadVite(root));
    const open = {
      application,
      parse: parserOf(vite),
      /** As for pages, with all plugins. Skips packages: each may have thousands of files. */
      async resolve(_: unknown, specifier: string, importer: string): Promise<string | undefined> {
        if (!isBuiltin(specifier) && !/^\.{1,2}\//.test(specifier)) return undefined;
        try {
          const found = await browser.pluginContainer.resolveId(specifier, importer);
          return found?.id ?? (isBuiltin(specifier) ? specifier : undefined);
        } catch {
          // If a plugin throws here, Vite shows that when a page requests the module. And while Vite
          // restarts, for a changed configuration, the new server judges.
          return undefined;
        }
      },
    };
    return [
      ...nodeProblems(await browserGraph(open), root),
      ...(await missingExports(application)),
    ];
  };
}
