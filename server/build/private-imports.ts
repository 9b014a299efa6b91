// A private procedure answers on its own nodes only (decisions §6, private). Code of another segment that imports it will get
// ProcedureNotFound, so the build says so beforehand.

import type { Problem } from "../../src/problem.ts";
import type { CutModule } from "./cut.ts";
import { ImportSearch, type Step } from "./import-search.ts";
import { isClosed } from "./kept-back.ts";
import type { Modules, SourceModule } from "./modules.ts";
import { pageOnly } from "./page-only-calls.ts";
import type { Procedure } from "./procedures.ts";

/** One warning for each private procedure, and each that is protected from browsers, and segment whose code imports it without holding it, with the chain of imports. */
export async function privateImports(options: {
  procedures: readonly Procedure[];
  cut: ReadonlyMap<string, CutModule>;
  modules: Modules;
  clients: readonly string[];
  served: ReadonlySet<string>;
  pages: ReadonlySet<SourceModule>;
}): Promise<readonly Problem[]> {
  const { procedures, cut, modules, clients } = options;
  const isPrivate = (one: Procedure): boolean =>
    one.entries.every(({ entry }) => entry.access === "private");
  // Protected ones servers may call.
  const hidden = procedures.filter((one) => isPrivate(one) || isClosed(one, clients));
  if (hidden.length === 0) return [];
  const search = new ImportSearch(hidden, cut, modules);
  const warnings: Problem[] = [];
  // Of those that no server has, page-only-calls.ts tells servers.
  const toldElsewhere = new Set(pageOnly(options));
  const check = async (
    who: string,
    holders: readonly string[],
    start: readonly Step[],
  ): Promise<void> => {
    const onServers = holders.some((name) => !clients.includes(name));
    for (const [procedure, chain] of await search.from(start)) {
      if (procedure.entries.some(({ segment }) => holders.includes(segment.name))) continue;
      if (onServers && (toldElsewhere.has(procedure) || !isPrivate(procedure))) continue;
      const what = isPrivate(procedure) ? `private to ${segmentsOf(procedure)}` : "protected";
      warnings.push({
        file: chain[0] ?? procedure.module.name,
        message: `"${procedure.fqn}" is ${what}, but code of ${who} imports it: ${chain.join(" → ")}`,
        hint: isPrivate(procedure)
          ? "A call from there will be a ProcedureNotFound: name it in that segment too, or make it public or protected."
          : "A call from a browser will be Unauthorized: have a procedure of servers call it, or make it public.",
      });
    }
  };
  for (const [segment, held] of bySegment(procedures)) {
    const bodies = [...held].map(async ([module, exports]) => {
      // What the code of these procedures imports, that of their siblings left out.
      const body = modules.describePart(module, cut.get(module.file)?.bodyOf(exports));
      return { module, imports: await search.importsOf(module, body) };
    });
    await check(`segment "${segment}"`, [segment], await Promise.all(bodies));
  }
  const pages = [...options.pages].filter((module) => !cut.has(module.file));
  const loaded = pages.map(async (module) => ({
    module,
    imports: await search.importsOf(module, modules.describe(module)),
  }));
  await check("pages", clients, await Promise.all(loaded));
  return warnings;
}

/** Segment → module → the exports that the segment holds. */
function bySegment(
  procedures: readonly Procedure[],
): ReadonlyMap<string, ReadonlyMap<SourceModule, ReadonlySet<string>>> {
  const segments = new Map<string, Map<SourceModule, Set<string>>>();
  for (const { module, export: name, entries } of procedures)
    for (const { segment } of entries) {
      const held = segments.get(segment.name) ?? new Map<SourceModule, Set<string>>();
      segments.set(
        segment.name,
        held.set(module, (held.get(module) ?? new Set<string>()).add(name)),
      );
    }
  return segments;
}

function segmentsOf(procedure: Procedure): string {
  return procedure.entries.map(({ segment }) => `"${segment.name}"`).join(", ");
}
