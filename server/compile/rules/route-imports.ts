// Finds imports of routes by other modules. A route is reached by its path only, so such a call
// could never be sent.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationRoute } from "../cut/application-procedure.ts";
import type { CutModule } from "../cut/cut.ts";
import type { PageScript } from "../cut/hidden-exports.ts";
import { ImportSearch } from "../cut/import-search.ts";
import { declarationOf } from "../read/export-declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/** A problem for each module that imports a route by value. A re-export is none. */
export async function routeImports(
  routes: readonly ApplicationRoute[],
  options: {
    readonly cut: ReadonlyMap<string, CutModule>;
    readonly modules: Modules;
    /** All that a build has: tests aren't among them. */
    readonly among: Iterable<SourceModule>;
    /** Of pages and components. */
    readonly scripts: readonly PageScript[];
    readonly nameOf: (file: string) => string;
  },
): Promise<readonly Problem[]> {
  if (routes.length === 0) return [];
  const { cut, modules } = options;
  const search = new ImportSearch(routes, cut, modules);
  const problems: Problem[] = [];
  for (const module of options.among)
    for (const { sought } of await search.importsOf(module, modules.describe(module)))
      problems.push(...sought.map((route) => problemOf(route as ApplicationRoute, module.name)));
  for (const { file, description } of options.scripts)
    for (const { specifier, names, typeOnly, unused } of description.imports) {
      const target =
        typeOnly || unused === true ? undefined : await modules.resolve(specifier, file);
      if (target === undefined) continue;
      for (const { imported } of names) {
        const declared = await declarationOf(modules, target, imported);
        const route = routes.find(
          (candidate) =>
            !("missing" in declared) &&
            candidate.module === declared.module &&
            candidate.export === declared.export.name,
        );
        if (route !== undefined) problems.push(problemOf(route, options.nameOf(file)));
      }
    }
  return problems;
}

function problemOf({ fqn, route, module }: ApplicationRoute, importer: string): Problem {
  return {
    file: importer,
    message: `"${fqn}" of ${module.name} is the route "${route.method} ${route.path}", which other modules can't import`,
    hint: "Move what both need into a function that isn't a route, and import that; or fetch the path.",
  };
}
