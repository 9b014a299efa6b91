// The JSON Schemas that the package publishes, so that editors complete keys and mark wrong ones.
// scripts/build.mjs writes them into schema/.

import type { GenericSchema } from "valibot";

import { accesses } from "../../src/base/access.ts";
import { extraMembers } from "../../src/base/manifest.ts";
import { longestTimeMs } from "../../src/base/protocol.ts";
import { routeMethods } from "../../src/http/route-pattern.ts";
import { procedureName } from "../../src/runtime/segment.ts";
import { procedureFields } from "../../src/runtime/segment-route.ts";
import { alternatives, modes, schemas } from "./config-schema.ts";
import { factsOf, type SchemaNode } from "./schema-key.ts";

export { modes, schemas, sharedKeys } from "./config-schema.ts";
export { factsOf, schemasAt } from "./schema-key.ts";

type Json = { readonly [key: string]: unknown };
/** Converts from valibot to JSON Schema. The build passes it in, as services don't need it. */
export type Convert = (schema: GenericSchema) => Json;

const dialect = "http://json-schema.org/draft-07/schema#";
const editors = { type: "string", description: "Where editors find the schema of this file." };

/** The schema of a configuration: `mode` decides which keys there are. */
export function configJsonSchema(convert: Convert): Json {
  const converted = modes.map((mode) => ({ mode, json: convert(schemas[mode]) }));
  const branches = converted.map(({ mode, json }) => {
    const { type, properties, required } = withPlaceholders(withFacts(json, schemas[mode]));
    const keys = alternatives[mode];
    return {
      if: { properties: { mode: { const: mode } }, required: ["mode"] },
      // oxlint-disable-next-line unicorn/no-thenable -- it is the schema's own word
      then: {
        type,
        required,
        properties: { $schema: editors, ...(properties as Json), mode: { const: mode } },
        additionalProperties: false,
        ...(keys !== undefined && { oneOf: keys.map((key) => ({ required: [key] })) }),
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
          { enum: modes, enumDescriptions: converted.map(({ json }) => json["description"]) },
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

/** Adds the descriptions and defaults of keys, which valibot's converter doesn't know. */
function withFacts({ key: _, title: __, ...json }: Json, node: SchemaNode): Json {
  const { wrapped, entries, options = [] } = node;
  if (wrapped !== undefined) return withFacts(json, wrapped);
  const { anyOf, properties } = json as { anyOf?: readonly Json[]; properties?: Json };
  if (node.type === "union" && anyOf !== undefined)
    return { ...json, anyOf: anyOf.map((kind, at) => withFacts(kind, options[at] as SchemaNode)) };
  if (entries === undefined || properties === undefined) return json;
  const described = Object.entries(entries).map(([name, schema]) => {
    const { description, default: fallback } = factsOf(schema) ?? {};
    return [
      name,
      {
        ...(description !== undefined && { description }),
        ...withFacts(properties[name] as Json, schema),
        ...(fallback !== undefined && { default: fallback }),
      },
    ];
  });
  return { ...json, properties: Object.fromEntries(described) };
}

/**
 * Allows a placeholder wherever the schema asks for more than any string: only the start knows its
 * value.
 */
function withPlaceholders(schema: Json): Json {
  const below = (value: unknown): unknown => (isObject(value) ? withPlaceholders(value) : value);
  const { properties, items, additionalProperties, ...own } = schema;
  if (schema["type"] === "object" || schema["type"] === "array")
    return {
      ...own,
      ...(isObject(properties) && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, below(property)]),
        ),
      }),
      ...(items !== undefined && { items: below(items) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: below(additionalProperties),
      }),
    };
  const { description, default: fallback, examples, ...constraints } = schema;
  if (
    constraints["type"] === "string" &&
    !("pattern" in constraints) &&
    !("enum" in constraints) &&
    !("const" in constraints)
  )
    return schema;
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [constraints, { $ref: "#/definitions/placeholder" }],
  };
}

/** The schema of a segment file. src/runtime/segment.ts checks the same by hand, with better messages. */
export function segmentJsonSchema(): Json {
  const flag = (description: string): Json => ({ type: "boolean", default: false, description });
  const guard: Json = {
    type: "string",
    pattern: "^\\.\\/(?!(?:[^/#]*\\/)*\\.\\.(?:[/#]|$))[^\\\\#]*(?:#[^\\s\\\\#]+)?$",
    examples: ["./auth.ts#signedIn"],
  };
  const guardIs =
    "a module in the source folder, '#' and an exported async function without parameters, which throws to refuse the call.";
  return {
    $schema: dialect,
    title: "Segment file of a Seamline application",
    type: "object",
    properties: {
      $schema: editors,
      $guard: {
        description: `What callers from outside must pass before any public or protected function of this file: ${guardIs}`,
        ...guard,
      },
    },
    patternProperties: {
      // Relative to the source folder, and inside it.
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
              "Services of the deployment, and callers with the trust key.",
              "Only code of its own node.",
            ],
          },
          version: {
            description: "One to three numbers, separated by dots.",
            type: "string",
            pattern: "^\\d{1,9}(\\.\\d{1,9}){0,2}$",
            default: "0.0.0",
          },
          as: {
            description: "The name that callers use instead of the function's own.",
            type: "string",
            pattern: procedureName.source,
          },
          safe: flag("Pages of other sites may call it by GET."),
          idempotent: flag(
            "It may be sent again if no answer came: running it twice does no harm.",
          ),
          resume: flag(
            "Of an async function*: a caller whose stream is cut asks for the rest, and the function begins after getContext().lastEventId. It may be sent again, as with idempotent.",
          ),
          timeoutMs: {
            description:
              "How long a call of it may take, if that is less than the service's limits.callTimeoutMs.",
            type: "integer",
            minimum: 1,
            maximum: longestTimeMs,
          },
          validate: {
            description:
              "Whether arguments of callers from outside are checked by the types of its parameters [true, or what the configuration says].",
            type: "boolean",
          },
          extra: {
            description:
              "What happens to members of arguments that no type names: they don't arrive, do, or are refused.",
            enum: extraMembers,
            default: "drop",
          },
          guard: {
            description: `What callers from outside must pass first: ${guardIs} false: nothing, although the file has a $guard.`,
            anyOf: [guard, { const: false }],
          },
          route: {
            description:
              "Makes it a route: it answers requests for this method and path, with a Request and a Response.",
            type: "string",
            pattern: `^(${routeMethods.map((method) => method.replace("*", "\\*")).join("|")}) /[^/\\s:*@][^\\s]*$`,
            examples: ["POST /webhooks/:provider", "GET /files/*path"],
          },
          crossSite: flag("Of a route: forms of other sites may send it requests."),
          bodyBytes: {
            description: "Of a route: the most bytes that a request's body may have [no limit].",
            type: "integer",
            minimum: 1,
          },
        },
        dependencies: {
          route: { not: { anyOf: procedureFields.map((field) => ({ required: [field] })) } },
          crossSite: ["route"],
          bodyBytes: ["route"],
        },
        additionalProperties: false,
      },
    },
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
