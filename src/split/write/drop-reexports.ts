// Rewrites a module that re-exports what others declare, `export { quote, reserve } from
// "./quote.ts"`, without some of these names. A browser must not learn the names of procedures that
// it can't call.

import MagicString from "magic-string";

import type { Module } from "../read/analyze.ts";
import { noCode } from "../describe/describe.ts";
import { blanked } from "./kept-text.ts";
import { type Part, partOf } from "./part.ts";
import type { ModuleReading } from "../read/read-module.ts";
import { child, list, nameOf, type Node } from "../read/tree.ts";

/** The module without the re-exports called `names`, and without imports that only they need. */
export function dropReexports(
  { source, file, module }: ModuleReading,
  names: ReadonlySet<string>,
): Part {
  if (module === undefined) return partOf(new MagicString(source), file, noCode);
  const dropped = new Set(
    module.reexports.filter(({ exported }) => names.has(exported)).map(({ node }) => node),
  );
  for (const unit of module.units)
    if (unit.kind === "import" && isOnlyReexported(module, unit.names, dropped))
      dropped.add(unit.node);
  // The source map contains the text that is edited, so what is dropped has to be blank before.
  const text = new MagicString(
    [...dropped].reduce((kept, { start, end }) => blankedRange(kept, start, end), source),
  );
  for (const statement of list(module.program, "body"))
    // The whole statement is dropped if it is `export default reserve`.
    if (dropped.has(statement)) text.remove(statement.start, statement.end);
    else if (list(statement, "specifiers").some((specifier) => dropped.has(specifier)))
      rewriteSpecifiers(text, source, statement, dropped);
  return partOf(text, file, noCode);
}

/** Whether a name is imported for dropped re-exports alone. */
function isOnlyReexported(
  module: Module,
  [name = ""]: readonly string[],
  dropped: ReadonlySet<Node>,
): boolean {
  const exports = module.reexports
    .filter(({ node, source }) => source.type === "ImportDeclaration" && localName(node) === name)
    .map(({ node }) => node);
  const isUsed = module.units.some(({ references }) =>
    references.some((reference) => reference.name === name),
  );
  return exports.length > 0 && exports.every((node) => dropped.has(node)) && !isUsed;
}

/** The imported name that an export statement or specifier refers to. */
function localName(node: Node): string | undefined {
  return nameOf(child(node, node.type === "ExportDefaultDeclaration" ? "declaration" : "local"));
}

/** Rewrites a statement with the specifiers that stay: a default, a namespace, names in braces. */
function rewriteSpecifiers(
  text: MagicString,
  source: string,
  statement: Node,
  dropped: ReadonlySet<Node>,
): void {
  const kept = list(statement, "specifiers").filter((specifier) => !dropped.has(specifier));
  const textOf = ({ start, end }: Node): string => source.slice(start, end);
  const isNamed = ({ type }: Node): boolean =>
    type === "ImportSpecifier" || type === "ExportSpecifier";
  const named = kept.filter(isNamed).map(textOf);
  const unnamed = kept.filter((specifier) => !isNamed(specifier)).map(textOf);
  const braces = named.length > 0 || unnamed.length === 0 ? [`{ ${named.join(", ")} }`] : [];
  const from = child(statement, "source");
  // Up to the statement's end, which includes import attributes.
  const fromClause =
    from === undefined ? "" : ` from ${source.slice(from.start, statement.end).replace(/;$/, "")}`;
  const keyword = statement.type === "ImportDeclaration" ? "import" : "export";
  text.overwrite(
    statement.start,
    statement.end,
    `${keyword} ${[...unnamed, ...braces].join(", ")}${fromClause};`,
  );
}

function blankedRange(text: string, start: number, end: number): string {
  return text.slice(0, start) + blanked(text.slice(start, end)) + text.slice(end);
}
