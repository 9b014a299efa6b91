// Types as JSON Schema 2020-12, for what is read from plain JSON: OpenAPI, tools, forms.

import type { Literal, Member, TextRules, Type, TypeModel } from "./model.ts";

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** The schemas of a model's definitions, for `$defs` or `components.schemas`. */
export function definitionSchemas(
  { definitions }: TypeModel,
  prefix?: string,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, type]) => [name, jsonSchema(type, prefix)]),
  );
}

/** A type's schema. References begin with `prefix`. */
export function jsonSchema(type: Type, prefix = "#/$defs/"): JsonSchema {
  const of = (part: Type): JsonSchema => jsonSchema(part, prefix);
  switch (type.kind) {
    case "unknown":
      return true;
    // Neither has a form in plain JSON.
    case "never":
    case "undefined":
    case "regexp":
      return false;
    case "defined":
      return { not: { type: "null" } };
    case "nonprimitive":
      return { type: ["object", "array"] };
    case "null":
    case "boolean":
      return { type: type.kind };
    case "number":
      return {
        type: type.int ? "integer" : "number",
        ...(type.min !== undefined && { minimum: type.min }),
        ...(type.max !== undefined && { maximum: type.max }),
      };
    case "bigint":
      return { anyOf: [{ type: "integer" }, { type: "string", pattern: "^-?[0-9]+$" }] };
    case "string":
      return { type: "string", ...textKeywords(type) };
    case "template":
      return { type: "string", ...textKeywords(type), pattern: `^${source(type)}$` };
    case "literals": {
      const values = type.values.map(jsonOf);
      return values.length === 1 ? { const: values[0] } : { enum: values };
    }
    case "array":
      return {
        type: "array",
        items: of(type.items),
        ...(type.minLength !== undefined && { minItems: type.minLength }),
        ...(type.maxLength !== undefined && { maxItems: type.maxLength }),
      };
    case "tuple": {
      const { first, rest, last = [] } = type;
      const least = first.filter(({ optional }) => !optional).length + last.length;
      const more = rest === undefined ? [] : [rest, ...last];
      return {
        type: "array",
        ...(first.length > 0 && { prefixItems: first.map((item) => of(item.type)) }),
        items:
          more.length === 0 ? false : more.length === 1 ? of(more[0]!) : { anyOf: more.map(of) },
        ...(least > 0 && { minItems: least }),
      };
    }
    case "object": {
      const { members, index = [] } = type;
      const rest = index.find(({ keys }) => keys.kind === "string");
      const patterns = index.filter(({ keys }) => keys.kind !== "string");
      return {
        ...objectSchema(members, of),
        ...(patterns.length > 0 && {
          patternProperties: Object.fromEntries(
            patterns.map(({ keys, values }) => [`^${source(keys)}$`, of(values)]),
          ),
        }),
        additionalProperties: rest === undefined ? false : of(rest.values),
      };
    }
    case "map":
      return {
        type: "array",
        items: {
          type: "array",
          prefixItems: [of(type.keys), of(type.values)],
          items: false,
          minItems: 2,
        },
      };
    case "set":
      return { type: "array", items: of(type.items), uniqueItems: true };
    case "date":
      return { type: "string", format: "date-time" };
    case "url":
      return { type: "string", format: "uri" };
    case "binary":
      return { type: "string", contentEncoding: "base64" };
    case "file":
    case "blob":
      return { type: "string", contentMediaType: "application/octet-stream" };
    case "form":
      return { type: "object" };
    case "instance":
      return {
        type: "object",
        properties: {
          serialized: { const: true },
          name: { const: "class" },
          key: { const: type.key },
          args: { type: "object" },
          fields: { type: "object" },
        },
        required: ["serialized", "name", "key"],
      };
    case "union":
      return { anyOf: type.arms.map(of) };
    case "ref":
      return { $ref: prefix + type.to.replaceAll("~", "~0").replaceAll("/", "~1") };
  }
}

function objectSchema(
  members: Readonly<Record<string, Member>>,
  of: (type: Type) => JsonSchema,
): Record<string, unknown> {
  const entries = Object.entries(members);
  const required = entries.filter(([, { optional }]) => !optional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { type }]) => [name, of(type)])),
    ...(required.length > 0 && { required }),
  };
}

function textKeywords({ minLength, maxLength, pattern, format }: TextRules): object {
  return {
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
    ...(format !== undefined && { format }),
  };
}

function jsonOf(value: Literal): string | number | boolean {
  return typeof value === "object" ? value.bigint : value;
}

/** A regular expression for texts of a type: schemas know no scan, and their readers no backtracking. */
function source(type: Type): string {
  switch (type.kind) {
    case "template":
      return type.parts
        .map((part) =>
          typeof part === "string" ? part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : source(part),
        )
        .join("");
    case "number":
      return "-?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?";
    case "bigint":
      return "-?[0-9]+";
    default:
      return "[\\s\\S]*";
  }
}
