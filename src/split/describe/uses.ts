// The names that each unit of a module uses and changes. A build follows these through the
// application, to find state of which several nodes would have copies, and servers that call
// procedures that only pages have.

import type { Module } from "../read/analyze.ts";
import { positionOf } from "../read/code-frame.ts";
import { importedName, specifierOf } from "../read/node-names.ts";
import type { Unit } from "../read/units.ts";
import { holdsState } from "./state.ts";

/** A declaration, a statement, or an import of one name. */
export interface UnitUses {
  /** The names that it binds. */
  readonly names: readonly string[];
  /** The names of the module that it mentions: one entry per member of a name. */
  readonly uses: readonly NameUse[];
  /** The names that its functions change. Code that runs while the module loads doesn't count. */
  readonly changes: readonly string[];
  /** The origin of an import; `name` is `*` for a whole namespace. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /**
   * Present if it binds something that can change: a collection, an object, a variable, a class.
   */
  readonly state?: { readonly line: number; readonly column: number };
}

/** A mention of a name of the module. */
export interface NameUse {
  readonly name: string;
  /** `quote` of `shop.quote`. */
  readonly member?: string;
  /** The name or its member is called: `quote()`, `quote.call(this)`, `shop.quote()`. */
  readonly called: boolean;
  /** Offset in the source. */
  readonly start: number;
}

export interface ModuleUses {
  readonly units: readonly UnitUses[];
  /** Export name → indexes in `units` of its declarations. */
  readonly exports: ReadonlyMap<string, readonly number[]>;
}

/** Reads the units of a module. */
export function usesOf(module: Module): ModuleUses {
  const exports = module.exports.map(
    ({ exported, units }) => [exported, units.map((unit) => module.units.indexOf(unit))] as const,
  );
  return {
    units: module.units.map((unit) => readUnit(module, unit)),
    exports: new Map(exports),
  };
}

function readUnit(module: Module, unit: Unit): UnitUses {
  const isImport = unit.kind === "import";
  return {
    names: unit.names,
    uses: isImport ? [] : usesIn(unit),
    changes: [
      ...new Set(
        unit.references.filter(({ usage }) => usage.changed === true).map(({ name }) => name),
      ),
    ],
    ...(isImport && {
      from: { specifier: specifierOf(unit.statement), name: importedName(unit.node) },
    }),
    ...(holdsState(unit) && { state: positionOf(module.source, unit.node.start) }),
  };
}

/** The names of the module that a unit mentions. */
export function usesIn(unit: Unit): NameUse[] {
  const uses = new Map<string, NameUse>();
  for (const { name, start, soft, usage } of unit.references) {
    if (soft) continue;
    const { members = [undefined], called = false, memberCalled = false } = usage;
    for (const member of members) {
      const key = `${name} ${member ?? ""}`;
      // If a name is mentioned several times, a call tells more than any other mention.
      if (uses.get(key)?.called === true) continue;
      uses.set(
        key,
        member === undefined
          ? { name, called, start }
          : { name, member, called: memberCalled, start },
      );
    }
  }
  return [...uses.values()];
}
