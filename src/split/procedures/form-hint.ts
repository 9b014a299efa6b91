// The choices in a form for calls, as far as a parameter's annotation or default value tells.

import type { Choice, FormHint, Parameter, PatternName } from "../../base/manifest.ts";
import { child, list, nameOf, need, type Node, word } from "../read/tree.ts";
import type { ImportedType, LocalTypes } from "../read/value-types.ts";

/** More literals are no choice, but a language of their own. */
const maxChoices = 50;
const maxLength = 100;

const kinds: ReadonlyMap<string, FormHint> = new Map([
  ["TSStringKeyword", "string"],
  // Of an imported alias: for others the parameter's own type says it.
  ["TSNumberKeyword", "number"],
  ["TSTemplateLiteralType", "string"],
  ["TSTypeLiteral", "object"],
  ["TSInterfaceDeclaration", "object"],
  ["TSMappedType", "object"],
  ["TSTupleType", "list"],
  ["TSArrayType", "list"],
  ["Record", "object"],
  ["Array", "list"],
  ["ReadonlyArray", "list"],
]);

const kindsOfDefaults: ReadonlyMap<string, FormHint> = new Map([
  ["TemplateLiteral", "string"],
  ["ObjectExpression", "object"],
  ["ArrayExpression", "list"],
]);

/** A member of a parameter's type, as far as one module tells. */
export type FormPart =
  | { readonly choice: Choice }
  | { readonly kind: FormHint }
  /** A type that another module exports. */
  | ImportedType
  | { readonly kind: undefined };

/** The hint of a parameter, or the parts of its type if other modules declare some of them. */
export function formOf(
  types: LocalTypes,
  annotation: Node | undefined,
  defaultValue: Node | undefined,
): { readonly form?: FormHint; readonly parts?: readonly FormPart[] } {
  if (annotation === undefined) {
    const form = defaultValue && hintOfDefault(defaultValue);
    return form === undefined ? {} : { form };
  }
  const parts = formParts(types, annotation);
  if (parts.some((part) => "specifier" in part)) return { parts };
  const form = hintOfParts(parts);
  return form === undefined ? {} : { form };
}

/** The parts of a type that a module writes or declares. */
export function formParts(types: LocalTypes, type: Node): FormPart[] {
  return types
    .members(type)
    .filter((member) => member.type !== "TSUndefinedKeyword")
    .flatMap((member): FormPart[] => {
      const imported = types.imported(member);
      if (imported !== undefined) return [imported];
      const choices = choicesOf(member);
      const kind = kinds.get(
        member.type === "TSTypeReference" ? (nameOf(child(member, "typeName")) ?? "") : member.type,
      );
      return choices.map((choice) => (choice === undefined ? { kind } : { choice }));
    });
}

/** `undefined` if a form has to offer text and JSON, as for types of unknown modules. */
export function hintOfParts(parts: readonly FormPart[]): FormHint | undefined {
  const choices = parts.map((part) => ("choice" in part ? part.choice : undefined));
  if (choices.every((choice) => choice !== undefined) && choices.some((choice) => choice !== null))
    return choices.length <= maxChoices ? [...new Set(choices)] : undefined;
  const [part, ...others] = parts.filter((each) => !("choice" in each && each.choice === null));
  return part !== undefined && others.length === 0 && "kind" in part ? part.kind : undefined;
}

/** The literals that a type stands for; a list with `undefined` for any other type. */
function choicesOf(type: Node): (Choice | undefined)[] {
  if (type.type === "TSNullKeyword") return [null];
  if (type.type === "TSBooleanKeyword") return [true, false];
  if (type.type === "TSEnumDeclaration") return valuesOfEnum(type);
  return [type.type === "TSLiteralType" ? literalOf(need(type, "literal")) : undefined];
}

/** What members of an enum are at run time; a member that is computed is `undefined`. */
function valuesOfEnum(declaration: Node): (Choice | undefined)[] {
  const members = list(child(declaration, "body") ?? declaration, "members");
  let next: number | undefined = 0;
  return members.map((member) => {
    const initializer = child(member, "initializer");
    const value = initializer === undefined ? next : literalOf(initializer);
    next = typeof value === "number" ? value + 1 : undefined;
    return value;
  });
}

function literalOf(node: Node): Choice | undefined {
  const negative = node.type === "UnaryExpression" && word(node, "operator") === "-";
  const value = (negative ? need(node, "argument") : node)["value"];
  if (typeof value === "number" && Number.isFinite(value)) return negative ? -value : value;
  if (negative || (typeof value === "string" && value.length > maxLength)) return undefined;
  return typeof value === "string" || typeof value === "boolean" ? value : undefined;
}

/** Of other defaults, the parameter's type says it: see default-type.ts. */
function hintOfDefault(node: Node): FormHint | undefined {
  return typeof node["value"] === "string" ? "string" : kindsOfDefaults.get(node.type);
}

/** The parameters as browsers get them. */
export function withoutForms(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.map((parameter) => mapNames(parameter, withoutForm));
}

/** The first parameter of a checked function: its annotation says what the schema makes of a value. */
export function withoutTypes(parameter: Parameter): Parameter {
  return mapNames(parameter, ({ type: _, form: _form, ...name }) => name);
}

function mapNames(parameter: Parameter, change: (name: PatternName) => PatternName): Parameter {
  switch (parameter.kind) {
    case "plain":
      return { kind: "plain", ...change(parameter) };
    case "object":
      return { ...parameter, names: parameter.names.map(change) };
    case "array":
      return { ...parameter, names: parameter.names.map((name) => name && change(name)) };
    default:
      return parameter;
  }
}

function withoutForm({ form: _, ...name }: PatternName): PatternName {
  return name;
}
