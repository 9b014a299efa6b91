// Describes a part of a module from the units in it: nothing is parsed again.

import type { Module } from "../read/analyze.ts";
import { importedName, specifierOf } from "../read/node-names.ts";
import { nameOf, need, type Node, stringOf } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";
import { clientCallsOf } from "./client-calls.ts";
import type { CodeDescription, ModuleImport } from "./describe.ts";
import { usesIn } from "./uses.ts";

/** The description of no code. */
export const noCode: CodeDescription = {
  imports: [],
  exports: [],
  starReexports: [],
  uses: { units: [], exports: new Map() },
  startClientCalls: [],
  clientImports: [],
};

/** Describes these units, together with generated imports. */
export function describePart(
  module: Module,
  units: ReadonlySet<Unit>,
  generated: readonly ModuleImport[],
): CodeDescription {
  const kept = module.units.filter((unit) => units.has(unit));
  const holds = ({ start, end }: Node): boolean =>
    kept.some(({ node }) => node.start <= start && end <= node.end);
  return {
    ...noCode,
    imports: [
      ...importsOf(kept),
      ...module.dynamicImports.filter(holds).flatMap((node): ModuleImport[] => {
        const specifier = stringOf(need(node, "source"));
        return specifier === undefined
          ? []
          : [{ specifier, typeOnly: false, names: [], dynamic: true }];
      }),
      ...generated,
    ],
    uses: {
      units: kept.map((unit) => ({ names: unit.names, uses: usesIn(unit), changes: [] })),
      exports: new Map(),
    },
    ...clientCallsOf(module, holds),
  };
}

/** The static imports among units, one for each statement. */
function importsOf(units: readonly Unit[]): readonly ModuleImport[] {
  const statements = new Map<Node, { imported: string; local: string }[]>();
  for (const { kind, node, statement } of units) {
    if (statement.type !== "ImportDeclaration") continue;
    const names = statements.get(statement) ?? [];
    statements.set(statement, names);
    if (kind === "import")
      names.push({ imported: importedName(node), local: nameOf(need(node, "local")) ?? "" });
  }
  return [...statements].map(([statement, names]) => ({
    specifier: specifierOf(statement),
    typeOnly: false,
    names,
  }));
}
