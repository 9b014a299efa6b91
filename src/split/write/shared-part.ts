// The shared part: the exports that no segment names, and the code that they need. It exists once per node.

import type { Module } from "../read/analyze.ts";
import type { LocalExport } from "../read/exports.ts";
import { keepUnits } from "./kept-text.ts";
import type { LocatedProcedure } from "../procedures/locate-procedures.ts";
import { exportList, FreshNames } from "../read/names.ts";
import { type Part, PartDraft, type PartIds } from "./part.ts";
import type { Partition } from "./partition.ts";
import type { Unit } from "../read/units.ts";

/**
 * Local name → export name, for everything in the shared part that bodies may need. `whole` is the
 * partition for a build that holds every procedure, so that the shared part is the same in all
 * builds.
 */
export function sharedNames(
  module: Module,
  procedures: readonly LocatedProcedure[],
  whole: Partition,
): ReadonlyMap<string, string> {
  const seams = new Set(procedures.map(({ unit }) => unit));
  const exportNames = new Map<string, string>();
  for (const { local, exported, units } of module.exports) {
    if (local !== undefined && !exportNames.has(local) && !units.some((unit) => seams.has(unit)))
      exportNames.set(local, exported);
  }
  const names = new FreshNames([
    ...module.taken,
    ...module.exports.map(({ exported }) => exported),
  ]);
  for (const unit of module.units.filter((candidate) => whole.body.has(candidate))) {
    for (const { name } of unit.references) {
      if (!exportNames.has(name) && isDeclaredIn(module, name, whole.shared))
        exportNames.set(name, names.fresh(`$${name}`));
    }
  }
  return exportNames;
}

/** Whether one of `units` declares `name`. An import doesn't. */
export function isDeclaredIn(module: Module, name: string, units: ReadonlySet<Unit>): boolean {
  return (module.bindings.get(name) ?? []).some(
    (unit) => unit.kind !== "import" && units.has(unit),
  );
}

/** Writes the shared part; `undefined` if it would be empty. */
export function writeShared(
  module: Module,
  procedures: readonly LocatedProcedure[],
  { shared }: Partition,
  names: ReadonlyMap<string, string>,
  ids: PartIds,
): Part | undefined {
  if (shared.size === 0) return undefined;
  const kept = keepUnits(module, shared, { exported: true });
  const draft = new PartDraft(module, kept.text, procedures, ids);
  draft.useSeams(shared);
  const exports = module.exports.filter(({ units }) => units.every((unit) => shared.has(unit)));
  const listed = exports.flatMap((found): [string, string][] =>
    found.local === undefined || isExportedInPlace(found) ? [] : [[found.local, found.exported]],
  );
  const exported = new Set(exports.map((found) => found.exported));
  const onlyForBodies = [...names].filter(([, name]) => !exported.has(name));
  return draft.finish(shared, kept, [exportList([...listed, ...onlyForBodies])]);
}

/** Whether the text exports it already, as `export` stands before the declaration. */
function isExportedInPlace({ units, node }: LocalExport): boolean {
  return units.some((unit) => unit.node === node || unit.statement === node);
}
