// Files of packages: their display names and their imports, as modules or CommonJS.

import { relative } from "node:path";

import type { Parse } from "../../../src/split/write/split-module.ts";
import { slashed } from "../../files/sources.ts";
import {
  child,
  list,
  nameOf,
  need,
  type Node,
  programOf,
  stringOf,
  walk,
} from "../../../src/split/read/tree.ts";

/**
 * Specifiers of imports, re-exports, `import()` and `require()` with a literal; none if the text
 * can't be parsed.
 */
export function importedByCode(file: string, source: string, parse: Parse): readonly string[] {
  const parsed = parse(file, source);
  if (parsed.errors.length > 0) return [];
  const found = new Set<string>();
  const take = (node: Node | undefined): void => {
    const specifier = stringOf(node);
    if (specifier !== undefined) found.add(specifier);
  };
  walk(programOf(parsed), (node) => {
    if (node["importKind"] === "type" || node["exportKind"] === "type") return false;
    if (
      node.type === "ImportDeclaration" ||
      node.type === "ExportAllDeclaration" ||
      node.type === "ExportNamedDeclaration"
    )
      take(child(node, "source"));
    else if (node.type === "ImportExpression") take(need(node, "source"));
    else if (node.type === "CallExpression" && nameOf(need(node, "callee")) === "require")
      take(list(node, "arguments")[0]);
    return true;
  });
  return [...found];
}

/** The display name of a file: relative to the application folder, or in its package. */
export function nameOfFile(
  root: string,
  file: string,
): { readonly name: string; readonly package?: string } {
  const [, path] = /.*\/node_modules\/(.+)$/.exec(slashed(file)) ?? [];
  if (path === undefined) return { name: slashed(relative(root, file)) };
  return { name: path, package: path.split("/", path.startsWith("@") ? 2 : 1).join("/") };
}
