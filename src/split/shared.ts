// The shared part: what no segment names, and what that needs, once per node.

import type { Module, Unit } from "./analyze.ts";
import { keep } from "./blank.ts";
import { exportList, Names } from "./names.ts";
import { Draft, standsInPlace } from "./part.ts";
import type { Placement } from "./place.ts";
import type { Procedure } from "./procedures.ts";
import type { Part, SplitInput } from "./split-module.ts";

/**
 * Local name → export name, for everything in the shared part that bodies may need. `whole` is the placement of a build
 * that holds every procedure, so that the shared part is the same in all builds.
 */
export function sharedNames(
  module: Module,
  procedures: readonly Procedure[],
  whole: Placement,
): ReadonlyMap<string, string> {
  const seams = new Set(procedures.map((one) => one.unit));
  const known = new Map<string, string>();
  for (const { local, exported, units } of module.exports) {
    if (local !== undefined && !known.has(local) && !units.some((unit) => seams.has(unit)))
      known.set(local, exported);
  }
  const names = new Names([...module.taken, ...module.exports.map((one) => one.exported)]);
  for (const unit of module.units.filter((one) => whole.body.has(one))) {
    for (const { name } of unit.references) {
      if (!known.has(name) && isDeclaredIn(module, name, whole.shared))
        known.set(name, names.fresh(`$${name}`));
    }
  }
  return known;
}

/** Whether `name` is a declaration, no import, among `units`. */
export function isDeclaredIn(module: Module, name: string, units: ReadonlySet<Unit>): boolean {
  return (module.bindings.get(name) ?? []).some(
    (unit) => unit.kind !== "import" && units.has(unit),
  );
}

/** Writes the shared part; `undefined` when nothing is in it. */
export function writeShared(
  module: Module,
  procedures: readonly Procedure[],
  placement: Placement,
  names: ReadonlyMap<string, string>,
  ids: SplitInput["ids"],
): Part | undefined {
  if (placement.shared.size === 0) return undefined;
  const kept = keep(module, placement.shared, true);
  const draft = new Draft(module, kept.text, procedures, ids);
  draft.useSeams(placement.shared);
  const own = module.exports.filter((one) => one.units.every((unit) => placement.shared.has(unit)));
  const listed = own.flatMap((one): [string, string][] =>
    one.local === undefined || standsInPlace(one) ? [] : [[one.local, one.exported]],
  );
  const exported = new Set(own.map((one) => one.exported));
  const lent = [...names].filter(([, name]) => !exported.has(name));
  return draft.finish(kept, [exportList([...listed, ...lent])]);
}
