// Finds imports of routes by other modules. A route is reached by its path only, so such a call
// could never be sent.

import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import type { ApplicationRoute } from "../cut/application-procedure.ts";
import { ImportSearch } from "../cut/import-search.ts";
import { declarationOf } from "../read/export-declarations.ts";

/** A problem for each module that imports a route by value. A re-export is none. */
export async function routeImports(graph: ApplicationGraph): Promise<readonly Problem[]> {
  const { routes, modules, root } = graph;
  if (routes.length === 0) return [];
  const search = new ImportSearch(routes, graph);
  // Tests aren't part of a build.
  const among = new Set([...graph.serverModules, ...graph.pageModules, ...graph.browserModules]);
  const problems: Problem[] = [];
  for (const module of among)
    for (const { sought } of await search.importsOf(module, modules.describe(module)))
      problems.push(...sought.map((route) => problemOf(route as ApplicationRoute, module.name)));
  for (const { file, description } of graph.demands.scripts)
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
        if (route !== undefined) problems.push(problemOf(route, slashed(relative(root, file))));
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
