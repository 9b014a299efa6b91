// Makes server/config/config-types.ts from the schema: types that are inferred from it would name
// valibot, which is bundled, in the package's declarations, and editors would show no words for a key.

import * as v from "valibot";

/**
 * @typedef {import("./json-schemas.mjs").Module} Module
 * @typedef {import("../server/config/schema-key.ts").SchemaNode} Node
 */

/** @param {Module} module */
export function configTypes({ modes, schemas, sharedKeys, factsOf }) {
  const writer = new Writer(factsOf);
  const shared = Object.entries(sharedKeys).map(([name, entries]) => ({ name, entries }));
  const inputs = modes.map((mode) => {
    const { entries } = schemas[mode];
    const parents = shared.filter((group) =>
      Object.entries(group.entries).every(([key, schema]) => entries[key] === schema),
    );
    const own = Object.entries(entries).filter(
      ([key]) => !parents.some((parent) => key in parent.entries),
    );
    const heritage = parents.map(({ name }) => name).join(", ");
    return [
      comment(v.getDescription(schemas[mode]) ?? ""),
      `export interface ${nameOf(mode)}Input extends ${heritage} ${writer.body(own)}`,
    ].join("\n");
  });
  const groups = shared.map(
    ({ name, entries }) => `interface ${name} ${writer.body(Object.entries(entries))}`,
  );
  const filled = [
    ...shared.map(({ name, entries }) => ({ name: name.replace("Input", ""), entries })),
    ...modes.map((mode) => ({ name: nameOf(mode), entries: schemas[mode].entries })),
  ].flatMap(({ name, entries }) => {
    const names = Object.keys(entries).filter((key) => isFilled(entries[key]));
    // The keys of every mode have a type of their own only as they are written.
    if (names.length === 0 && name === "Common") return [];
    return `export type ${name}Config = ${filledType(`${name}Input`, names)};`;
  });
  const union = (/** @type {string} */ ending) =>
    modes.map((mode) => nameOf(mode) + ending).join(" | ");
  return `${[
    "// Written by `npm run configuration` from config-schema.ts: change a key or its words there.\n" +
      "// A configuration as it is written (`…Input`), and as it is after the checks (`…Config`), with\n" +
      "// defaults filled in, absolute paths, and addresses without a slash at the end.",
    `/** What a service does. */\nexport type Mode = ${modes.map((mode) => JSON.stringify(mode)).join(" | ")};`,
    ...writer.named.values(),
    ...groups,
    ...inputs,
    `/** A configuration as it is written; \`mode\` decides which keys there are. */\nexport type ConfigInput = ${union("Input")};`,
    "/** `Input` with the defaults of `Keys` filled in. */\ntype Filled<Input, Keys extends keyof Input> = Omit<Input, Keys> & {\n  readonly [Key in Keys]-?: Exclude<Input[Key], undefined>;\n};",
    filled.join("\n"),
    `/** A checked configuration. */\nexport type Config = ${union("Config")};`,
  ].join("\n\n")}\n`;
}

/** Writes types, and collects those that have a name. */
class Writer {
  /** @type {Map<string, string>} */
  named = new Map();
  #factsOf;

  /** @param {Module["factsOf"]} factsOf */
  constructor(factsOf) {
    this.#factsOf = factsOf;
  }

  /** @param {readonly [string, Node][]} entries */
  body(entries, indent = "") {
    const lines = entries.flatMap(([name, schema]) => {
      const facts = this.#factsOf(schema);
      const isOptional = schema.type === "optional";
      const type = this.#typeOf(schema, `${indent}  `) + (isOptional ? " | undefined" : "");
      return [
        ...(facts === undefined ? [] : [comment(facts.description, facts.default)]),
        `readonly ${name}${isOptional ? "?" : ""}: ${type};`,
      ].map((line) => `${indent}  ${line}`);
    });
    return `{\n${lines.join("\n")}\n${indent}}`;
  }

  /** @param {Node} schema @param {string} indent @returns {string} */
  #typeOf(schema, indent) {
    if (schema.wrapped !== undefined) return this.#typeOf(schema.wrapped, indent);
    const name = v.getTitle(/** @type {v.GenericSchema} */ (/** @type {unknown} */ (schema)));
    if (name === undefined) return this.#bare(schema, indent);
    if (!this.named.has(name))
      this.named.set(
        name,
        schema.type === "strict_object"
          ? `export interface ${name} ${this.#bare(schema, "")}`
          : `export type ${name} =${this.#kinds(schema, "    ")
              .map((kind) => `\n  | ${kind}`)
              .join("")};`,
      );
    return name;
  }

  /** @param {Node} schema @param {string} indent */
  #kinds({ options = [] }, indent) {
    return options.map((kind) => this.#typeOf(/** @type {Node} */ (kind), indent));
  }

  /** @param {Node} schema @param {string} indent @returns {string} */
  #bare(schema, indent) {
    const { type, entries = {}, options = [], item, value } = schema;
    if (type === "union") return [...new Set(this.#kinds(schema, indent))].join(" | ");
    if (type === "strict_object") return this.body(Object.entries(entries), indent);
    if (type === "picklist") return options.map((word) => JSON.stringify(word)).join(" | ");
    if (type === "literal")
      return JSON.stringify(/** @type {{ literal?: unknown }} */ (schema).literal);
    if (item !== undefined) return `readonly ${this.#typeOf(item, indent)}[]`;
    if (value !== undefined) return `Readonly<Record<string, ${this.#typeOf(value, indent)}>>`;
    if (/^(?:string|number|boolean)$/.test(type)) return type;
    throw new Error(
      `there is no type for the schema '${type}': add one in scripts/config-types.mjs`,
    );
  }
}

/** @param {string} mode */
const nameOf = (mode) => mode.charAt(0).toUpperCase() + mode.slice(1);

/** @param {unknown} schema */
const isFilled = (schema) => /** @type {{ default?: unknown }} */ (schema).default !== undefined;

/** @param {string} description @param {unknown} [fallback] */
function comment(description, fallback) {
  const tag = fallback === undefined ? "" : ` @default ${JSON.stringify(fallback)}`;
  return `/** ${(description + tag).replaceAll("*/", "*\\/")} */`;
}

/** Broken into lines as the formatter does. @param {string} input @param {readonly string[]} names */
function filledType(input, names) {
  if (names.length === 0) return input;
  const keys = names.map((name) => JSON.stringify(name)).join(" | ");
  return names.length > 3 ? `Filled<\n  ${input},\n  ${keys}\n>` : `Filled<${input}, ${keys}>`;
}
