// The constraints that the types of `seamline/types` add to a type.

import type { TextFormat, Type } from "./model.ts";

export interface Constraint {
  readonly name: "Min" | "Max" | "Int" | "MinLength" | "MaxLength" | "Pattern" | "Format";
  readonly value?: string | number;
}

export const constraintNames: ReadonlySet<string> = new Set<Constraint["name"]>([
  "Min",
  "Max",
  "Int",
  "MinLength",
  "MaxLength",
  "Pattern",
  "Format",
]);

/**
 * The type with a constraint, or the reason why it can't have it. Of two constraints the narrower one counts.
 */
export function constrain(type: Type, { name, value }: Constraint): Type | string {
  if (type.kind === "number") {
    if (name === "Int") return { ...type, int: true };
    if (name === "Min" && typeof value === "number")
      return { ...type, min: Math.max(value, type.min ?? -Infinity) };
    if (name === "Max" && typeof value === "number")
      return { ...type, max: Math.min(value, type.max ?? Infinity) };
  }
  if (type.kind === "string" || type.kind === "template" || type.kind === "array") {
    if (name === "MinLength" && typeof value === "number")
      return { ...type, minLength: Math.max(value, type.minLength ?? 0) };
    if (name === "MaxLength" && typeof value === "number")
      return { ...type, maxLength: Math.min(value, type.maxLength ?? Infinity) };
  }
  if (type.kind === "string" && typeof value === "string") {
    if (name === "Pattern" && type.pattern === undefined) return { ...type, pattern: value };
    if (name === "Format" && type.format === undefined)
      return { ...type, format: value as TextFormat };
  }
  return `${name} says nothing about ${type.kind === "literals" ? "literals" : `the kind '${type.kind}'`}, or is there twice`;
}
