// The part of a contract that anyone may read.

import { partsOf } from "../types/values.ts";
import type { ParameterType, Type } from "../types/model.ts";
import type { Contract } from "./contract.ts";

/** The public procedures and routes, and the types that these use. */
export function publicContract(contract: Contract): Contract {
  const procedures = contract.procedures.filter(({ access }) => access === "public");
  const routes = contract.routes.filter(({ access }) => access === "public");
  const definitions = new Set<string>();
  const classes = new Set<string>();
  const open: Type[] = procedures.flatMap(({ signatures }) =>
    signatures.flatMap(({ parameters, result, returns }) => [
      ...parameters.flatMap(typesIn),
      result,
      ...(returns ? [returns] : []),
    ]),
  );
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    open.push(...partsOf(type));
    if (type.kind === "ref" && !definitions.has(type.to)) {
      definitions.add(type.to);
      open.push(contract.definitions[type.to]!.type);
    }
    if (type.kind === "instance" && !classes.has(type.key)) {
      classes.add(type.key);
      const { parameters, fields } = contract.classes[type.key]!;
      open.push(...parameters.flatMap(typesIn));
      open.push(...Object.values(fields).map((field) => field.type));
    }
  }
  return {
    ...contract,
    procedures,
    routes,
    definitions: only(contract.definitions, definitions),
    classes: only(contract.classes, classes),
  };
}

function typesIn(parameter: ParameterType): readonly Type[] {
  return "type" in parameter
    ? [parameter.type]
    : parameter.names.flatMap((name) => (name === null ? [] : [name.type]));
}

function only<T>(
  table: Readonly<Record<string, T>>,
  names: ReadonlySet<string>,
): Record<string, T> {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)));
}
