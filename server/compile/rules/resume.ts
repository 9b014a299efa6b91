// `"resume": true` in segment entries: callers ask for the stream again where it was cut.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import { placeOf } from "../cut/application-procedure.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/** Entries with `resume` whose procedures aren't streams. */
export function resumeWithoutStream({ functions }: ApplicationGraph): readonly Problem[] {
  return functions
    .filter(({ entry, export: { stream } }) => entry.resume && !stream)
    .map((named) => ({
      ...placeOf(named),
      message: `"resume" belongs to a stream, and "${named.export.name}" of ${named.module.name} isn't one`,
      hint: 'Remove "resume", or make the function an `async function*`. For a call that may run twice, write "idempotent".',
    }));
}

/**
 * Warns of procedures that are resumed and begin from the start: neither their module nor a module that it imports
 * mentions the id from which to go on. Text is enough: a false alarm would be worse than a missed one.
 */
export async function unreadEventIds({
  procedures,
  modules,
}: ApplicationGraph): Promise<readonly Problem[]> {
  const warnings: Problem[] = [];
  for (const { fqn, module, entries } of procedures) {
    const resumed = entries.find(({ entry }) => entry.resume);
    if (resumed === undefined || (await mentionsEventId(module, modules))) continue;
    warnings.push({
      ...placeOf(resumed),
      message: `"${fqn}" has "resume", but nothing in ${module.name} reads \`lastEventId\`: after a cut its callers get all items again`,
      hint: 'Begin after `getContext().lastEventId`, the id of the last item that arrived; or remove "resume".',
    });
  }
  return warnings;
}

/** As a member of the context, or as the header. */
const eventId = /last-?event-?id/i;

async function mentionsEventId(module: SourceModule, modules: Modules): Promise<boolean> {
  const reached = new Set([module]);
  // Iterating a set includes added items.
  for (const next of reached) {
    if (eventId.test(modules.text(next.file))) return true;
    for (const edge of await modules.importsOf(next)) if (!edge.typeOnly) reached.add(edge.module);
  }
  return false;
}
