// Warns of imports of private procedures by code of other segments: a private procedure answers
// only on its own nodes, so such calls fail with ProcedureNotFound.

import type { Problem } from "../../../src/base/problem.ts";
import { noCode } from "../../../src/split/describe/describe.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import {
  type ApplicationProcedure,
  byModule,
  bySegment,
  isRoute,
} from "../cut/application-procedure.ts";
import { isClosed, isPageOnly, isPrivate } from "../cut/closed-procedures.ts";
import { ImportSearch, type Step } from "../cut/import-search.ts";

/**
 * One warning for each segment whose code imports a private procedure without holding it, with the
 * chain of imports. The same for pages and procedures that are protected from them.
 */
export async function privateImports(graph: ApplicationGraph): Promise<readonly Problem[]> {
  const { named, cut, modules, browserSegments } = graph;
  // Servers may call protected ones.
  const hidden = named.filter(
    (procedure) =>
      !isRoute(procedure) && (isPrivate(procedure) || isClosed(procedure, browserSegments)),
  );
  if (hidden.length === 0) return [];
  const search = new ImportSearch(hidden, graph);
  const warnings: Problem[] = [];
  const check = async (
    caller: string,
    holders: readonly string[],
    start: readonly Step[],
  ): Promise<void> => {
    const onServers = holders.some((name) => !browserSegments.includes(name));
    for (const [procedure, chain] of await search.from(start)) {
      if (procedure.entries.some(({ segment }) => holders.includes(segment.name))) continue;
      // page-only-calls.ts reports those that no server has.
      if (onServers && (isPageOnly(procedure, graph) || !isPrivate(procedure))) continue;
      const what = isPrivate(procedure) ? `private to ${segmentsOf(procedure)}` : "protected";
      warnings.push({
        file: chain[0] ?? procedure.module.name,
        message: `"${procedure.fqn}" is ${what}, but code of ${caller} imports it: ${chain.join(" → ")}`,
        hint: isPrivate(procedure)
          ? "Calls from there fail with ProcedureNotFound: name it in that segment too, or make it public or protected."
          : "Calls from browsers fail with Unauthorized: call it in a procedure on a server, or make it public.",
      });
    }
  };
  for (const [segment, held] of bySegment(named)) {
    const bodies = [...byModule(held)].map(async ([module, exports]) => {
      // Imports of these procedures; the code of their siblings is left out.
      const body = cut.get(module.file)?.bodyOf(exports)?.description ?? noCode;
      return { module, imports: await search.importsIn(module.file, body) };
    });
    await check(`segment "${segment}"`, [segment], await Promise.all(bodies));
  }
  const pages = [...graph.pageModules].filter((module) => !cut.has(module.file));
  const loaded = pages.map(async (module) => ({
    module,
    imports: await search.importsIn(module.file, modules.describe(module)),
  }));
  await check("pages", browserSegments, await Promise.all(loaded));
  return warnings;
}

function segmentsOf(procedure: ApplicationProcedure): string {
  return procedure.entries.map(({ segment }) => `"${segment.name}"`).join(", ");
}
