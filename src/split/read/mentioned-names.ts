// The names that the code of a module uses in some way, other than to import or to re-export them.

import { child, list, nameOf, type Node, type Parse, programOf, walk } from "./tree.ts";

/**
 * Names of variables and members, and strings that may be names: `shop.quote`, `shop["quote"]`.
 * Empty if the text can't be parsed.
 */
export function mentionedNames({
  source,
  file,
  parse,
}: {
  readonly source: string;
  readonly file: string;
  readonly parse: Parse;
}): ReadonlySet<string> {
  const names = new Set<string>();
  const parsed = parse(file, source);
  if (parsed.errors.length > 0) return names;
  for (const statement of list(programOf(parsed), "body")) {
    if (onlyMovesNames(statement)) continue;
    walk(statement, (node) => {
      const name = nameOf(node);
      if (name !== undefined) names.add(name);
    });
  }
  return names;
}

function onlyMovesNames(statement: Node): boolean {
  return (
    statement.type === "ImportDeclaration" ||
    statement.type === "ExportAllDeclaration" ||
    (statement.type === "ExportNamedDeclaration" && child(statement, "declaration") === undefined)
  );
}
