// Finds imports of routes by other modules. A route is reached by its path only, so such a call
// could never be sent.

import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import type { ApplicationRoute } from "../cut/application-procedure.ts";
import { ImportSearch } from "../cut/import-search.ts";

/** A problem for each module that imports a route by value. A re-export is none. */
export async function routeImports(graph: ApplicationGraph): Promise<readonly Problem[]> {
  const { routes, modules, root } = graph;
  if (routes.length === 0) return [];
  const search = new ImportSearch(routes, graph);
  // Tests aren't part of a build.
  const among = new Set([...graph.serverModules, ...graph.pageModules, ...graph.browserModules]);
  const code = [
    ...[...among].map((module) => ({ ...module, description: modules.describe(module) })),
    ...graph.demands.scripts.map(({ file, description }) => ({
      file,
      name: slashed(relative(root, file)),
      description,
    })),
  ];
  const problems: Problem[] = [];
  for (const { file, name, description } of code)
    for (const { sought } of await search.importsIn(file, description))
      problems.push(...sought.map((route) => problemOf(route as ApplicationRoute, name)));
  return problems;
}

function problemOf({ fqn, route, module }: ApplicationRoute, importer: string): Problem {
  return {
    file: importer,
    message: `"${fqn}" of ${module.name} is the route "${route.method} ${route.path}", which other modules can't import`,
    hint: "Move what both need into a function that isn't a route, and import that; or fetch the path.",
  };
}
