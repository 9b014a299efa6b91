// What an editor shows beside a key of `defineConfig` is what it shows beside the same key of a JSON file.

import { join } from "node:path";

import { toJsonSchema } from "@valibot/to-json-schema";
import type TypeScript from "typescript";
import { describe, expect, it } from "vitest";

import { schemas } from "../../../server/config-schema.ts";
import { defineConfig } from "../../../server/define-config.ts";
import { root, ts } from "../../_sources.ts";

interface Words {
  readonly description: string;
  readonly default?: unknown;
}

const file = join(root, "server/config-types.ts");
const program = ts.createProgram([file], {
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  target: ts.ScriptTarget.ES2023,
});
const checker = program.getTypeChecker();

/** The comments of the keys of a type, with those of the objects below them. */
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

function said(properties: Json, path: string): [string, Words][] {
  return Object.entries(properties).flatMap(
    ([key, { description, default: fallback, properties: below }]) => [
      [path + key, { description, ...(fallback !== undefined && { default: fallback }) }],
      ...(below === undefined ? [] : said(below, `${path}${key}.`)),
    ],
  );
}

describe("defineConfig", () => {
  it.each(Object.entries(schemas))(
    "has the words of the schema at the keys of mode %s",
    (mode, schema) => {
      const symbol = checker
        .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)
        .find((one) => one.name.toLowerCase() === `${mode}input`);
      const { properties } = toJsonSchema(schema, {
        typeMode: "input",
        ignoreActions: ["raw_check"],
      }) as unknown as { properties: Json };
      const written = Object.fromEntries(commented(checker.getDeclaredTypeOfSymbol(symbol!), ""));
      expect(Object.keys(written).length).toBeGreaterThan(20);
      delete written["mode"];
      const wanted = Object.fromEntries(said(properties, ""));
      delete wanted["mode"];
      expect(written).toEqual(wanted);
    },
  );

  it("gives the object that it was given", () => {
    const config = { mode: "standalone", url: "http://127.0.0.1:3000" } as const;
    expect(defineConfig(config)).toBe(config);
  });
});
