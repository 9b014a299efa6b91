// Mistakes about guards besides the functions themselves: guards that would be missing, or that browsers
// would get.

import { isCallable } from "../../../src/base/access.ts";
import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import { type ApplicationProcedure, groupBy, placeOf } from "../cut/application-procedure.ts";
import { browserCode } from "../cut/browser-code.ts";

/** Browsers would get the code of a guard, which may compare secrets. */
export async function guardsInBrowsers(graph: ApplicationGraph): Promise<readonly Problem[]> {
  if (graph.guards.size === 0) return [];
  // Of a module with procedures browsers get all other exports, if they get any of it.
  const reached = new Set((await browserCode(graph)).map(({ module }) => module));
  return [...graph.guards.values()].flatMap((guard) => {
    if (!reached.has(guard.module)) return [];
    return [
      {
        ...guard.places[0],
        message: `browsers load ${guard.module.name}, and with it the source of the guard "${guard.export}"`,
        hint: "Put the guard into a module that no page and no segment for browsers imports.",
      },
    ];
  });
}

/** With `"guards": "required"`: public entries that name no guard, and don't say that they have none. */
export function missingGuards({ functions, guardsRequired }: ApplicationGraph): readonly Problem[] {
  if (!guardsRequired) return [];
  return functions
    .filter(({ entry }) => entry.access === "public")
    .filter(({ entry }) => entry.guard === undefined && entry.unguarded !== true)
    .map((named) => ({
      ...placeOf(named),
      message: `"${named.fqn}" is public and has no guard, and the configuration says "guards": "required"`,
      hint: 'Name one, "guard": "./auth.ts#signedIn" here or "$guard" for the whole file, or say "guard": false.',
    }));
}

/** Warns of guards that don't do what they seem to. */
export function uselessGuards(graph: ApplicationGraph): readonly Problem[] {
  const guarded = graph.functions.filter(({ entry }) => entry.guard !== undefined);
  return [
    ...guarded
      .filter(({ entry }) => !isCallable(entry.access))
      .map((named) => ({
        ...placeOf(named),
        message: `the guard of "${named.fqn}" never runs: a private function can't be called from outside`,
        hint: 'Remove "guard", or make the function public or protected.',
      })),
    ...guarded
      .filter(
        ({ entry, segment }) =>
          isCallable(entry.access) && graph.browserSegments.includes(segment.name),
      )
      .map((named) => ({
        ...placeOf(named),
        message: `the guard of "${named.fqn}" doesn't run in browsers, which load segment "${named.segment.name}"`,
        hint: "In a page the function is the user's to call: guard what it calls on servers.",
      })),
    ...versionsApart(graph.named),
  ];
}

/** Versions of one procedure: a caller that one version refuses may try another. */
function versionsApart(named: readonly ApplicationProcedure[]): readonly Problem[] {
  return groupBy(
    named.filter(({ entries }) => entries.some(({ entry }) => isCallable(entry.access))),
    ({ fqn }) => fqn,
  ).flatMap(([first, ...others]) =>
    others
      .filter((other) => guardOf(other) !== guardOf(first))
      .map((other) => ({
        ...placeOf(other.entries[0]),
        message: `version ${other.version} of "${other.fqn}" has ${shown(other)}, and version ${first.version} has ${shown(first)}`,
        hint: "Callers choose the version: give all of them one guard.",
      })),
  );
}

/** The name of a function's guard: all of its entries that callers outside reach agree in it. */
export function guardOf({ entries }: ApplicationProcedure): string | undefined {
  return entries.find(({ entry }) => isCallable(entry.access))?.entry.guard;
}

function shown(procedure: ApplicationProcedure): string {
  const guard = guardOf(procedure);
  return guard === undefined ? "no guard" : `the guard "${guard}"`;
}
