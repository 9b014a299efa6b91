// Which procedures others may call: a private one only nodes that hold it, a closed one no browser.

import { isCallable } from "../../../src/base/access.ts";
import type { ModuleDescription, ModuleExport } from "../../../src/split/describe/describe.ts";
import type { KeptBack } from "../../../src/split/write/split-module.ts";
import type { ApplicationProcedure } from "./application-procedure.ts";

/** Whether every segment that names the procedure keeps it to its own nodes. */
export function isPrivate({ entries }: Pick<ApplicationProcedure, "entries">): boolean {
  return entries.every(({ entry }) => !isCallable(entry.access));
}

/**
 * Whether no browser can call a procedure: it isn't public, and no segment for browsers has it.
 * A route can't be called at all.
 */
export function isClosed(
  { entries, route }: ApplicationProcedure,
  browserSegments: readonly string[],
): boolean {
  if (route !== undefined) return true;
  return entries.every(
    ({ segment, entry }) => entry.access !== "public" && !browserSegments.includes(segment.name),
  );
}

/** Whether browsers have it and no server does. */
export function isPageOnly(
  { entries }: Pick<ApplicationProcedure, "entries">,
  {
    browserSegments,
    served,
  }: { readonly browserSegments: readonly string[]; readonly served: ReadonlySet<string> },
): boolean {
  return entries.every(
    ({ segment }) => browserSegments.includes(segment.name) && !served.has(segment.name),
  );
}

/** The exports of a module that are closed procedures, under all their names. */
export function closedIn(
  description: ModuleDescription,
  procedures: readonly ApplicationProcedure[],
  browserSegments: readonly string[],
): ReadonlyMap<string, ApplicationProcedure> {
  const closed = procedures.filter((procedure) => isClosed(procedure, browserSegments));
  return new Map(
    closed.flatMap((procedure) =>
      namesOf(description, procedure.export).map((name) => [name, procedure] as const),
    ),
  );
}

/** The closed exports that a browser's face keeps back. No code names those in `unnamed`. */
export function keptBackOf(
  own: ReadonlyMap<string, ApplicationProcedure>,
  unnamed: readonly string[],
): KeptBack {
  const errors = [...new Set(own.values())].map((procedure) => {
    const isProtected =
      procedure.route === undefined &&
      procedure.entries.some(({ entry }) => entry.access === "protected");
    return [
      procedure.export,
      isProtected ? ("Unauthorized" as const) : ("ProcedureNotFound" as const),
    ] as const;
  });
  return { closed: new Map(errors), unnamed: new Set(unnamed) };
}

/** All export names of the function that a module exports as `name`. */
function namesOf({ exports }: ModuleDescription, name: string): readonly string[] {
  const found = exports.find((candidate) => candidate.name === name);
  const isSame = (candidate: ModuleExport): boolean =>
    candidate.from === undefined &&
    candidate.line === found?.line &&
    candidate.column === found.column;
  return exports.filter(isSame).map((candidate) => candidate.name);
}
