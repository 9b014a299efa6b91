// The exports of a module: its own declarations, and re-exports from others.

import { importedName, specifierOf } from "./node-names.ts";
import { bare, child, list, nameOf, need, type Node, word } from "./tree.ts";
import type { Unit } from "./units.ts";

/** An export of something that the module declares. */
export interface LocalExport {
  readonly exported: string;
  /** `undefined` for a default export without a name. */
  readonly local: string | undefined;
  /** The units that declare it: several if declarations merge. */
  readonly units: readonly Unit[];
  /** The node that exports it: a specifier, or the declaration itself. */
  readonly node: Node;
}

export interface Reexport {
  readonly exported: string;
  readonly specifier: string;
  /** `*` for the namespace. */
  readonly imported: string;
  /** The statement that names the other module: an import, or the export itself. */
  readonly source: Node;
  readonly node: Node;
}

export interface Exports {
  readonly exports: readonly LocalExport[];
  readonly reexports: readonly Reexport[];
  /** The statements `export * from "…"`. */
  readonly stars: readonly Node[];
}

/** The exports of a program. `bindings` are the units that declare each of its names. */
export function exportsOf(
  program: Node,
  units: readonly Unit[],
  bindings: ReadonlyMap<string, readonly Unit[]>,
): Exports {
  const exports: LocalExport[] = [];
  const reexports: Reexport[] = [];
  const stars: Node[] = [];
  const written = new Set(
    units
      .flatMap(({ references }) => references.filter(({ write }) => write))
      .map(({ name }) => name),
  );
  const add = (exported: string, local: string, node: Node): void => {
    const declaring = bindings.get(local);
    // Only types have this name, so nothing is left of the export at run time.
    if (declaring === undefined) return;
    const [first] = declaring;
    if (first?.kind !== "import") exports.push({ exported, local, units: declaring, node });
    else
      reexports.push({
        exported,
        specifier: specifierOf(first.statement),
        imported: importedName(first.node),
        source: first.statement,
        node,
      });
  };
  for (const statement of list(program, "body")) {
    if (statement["exportKind"] === "type") continue;
    if (statement.type === "ExportAllDeclaration") {
      const exported = nameOf(child(statement, "exported"));
      if (exported === undefined) stars.push(statement);
      else
        reexports.push({
          exported,
          specifier: specifierOf(statement),
          imported: "*",
          source: statement,
          node: statement,
        });
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const specifier of list(statement, "specifiers")) {
        if (specifier["exportKind"] === "type") continue;
        const exported = nameOf(need(specifier, "exported")) ?? "";
        const local = nameOf(need(specifier, "local")) ?? "";
        if (child(statement, "source") === undefined) add(exported, local, specifier);
        else
          reexports.push({
            exported,
            specifier: specifierOf(statement),
            imported: local,
            source: statement,
            node: specifier,
          });
      }
      const declared = units.filter((unit) => unit.statement === statement);
      for (const unit of declared) for (const name of unit.names) add(name, name, unit.node);
    } else if (statement.type === "ExportDefaultDeclaration") {
      const value = bare(need(statement, "declaration"));
      const unit = units.find((candidate) => candidate.statement === statement);
      const [ownName] = unit?.names ?? [];
      const local = value.type === "Identifier" ? word(value, "name") : ownName;
      // `export default f` exports the binding `f`. If `f` is written later, the export keeps the
      // value of this moment.
      const isAlias =
        local !== undefined && bindings.has(local) && (local === ownName || !written.has(local));
      if (isAlias) add("default", local, statement);
      else if (unit !== undefined)
        exports.push({ exported: "default", local: undefined, units: [unit], node: statement });
    }
  }
  return { exports: firstOfEach(exports), reexports, stars };
}

// Two declarations that merge, such as the halves of an enum, are one export.
function firstOfEach(exports: readonly LocalExport[]): LocalExport[] {
  const byName = new Map(exports.toReversed().map((found) => [found.exported, found]));
  return exports.filter((found) => byName.get(found.exported) === found);
}
