// Types as JSON Schema 2020-12, for readers of plain JSON: OpenAPI, tools, forms.

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

export interface SchemaOptions {
  /** The address of a definition. */
  readonly refTo: (name: string) => string;
  /** For answers, which are always written in one form; arguments may come in several. */
  readonly written?: boolean;
  /**
   * For a document of OpenAPI: objects may have further members, which are dropped or kept, and no schema is
   * a boolean, as some readers don't support that.
   */
  readonly openApi?: boolean;
  /** The members that an instance shows in an answer. */
  readonly fieldsOf?: (key: string) => Readonly<Record<string, Member>> | undefined;
}

/** A type's schema. References begin with `prefix`. */
export function jsonSchema(type: Type, prefix = "#/$defs/"): JsonSchema {
  return schemaOf(type, {
    refTo: (name) => prefix + name.replaceAll("~", "~0").replaceAll("/", "~1"),
  });
}

/** The schema of a type, as it is read or written. */
export function schemaOf(type: Type, options: SchemaOptions): JsonSchema {
  const { refTo, written, openApi, fieldsOf } = options;
  const of = (part: Type): JsonSchema => schemaOf(part, options);
  const anything = (fits: boolean): JsonSchema => (openApi ? (fits ? {} : { not: {} }) : fits);
  switch (type.kind) {
    case "unknown":
      return anything(true);
    // Neither has a form in plain JSON.
    case "never":
    case "undefined":
      return anything(false);
    case "regexp":
      return written ? { type: "string" } : anything(false);
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
      return written
        ? { type: "string", pattern: "^-?[0-9]+$" }
        : { anyOf: [{ type: "integer" }, { type: "string", pattern: "^-?[0-9]+$" }] };
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
        ...(rest === undefined
          ? !openApi && { additionalProperties: false }
          : { additionalProperties: of(rest.values) }),
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
      if (written) return objectSchema(fieldsOf?.(type.key) ?? {}, of);
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
    case "union": {
      // JSON has no `undefined`: a member is absent instead.
      const arms = type.arms.filter(({ kind }) => kind !== "undefined");
      return arms.length === 1 ? of(arms[0]!) : { anyOf: arms.map(of) };
    }
    case "ref":
      return { $ref: refTo(type.to) };
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
    properties: Object.fromEntries(
      entries.map(([name, { type, doc }]) => [name, described(of(type), doc)]),
    ),
    ...(required.length > 0 && { required }),
  };
}

/** A schema with a comment. */
export function described(schema: JsonSchema, doc: string | undefined): JsonSchema {
  if (doc === undefined || schema === false) return schema;
  return schema === true ? { description: doc } : { ...schema, description: doc };
}

function textKeywords({ minLength, maxLength, pattern, format }: TextRules): object {
  return {
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
    ...(format !== undefined && { format }),
  };
}

/** A literal as JSON has it. */
export function jsonOf(value: Literal): string | number | boolean {
  return typeof value === "object" ? value.bigint : value;
}

/** A regular expression for texts of a type, since a schema can't hold our scan. It needs no backtracking. */
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
