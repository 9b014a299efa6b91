// Imports that Vite's development server takes, and a page or a build refuses: found as `seamline check` finds them.

import { isBuiltin } from "node:module";

import type { DevEnvironment } from "vite";

import type { Problem } from "../../src/problem.ts";
import type { Application } from "../build/application.ts";
import { browserGraph, nodeProblems } from "../build/browser-graph.ts";
import { loadVite, parserOf, type Vite } from "../build/load-vite.ts";
import { missingExports } from "../build/missing-exports.ts";

/** Gives what finds them in an application, as often as it changes. `root` is its folder, `browser` what pages are served by. */
export function findsImportMistakes(
  root: string,
  browser: DevEnvironment,
): (application: Application) => Promise<readonly Problem[]> {
  let loading: Promise<Vite> | undefined;
  return async (application) => {
    // An application that can't be split has no parts to follow.
    if (application.problems.length > 0) return [];
    const vite = await (loading ??= loadVite(root));
    const open = {
      application,
      parse: parserOf(vite),
      /** As pages will have it, by all plugins. Packages aren't entered: thousands of files may lie behind one, and a check reads them. */
      async resolve(_: unknown, specifier: string, importer: string): Promise<string | undefined> {
        if (!isBuiltin(specifier) && !/^\.{1,2}\//.test(specifier)) return undefined;
        // What a plugin throws here, Vite shows when a page asks for the module.
        const found = await browser.pluginContainer
          .resolveId(specifier, importer)
          .catch(() => null);
        return found?.id ?? (isBuiltin(specifier) ? specifier : undefined);
      },
    };
    return [...nodeProblems(await browserGraph(open), root), ...(await missingExports(open))];
  };
}
