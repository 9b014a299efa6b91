// The types of a call's arguments by name, for forms.

import type { NamedType, ParameterType, Signature, Type, TypeModel } from "./model.ts";
import { partsOf } from "./values.ts";

export interface CallerName extends NamedType {
  /** A rest parameter, which holds all arguments from its position on. */
  readonly rest?: true;
}

/** The types of a function's parameters, and the definitions that these types refer to. */
export interface CallTypes {
  readonly names: readonly CallerName[];
  readonly definitions: TypeModel["definitions"];
}

export function describeCall(model: TypeModel, id: string): CallTypes {
  const names = callerNames(model.functions[id] ?? []);
  const definitions = new Map<string, Type>();
  const open = names.map(({ type }) => type);
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    open.push(...partsOf(type));
    if (type.kind !== "ref" || definitions.has(type.to)) continue;
    if (!Object.hasOwn(model.definitions, type.to)) continue;
    definitions.set(type.to, model.definitions[type.to]!);
    open.push(model.definitions[type.to]!);
  }
  return { names, definitions: Object.fromEntries(definitions) };
}

/** The names of parameters and in patterns. Overloads may give one several types, and needn't all have it. */
export function callerNames(signatures: readonly Signature[]): readonly CallerName[] {
  const found = new Map<string, CallerName>();
  const lists = signatures.map(({ parameters }) => parameters.flatMap(namesOf));
  for (const named of lists.flat()) {
    const { name, type } = named;
    const other = found.get(name);
    const isOptional =
      named.optional === true ||
      other?.optional === true ||
      !lists.every((names) => names.some((each) => each.name === name));
    found.set(name, {
      ...named,
      type: other === undefined ? type : either(other.type, type),
      ...(isOptional && named.rest !== true && { optional: true }),
    });
  }
  return [...found.values()];
}

function either(one: Type, other: Type): Type {
  return JSON.stringify(one) === JSON.stringify(other)
    ? one
    : { kind: "union", arms: [one, other] };
}

function namesOf(parameter: ParameterType): readonly CallerName[] {
  switch (parameter.kind) {
    case "plain": {
      const { kind: _, ...named } = parameter;
      return [named];
    }
    case "rest":
      return [{ name: `...${parameter.name}`, type: parameter.type, rest: true }];
    default:
      return parameter.names.flatMap((name) =>
        name === null ? [] : [parameter.optional === true ? { ...name, optional: true } : name],
      );
  }
}
