// The JSON Schemas that the package publishes. Their structure and defaults come from the checks
// (server/config/config-schema.ts), their words from the comments that editors show for the same keys
// (server/config/config-types.ts).

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { toJsonSchema } from "@valibot/to-json-schema";
import ts from "typescript";

const types = join(dirname(fileURLToPath(import.meta.url)), "../server/config/config-types.ts");

/** @typedef {typeof import("../server/config/json-schema.ts")} Module */

/** @param {Module} module `server/config/json-schema.ts`, loaded by whatever runs TypeScript here */
export function createSchemas({ configJsonSchema, segmentJsonSchema }) {
  /** @type {import("../server/config/json-schema.ts").Convert} */
  const convert = (schema) => ({
    ...toJsonSchema(schema, { typeMode: "input", ignoreActions: ["raw_check"] }),
  });
  return { config: configJsonSchema(convert, readWords()), segment: segmentJsonSchema() };
}

/**
 * The comments of the interfaces `<Mode>Input` and of their members, those of nested objects with
 * their paths (`limits.bodyBytes`).
 * @returns {import("../server/config/json-schema.ts").Words}
 */
function readWords() {
  const source = ts.createSourceFile(
    types,
    readFileSync(types, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const interfaces = new Map(
    source.statements
      .filter((statement) => ts.isInterfaceDeclaration(statement))
      .map((declaration) => [declaration.name.text, declaration]),
  );

  /**
   * @param {string} name of an interface
   * @param {string} prefix
   * @returns {[string, string][]}
   */
  const keysOf = (name, prefix) => {
    const declaration = interfaces.get(name);
    if (declaration === undefined) return [];
    const parents = (declaration.heritageClauses ?? []).flatMap((clause) =>
      clause.types.flatMap(({ expression }) => keysOf(expression.getText(), prefix)),
    );
    const own = declaration.members.filter(ts.isPropertySignature).flatMap((member) => {
      const path = prefix + member.name.getText();
      const nested = member.type?.getText().split(" ")[0] ?? "";
      return [
        /** @type {[string, string]} */ ([path, commentOf(member)]),
        ...keysOf(nested, `${path}.`),
      ];
    });
    return [...parents, ...own];
  };

  return new Map(
    [...interfaces].flatMap(([name, declaration]) => {
      const [, mode] = /^(Node|Gateway|Repository|Proxy|Standalone)Input$/.exec(name) ?? [];
      if (mode === undefined) return [];
      const words = { description: commentOf(declaration), keys: new Map(keysOf(name, "")) };
      return [[mode.toLowerCase(), words]];
    }),
  );
}

/** @param {ts.Node} node */
function commentOf(node) {
  const [comment] = ts.getJSDocCommentsAndTags(node);
  return (
    ts.getTextOfJSDocComment(/** @type {ts.JSDoc} */ (comment)?.comment)?.replace(/\s+/g, " ") ?? ""
  );
}
