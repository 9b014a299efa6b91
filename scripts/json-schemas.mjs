// Everything that is made from the schema of a configuration: the JSON Schemas that the package
// publishes, and the committed files that `npm run configuration` writes.

import { toJsonSchema } from "@valibot/to-json-schema";
import { configTypes } from "./config-types.mjs";
import { configurationDocument } from "./docs-configuration.mjs";

/** @typedef {typeof import("../server/config/json-schema.ts")} Module */

/** @param {Module} module `server/config/json-schema.ts`, loaded by whatever runs TypeScript here */
export function createSchemas({ configJsonSchema, segmentJsonSchema }) {
  /** @type {import("../server/config/json-schema.ts").Convert} */
  const convert = (schema) => ({
    ...toJsonSchema(schema, { typeMode: "input", ignoreActions: ["raw_check"] }),
  });
  return { config: configJsonSchema(convert), segment: segmentJsonSchema() };
}

/**
 * The committed files, by their paths.
 *
 * @param {Module} module
 * @returns {Record<string, string>}
 */
export function committedFiles(module) {
  return {
    "server/config/config-types.ts": configTypes(module),
    "docs/reference/configuration.md": configurationDocument(createSchemas(module).config, module),
  };
}
