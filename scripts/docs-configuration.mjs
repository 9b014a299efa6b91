// Makes docs/reference/configuration.md, the keys of each mode, from the schema of configurations.

/**
 * @typedef {{ type?: string, description?: string, default?: unknown, const?: unknown, enum?: readonly unknown[], anyOf?: readonly Json[], $ref?: string,
 *   items?: Json, additionalProperties?: Json | boolean, properties?: Record<string, Json>, required?: readonly string[] }} Json
 * @typedef {{ properties: Record<string, Json>, allOf: readonly { if: { properties?: { mode?: { const: string } } }, then: Json }[] }} Schema
 */

/**
 * @param {unknown} json the JSON Schema of a configuration
 * @param {import("./json-schemas.mjs").Module} module
 */
export function configurationDocument(json, { modes: allModes, schemas, schemasAt, factsOf }) {
  /** The page of the guide about a key. @param {string} path */
  const guideOf = (path) =>
    allModes
      .flatMap((mode) => schemasAt(schemas[mode], path))
      .flatMap((key) => factsOf(key)?.guide ?? [])[0];
  const schema = /** @type {Schema} */ (json);
  const modes = schema.allOf.flatMap(({ if: condition, then }) => {
    const mode = condition.properties?.mode?.const;
    return mode === undefined
      ? []
      : [{ mode, keys: then.properties ?? {}, required: then.required ?? [] }];
  });
  const [first] = modes;
  if (first === undefined) throw new Error("the schema has no modes");
  const isCommon = (/** @type {string} */ key) =>
    modes.every(({ keys }) => JSON.stringify(keys[key]) === JSON.stringify(first.keys[key]));
  const common = Object.keys(first.keys).filter(
    (key) => !/^(?:mode|\$schema)$/.test(key) && isCommon(key),
  );
  const words = /** @type {{ anyOf: [{ enum: string[], enumDescriptions: string[] }] }} */ (
    /** @type {unknown} */ (schema.properties["mode"])
  ).anyOf[0];
  const modesWith = (/** @type {string} */ key) =>
    modes.flatMap(({ mode, keys }) => (key in keys ? [mode] : [])).join(", ");
  const all = Object.assign({}, ...modes.map(({ keys }) => keys));
  // The guide has a table of the limits, with what happens at each.
  const nested = objectsIn(all).filter(([key]) => key !== "limits");
  return [
    "# Configuration reference",
    "",
    "<!-- Written by `npm run configuration` from server/config/config-schema.ts: change a key or its words there. -->",
    "",
    "Every key of every mode. [The guide](../guide/configuration.md) explains how a file is found, what paths are relative to,",
    "and what errors look like. Every value may be `${NAME}` or `${NAME:-default}`, a variable of the environment.",
    "",
    "`mode` is required and decides which keys there are. `$schema` is allowed in every mode, for [editors](../guide/configuration.md#in-an-editor).",
    "",
    "| mode | what the service does |",
    "|---|---|",
    ...modes.map(
      ({ mode }) =>
        `| [\`${mode}\`](#${mode}) | ${words.enumDescriptions[words.enum.indexOf(mode)]} |`,
    ),
    "",
    "## Every mode",
    "",
    ...table(guideOf, common, first.keys, first.required),
    ...modes.flatMap(({ mode, keys, required }) => [
      `## ${mode}`,
      "",
      `${words.enumDescriptions[words.enum.indexOf(mode)]} Besides the keys of [every mode](#every-mode):`,
      "",
      ...table(
        guideOf,
        Object.keys(keys).filter(
          (key) => !/^(?:mode|\$schema)$/.test(key) && !common.includes(key),
        ),
        keys,
        required,
      ),
    ]),
    ...nested.flatMap(([path, { properties = {}, required = [], description = "" }]) => [
      `## ${path}`,
      "",
      // Each mode does something else with it.
      path.includes(".") || isCommon(path) ? description : `A key of ${modesWith(path)}.`,
      "",
      ...table(guideOf, Object.keys(properties), properties, required, `${path}.`),
    ]),
  ].join("\n");
}

/**
 * The objects among the keys, each with its path, and those in them.
 * @param {Record<string, Json>} keys @param {string} before @returns {[string, Json][]}
 */
function objectsIn(keys, before = "") {
  return Object.entries(keys).flatMap(([key, json]) => {
    const object = objectOf(json);
    if (object === undefined) return [];
    const below = objectsIn(object.properties ?? {}, `${before}${key}.`);
    return [/** @type {[string, Json]} */ ([before + key, object]), ...below];
  });
}

/** The object that a key may be, with the members of all its kinds. @param {Json} json @returns {Json | undefined} */
function objectOf(json) {
  if (json.properties !== undefined) return json;
  const kinds = (json.anyOf ?? []).flatMap((kind) => objectOf(kind) ?? []);
  if (kinds.length < 2) return kinds[0] && { ...kinds[0], description: json.description ?? "" };
  const properties = Object.assign({}, ...kinds.map((kind) => kind.properties));
  return { description: json.description ?? "", properties };
}

/**
 * @param {(path: string) => string | undefined} guideOf
 * @param {readonly string[]} names
 * @param {Record<string, Json>} keys
 * @param {readonly string[]} required
 * @param {string} before the path of the object that has them
 */
function table(guideOf, names, keys, required, before = "") {
  if (names.length === 0) return ["None.", ""];
  const rows = names.map((name) => {
    const key = keys[name] ?? {};
    const guide = guideOf(before + name);
    const more = guide === undefined ? "" : ` [More](../guide/${guide})`;
    const section =
      name === "limits" ? "../guide/limits.md#the-table" : `#${anchorOf(before + name)}`;
    const kind =
      objectOf(key) === undefined
        ? typeOf(key)
        : typeOf(key).replace(/\bobject$/, `[object](${section})`);
    return `| \`${name}\` | ${kind} | ${required.includes(name) ? "required" : defaultOf(key)} | ${key.description ?? ""}${more} |`;
  });
  return ["| key | type | default | meaning |", "|---|---|---|---|", ...rows, ""];
}

/** Of a heading. @param {string} text */
const anchorOf = (text) => text.replaceAll(".", "");

/** @param {Json} schema @returns {string} */
function typeOf({ anyOf, $ref, const: only, enum: words, type, items, additionalProperties }) {
  // Omits placeholders, which are allowed everywhere.
  const kinds = anyOf?.filter((schema) => schema.$ref === undefined).map(typeOf) ?? [];
  if (kinds.length > 0) return [...new Set(kinds)].join(" or ");
  if ($ref !== undefined) return "string";
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (words !== undefined) return words.map((word) => `\`${JSON.stringify(word)}\``).join(" or ");
  if (type === "array") return `list of ${typeOf(items ?? {})}s`;
  if (type === "object" && typeof additionalProperties === "object")
    return `object of ${typeOf(additionalProperties)}s`.replace(/list of strings|ss$/, (end) =>
      end === "ss" ? "s" : "list",
    );
  return type === "integer" ? "number" : (type ?? "string");
}

/** @param {Json} schema */
const defaultOf = (schema) =>
  schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
