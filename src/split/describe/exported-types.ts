// The types that a module exports, as far as forms of the console ask for them.

import { type FormPart, formParts } from "../procedures/form-hint.ts";
import { specifierOf } from "../read/node-names.ts";
import type { ModuleReading } from "../read/read-module.ts";
import { child, list, nameOf } from "../read/tree.ts";

export interface ExportedTypes {
  readonly named: ReadonlyMap<string, readonly FormPart[]>;
  /** Specifiers of `export * from "…"`. */
  readonly stars: readonly string[];
}

/** Reads the exports of types; those that are generic have parts that no form knows. */
export function exportedTypesOf({ module }: ModuleReading): ExportedTypes {
  const named = new Map<string, readonly FormPart[]>();
  const stars: string[] = [];
  if (module === undefined) return { named, stars };
  const { types } = module;
  const add = (exported: string, local: string): void => {
    const declared = types.declared(local);
    const imported = types.importedAs(local);
    if (declared !== undefined) named.set(exported, formParts(types, declared));
    else if (imported !== undefined) named.set(exported, [imported]);
  };
  for (const statement of list(module.program, "body")) {
    if (statement.type === "ExportAllDeclaration" && child(statement, "exported") === undefined)
      stars.push(specifierOf(statement));
    if (statement.type !== "ExportNamedDeclaration") continue;
    const declared = nameOf(child(child(statement, "declaration") ?? statement, "id"));
    if (declared !== undefined) add(declared, declared);
    const from = child(statement, "source") === undefined ? undefined : specifierOf(statement);
    for (const specifier of list(statement, "specifiers")) {
      const exported = nameOf(child(specifier, "exported")) ?? "";
      const local = nameOf(child(specifier, "local")) ?? "";
      if (from === undefined) add(exported, local);
      else named.set(exported, [{ specifier: from, name: local }]);
    }
  }
  return { named, stars };
}
