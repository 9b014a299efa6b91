// Editors must show the same for a key in `defineConfig` and in a JSON file.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import type TypeScript from "typescript";
import { describe, expect, it } from "vitest";

import { committedFiles, createSchemas } from "../../../scripts/json-schemas.mjs";
import { schemas } from "../../../server/config/config-schema.ts";
import { defineConfig } from "../../../server/config/define-config.ts";
import * as jsonSchema from "../../../server/config/json-schema.ts";
import { root, ts } from "../../_sources.ts";

interface Words {
  readonly description: string;
  readonly default?: unknown;
}

const file = join(root, "server/config/config-types.ts");
const program = ts.createProgram([file], {
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  target: ts.ScriptTarget.ES2023,
});
const checker = program.getTypeChecker();

/** The comments of a type's keys, including those of nested objects. */
function commented(type: TypeScript.Type, path: string): [string, Words][] {
  return checker.getPropertiesOfType(type).flatMap((key) => {
    const name = path + key.name;
    const description = ts.displayPartsToString(key.getDocumentationComment(checker));
    const fallback = key.getJsDocTags(checker).find((tag) => tag.name === "default");
    const words: Words = {
      description,
      ...(fallback !== undefined && {
        default: JSON.parse(ts.displayPartsToString(fallback.text)) as unknown,
      }),
    };
    const below = checker.getNonNullableType(checker.getTypeOfSymbol(key));
    const isOurs = below.symbol?.declarations?.[0]?.getSourceFile().fileName === file;
    return [[name, words], ...(isOurs ? commented(below, `${name}.`) : [])];
  });
}

type Json = Readonly<Record<string, Words & { readonly properties?: Json }>>;

function published(properties: Json, path: string): [string, Words][] {
  return Object.entries(properties).flatMap(
    ([key, { description, default: fallback, properties: below }]) => [
      [path + key, { description, ...(fallback !== undefined && { default: fallback }) }],
      ...(below === undefined ? [] : published(below, `${path}${key}.`)),
    ],
  );
}

const { config } = createSchemas(jsonSchema) as unknown as {
  readonly config: {
    readonly allOf: readonly {
      readonly if: { readonly properties?: { readonly mode?: { readonly const: string } } };
      readonly then: { readonly properties: Json };
    }[];
  };
};

it.each(Object.entries(committedFiles(jsonSchema)))(
  "%s is what the schema of configurations says",
  (path, text) =>
    expect(readFileSync(join(root, path), "utf8"), "run: npm run configuration").toBe(text),
);

describe("defineConfig", () => {
  it.each(Object.keys(schemas))(
    "editors show the same comments and defaults for the keys of a %s in TypeScript and in JSON",
    (mode) => {
      const symbol = checker
        .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)
        .find(({ name }) => name.toLowerCase() === `${mode}input`);
      const inTypes = Object.fromEntries(commented(checker.getDeclaredTypeOfSymbol(symbol!), ""));
      const branch = config.allOf.find(
        ({ if: { properties } }) => properties?.mode?.const === mode,
      );
      const inSchema = Object.fromEntries(published(branch!.then.properties, ""));
      for (const words of [inTypes, inSchema]) delete words["mode"];
      delete inSchema["$schema"];
      expect(Object.keys(inTypes).length).toBeGreaterThan(20);
      expect(inSchema).toEqual(inTypes);
      expect(Object.values(inTypes).filter(({ description }) => description === "")).toEqual([]);
    },
  );

  it("returns its argument", () => {
    const configuration = { mode: "standalone", url: "http://127.0.0.1:3000" } as const;
    expect(defineConfig(configuration)).toBe(configuration);
  });
});
