// Procedures and routes of the application: functions that segment files name.

import type { Parameter } from "../../../src/base/manifest.ts";
import type { Problem } from "../../../src/base/problem.ts";
import type { RoutePattern } from "../../../src/http/route-pattern.ts";
import type { SegmentFile, SegmentFileEntry } from "../../../src/runtime/segment.ts";
import type { ModuleExport } from "../../../src/split/describe/describe.ts";
import type { SourceModule } from "../read/modules.ts";

/** A function that segments name. */
export interface ApplicationProcedure {
  readonly fqn: string;
  readonly version: string;
  /** The module that declares the function. */
  readonly module: SourceModule;
  readonly export: string;
  readonly parameters: readonly Parameter[];
  /** It returns an async iterator, not a promise. */
  readonly stream?: true;
  /** All entries that name the function. */
  readonly entries: readonly [NamedFunction, ...NamedFunction[]];
  /** It answers requests for this method and path, and can't be called. */
  readonly route?: RoutePattern;
}

/** A function that answers requests for a path. */
export type ApplicationRoute = ApplicationProcedure & { readonly route: RoutePattern };

export function isRoute(procedure: ApplicationProcedure): procedure is ApplicationRoute {
  return procedure.route !== undefined;
}

export interface NamedEntry {
  readonly segment: SegmentFile;
  readonly entry: SegmentFileEntry;
}

/** An entry, and the function that it names. */
export interface NamedFunction extends NamedEntry {
  readonly fqn: string;
  readonly module: SourceModule;
  readonly export: ModuleExport;
}

export type Place = Pick<Problem, "file" | "line" | "column" | "path">;

/** Where an entry is in its segment file. */
export function placeOf({ segment, entry }: NamedEntry): Place {
  return { file: segment.file, line: entry.line, column: entry.column, path: entry.path };
}

/** Segment → the functions that it names. */
export function bySegment(
  named: readonly ApplicationProcedure[],
): ReadonlyMap<string, readonly ApplicationProcedure[]> {
  const segments = new Map<string, ApplicationProcedure[]>();
  for (const procedure of named)
    for (const { segment } of procedure.entries) {
      const held = segments.get(segment.name) ?? [];
      held.push(procedure);
      segments.set(segment.name, held);
    }
  return segments;
}

/** Module → the exports of it that are among these functions. */
export function byModule(
  named: readonly ApplicationProcedure[],
): ReadonlyMap<SourceModule, ReadonlySet<string>> {
  const modules = new Map<SourceModule, Set<string>>();
  for (const { module, export: name } of named)
    modules.set(module, (modules.get(module) ?? new Set<string>()).add(name));
  return modules;
}

/** Two exports of one function are one function, so its own name decides, if it has one. */
export function functionKey({
  module,
  export: { name, ownName = name },
}: Pick<NamedFunction, "module" | "export">): string {
  return `${module.id}#${ownName}`;
}

/** Groups of items with equal keys, in the order of their first items. */
export function groupBy<T>(
  all: readonly T[],
  keyOf: (item: T) => string,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of all) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
