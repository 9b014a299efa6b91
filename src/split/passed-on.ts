// A module that passes on what others declare (`export { quote, reserve } from "./quote.ts"`), without some of it.

import MagicString from "magic-string";

import { analyze, type Module } from "./analyze.ts";
import { allBlank } from "./blank.ts";
import { partOf } from "./part.ts";
import type { Part, SplitInput } from "./split-module.ts";
import { child, list, nameOf, type Node } from "./tree.ts";

/** Leaves the re-exports of these names out, and what only they import. */
export function withoutReexports(
  input: Pick<SplitInput, "source" | "file" | "parse">,
  left: ReadonlySet<string>,
): Part {
  const { source, file, parse } = input;
  const parsed = parse(file, source);
  if (parsed.errors.length > 0) return partOf(new MagicString(source), file);
  const module = analyze({ file, source, parse }, parsed);
  const dropped = new Set(
    module.reexports.filter((one) => left.has(one.exported)).map((one) => one.node),
  );
  for (const unit of module.units)
    if (unit.kind === "import" && isPassedOnOnly(module, unit.names, dropped))
      dropped.add(unit.node);
  // A source map has the text that is edited.
  const text = new MagicString(
    [...dropped].reduce((blanked, { start, end }) => blankIn(blanked, start, end), source),
  );
  for (const statement of list(module.program, "body"))
    // `export default reserve`.
    if (dropped.has(statement)) text.remove(statement.start, statement.end);
    else if (list(statement, "specifiers").some((one) => dropped.has(one)))
      rewrite(text, source, statement, dropped);
  return partOf(text, file);
}

/** Whether a name is imported for such re-exports alone. */
function isPassedOnOnly(
  module: Module,
  [name = ""]: readonly string[],
  dropped: ReadonlySet<Node>,
): boolean {
  const exports = module.reexports
    .filter((one) => one.source.type === "ImportDeclaration" && localOf(one.node) === name)
    .map((one) => one.node);
  const isUsed = module.units.some((unit) => unit.references.some((one) => one.name === name));
  return exports.length > 0 && exports.every((one) => dropped.has(one)) && !isUsed;
}

/** What an export of something imported is called in its module. */
function localOf(node: Node): string | undefined {
  return nameOf(child(node, node.type === "ExportDefaultDeclaration" ? "declaration" : "local"));
}

/** The specifiers that stay: a default import, a namespace, and names in braces. */
function rewrite(
  text: MagicString,
  source: string,
  statement: Node,
  dropped: ReadonlySet<Node>,
): void {
  const all = list(statement, "specifiers");
  const kept = all.filter((one) => !dropped.has(one));
  const textOf = (one: Node): string => source.slice(one.start, one.end);
  const isNamed = (one: Node): boolean =>
    one.type === "ImportSpecifier" || one.type === "ExportSpecifier";
  const named = kept.filter(isNamed).map(textOf);
  const outside = kept.filter((one) => !isNamed(one)).map(textOf);
  const inside = named.length > 0 || outside.length === 0 ? [`{ ${named.join(", ")} }`] : [];
  const from = child(statement, "source");
  // With its attributes.
  const behind =
    from === undefined ? "" : ` from ${source.slice(from.start, statement.end).replace(/;$/, "")}`;
  const word = statement.type === "ImportDeclaration" ? "import" : "export";
  text.overwrite(
    statement.start,
    statement.end,
    `${word} ${[...outside, ...inside].join(", ")}${behind};`,
  );
}

function blankIn(text: string, start: number, end: number): string {
  return text.slice(0, start) + allBlank(text.slice(start, end)) + text.slice(end);
}
