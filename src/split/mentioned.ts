// The names that code mentions for more than to import or to pass them on.

import { child, list, nameOf, type Parse, programOf, walk } from "./tree.ts";

/** Names of variables and members, and texts that may be names: `shop.quote`, `shop["quote"]`. None of text that can't be parsed. */
export function namesIn({
  source,
  file,
  parse,
}: {
  readonly source: string;
  readonly file: string;
  readonly parse: Parse;
}): ReadonlySet<string> {
  const found = new Set<string>();
  const parsed = parse(file, source);
  if (parsed.errors.length > 0) return found;
  for (const statement of list(programOf(parsed), "body")) {
    const isList =
      statement.type === "ExportNamedDeclaration" && child(statement, "declaration") === undefined;
    if (
      isList ||
      statement.type === "ImportDeclaration" ||
      statement.type === "ExportAllDeclaration"
    )
      continue;
    walk(statement, (node) => {
      const name = nameOf(node);
      if (name !== undefined) found.add(name);
    });
  }
  return found;
}
