// The JSON Schemas that the package publishes, for editors: keys are completed, wrong ones marked (scripts/build.mjs writes them into schema/).

import type { GenericSchema } from "valibot";

import { accesses, procedureName } from "../src/segment.ts";
import { schemas } from "./config-schema.ts";

type Json = { readonly [key: string]: unknown };
/** From valibot to JSON Schema: lent by the build, as no service needs it. */
export type Convert = (schema: GenericSchema) => Json;

const dialect = "http://json-schema.org/draft-07/schema#";
const editors = { type: "string", description: "Where editors find the schema of this file." };
const modes: Readonly<Record<keyof typeof schemas, string>> = {
  node: "Runs the procedures of its segments.",
  gateway: "Knows which node has which procedure, and passes calls on.",
  repository: "Holds the build: files for browsers, modules for nodes.",
  proxy:
    "One address for everyone: calls go to a gateway or node, everything else to the repository.",
  standalone: "Everything in one process.",
};

/** The schema of a configuration (§2.4): `mode` decides which keys there are. */
export function configJsonSchema(convert: Convert): Json {
  const branches = Object.entries(schemas).map(([mode, schema]) => {
    const { $schema: _, ...converted } = convert(schema);
    const { properties, ...others } = withPlaceholders(converted) as { properties: Json };
    return {
      if: { properties: { mode: { const: mode } }, required: ["mode"] },
      // oxlint-disable-next-line unicorn/no-thenable -- it is the schema's own word
      then: {
        ...others,
        properties: { $schema: editors, ...properties, mode: { const: mode } },
        additionalProperties: false,
        ...(mode === "proxy" && { oneOf: [{ required: ["gateway"] }, { required: ["node"] }] }),
      },
    };
  });
  return {
    $schema: dialect,
    title: "Configuration of a Seamline service",
    type: "object",
    required: ["mode"],
    properties: {
      $schema: editors,
      mode: {
        description: "What the service does.",
        anyOf: [
          { enum: Object.keys(modes), enumDescriptions: Object.values(modes) },
          { $ref: "#/definitions/placeholder" },
        ],
      },
    },
    allOf: [
      ...branches,
      {
        if: { required: ["tls"] },
        // oxlint-disable-next-line unicorn/no-thenable -- it is the schema's own word
        then: { properties: { url: { pattern: "^(https:|\\$\\{)" } } },
        else: { properties: { url: { not: { type: "string", pattern: "^https:" } } } },
      },
    ],
    definitions: {
      placeholder: {
        description: "${NAME} or ${NAME:-default}: a value from the environment.",
        type: "string",
        pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}",
      },
    },
  };
}

/** Wherever more is asked than a text, a placeholder may stand: only the start knows what is put in its place. */
function withPlaceholders(schema: Json): Json {
  const below = (one: unknown): unknown => (isObject(one) ? withPlaceholders(one) : one);
  const { properties, items, additionalProperties, ...own } = schema;
  if (schema["type"] === "object" || schema["type"] === "array")
    return {
      ...own,
      ...(isObject(properties) && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, one]) => [name, below(one)]),
        ),
      }),
      ...(items !== undefined && { items: below(items) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: below(additionalProperties),
      }),
    };
  const { description, default: fallback, examples, ...asked } = schema;
  if (
    asked["type"] === "string" &&
    !("pattern" in asked) &&
    !("enum" in asked) &&
    !("const" in asked)
  )
    return schema;
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [asked, { $ref: "#/definitions/placeholder" }],
  };
}

/** The schema of a segment file (§2.2). src/segment.ts checks the same by hand: it tells more than a schema could. */
export function segmentJsonSchema(): Json {
  const flag = (description: string): Json => ({ type: "boolean", default: false, description });
  return {
    $schema: dialect,
    title: "Segment file of a Seamline application",
    type: "object",
    properties: { $schema: editors },
    patternProperties: {
      // Relative to the source folder, and not out of it.
      "^\\.\\/(?!(?:[^/]*\\/)*\\.\\.(?:\\/|$))[^\\\\]*$": {
        description: "A module: its path in the source folder, with or without extension.",
        type: "object",
        additionalProperties: { $ref: "#/definitions/entry" },
      },
    },
    additionalProperties: false,
    definitions: {
      entry: {
        description: "An exported async function; 'default' is the default export.",
        type: "object",
        required: ["access"],
        properties: {
          access: {
            description: "Who may call it.",
            enum: accesses,
            enumDescriptions: [
              "Anyone.",
              "Services of the deployment, and who shows the trust key.",
              "Nobody from outside of its own node.",
            ],
          },
          version: {
            description: "One to three numbers with dots between them.",
            type: "string",
            pattern: "^\\d{1,9}(\\.\\d{1,9}){0,2}$",
            default: "0.0.0",
          },
          as: {
            description: "The name that callers use, in place of the function's own.",
            type: "string",
            pattern: procedureName.source,
          },
          safe: flag("Pages of other sites may call it by GET."),
          idempotent: flag(
            "It may be sent again when no answer came: running it twice does no harm.",
          ),
        },
        additionalProperties: false,
      },
    },
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
