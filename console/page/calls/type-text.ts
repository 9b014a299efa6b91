// A type in a few words, for the field that takes it.

import type { Literal, Type } from "../../console-state.ts";

/** Of a longer union, the first ones are shown. */
const mostArms = 5;

export function textOf(type: Type): string {
  switch (type.kind) {
    case "number": {
      const name = type.int === true ? "whole number" : "number";
      return withRange(name, type.min, type.max);
    }
    case "string":
    case "template": {
      const { format, pattern, case: letters } = type;
      const name = type.kind === "string" ? "string" : templateText(type.parts);
      const rules = [
        format,
        letters && (letters.endsWith("ed") ? letters : `${letters} case`),
        pattern && `/${pattern}/`,
        lengthText(type, "character"),
      ];
      return [name, ...rules.filter(Boolean)].join(", ");
    }
    case "literals":
      return listed(type.values.map(literalText));
    case "array":
    case "set": {
      const name = type.kind === "set" ? "Set of " : "list of ";
      const length = type.kind === "array" && lengthText(type, "item");
      return `${name}${textOf(type.items)}${length ? `, ${length}` : ""}`;
    }
    case "tuple": {
      const { first, rest, last = [] } = type;
      const items = [
        ...first.map((item) => `${textOf(item.type)}${item.optional === true ? "?" : ""}`),
        ...(rest === undefined ? [] : [`...${textOf(rest)}`]),
        ...last.map(textOf),
      ];
      return `[${items.join(", ")}]`;
    }
    case "object":
      return type.index === undefined
        ? "object"
        : `object of ${listed(type.index.map(({ values }) => textOf(values)))}`;
    case "map":
      return `Map of ${textOf(type.keys)} to ${textOf(type.values)}`;
    case "date":
      return "Date";
    case "url":
      return "URL";
    case "regexp":
      return "RegExp";
    case "file":
      return "File";
    case "blob":
      return "Blob";
    case "form":
      return "FormData";
    case "binary":
      return type.type;
    case "instance":
      return type.key.slice(type.key.lastIndexOf("/") + 1);
    case "union":
      return listed(nullLast(type.arms).map(textOf));
    case "ref":
      return type.to;
    default:
      return type.kind;
  }
}

/** The arm that is seldom wanted comes last. */
export function nullLast(arms: readonly Type[]): readonly Type[] {
  return arms.toSorted((a, b) => Number(a.kind === "null") - Number(b.kind === "null"));
}

export function literalText(literal: Literal): string {
  return typeof literal === "object" ? `${literal.bigint}n` : JSON.stringify(literal);
}

function listed(texts: readonly string[]): string {
  const shown = texts.length > mostArms ? [...texts.slice(0, mostArms), "…"] : texts;
  return shown.join(" | ");
}

function templateText(parts: readonly (string | Type)[]): string {
  return `\`${parts.map((part) => (typeof part === "string" ? part : `\${${textOf(part)}}`)).join("")}\``;
}

function lengthText(
  { minLength, maxLength }: { readonly minLength?: number; readonly maxLength?: number },
  unit: string,
): string | undefined {
  const range = rangeText(minLength, maxLength);
  return range && `${range} ${unit}s`;
}

function withRange(name: string, min: number | undefined, max: number | undefined): string {
  const range = rangeText(min, max);
  return range === undefined ? name : `${name}, ${range}`;
}

function rangeText(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined) return max === undefined ? undefined : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
