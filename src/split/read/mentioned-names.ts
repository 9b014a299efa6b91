// The names that the code of a module uses in some way, other than to import or to re-export them.

import { child, list, namesIn, type Node, type Parse, programOf } from "./tree.ts";

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
  const parsed = parse(file, source);
  const statements = parsed.errors.length > 0 ? [] : list(programOf(parsed), "body");
  return namesIn(statements.filter((statement) => !onlyMovesNames(statement)));
}

function onlyMovesNames(statement: Node): boolean {
  return (
    statement.type === "ImportDeclaration" ||
    statement.type === "ExportAllDeclaration" ||
    (statement.type === "ExportNamedDeclaration" && child(statement, "declaration") === undefined)
  );
}
