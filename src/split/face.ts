// The face: what everyone imports in place of the module. It is the same in every build and on every machine, so moving
// a procedure changes nothing that has been loaded. It holds no text of the source but names. What callers in browsers can't
// call is kept back from theirs: its name where no code of theirs has it, and its FQN and parameters in any case.

import MagicString from "magic-string";

import type { Module, Reexport } from "./analyze.ts";
import { specifierOf } from "./analyze.ts";
import { allBlank } from "./blank.ts";
import { exportList, importList, listed, Names } from "./names.ts";
import { partOf } from "./part.ts";
import type { Procedure } from "./procedures.ts";
import type { KeptBack, Part, SplitInput } from "./split-module.ts";
import { list, nameOf, type Node, stringOf, word } from "./tree.ts";

/** Writes the face. */
export function writeFace(
  module: Module,
  procedures: readonly Procedure[],
  ids: SplitInput["ids"],
  keptBack?: KeptBack,
): Part {
  const names = new Names(module.taken);
  const seam = names.fresh("$seam");
  const errors = new Map<string, string>();
  const text = new MagicString(allBlank(module.source));
  const pairs: [string, string][] = [];
  let done = 0;
  const inOrder = procedures
    .map((procedure) => ({ procedure, at: procedure.unit.node.start }))
    .sort((one, other) => one.at - other.at);
  for (const { procedure, at } of inOrder) {
    const { record, local, unit } = procedure;
    const exported = module.exports
      .filter((one) => one.units.includes(unit))
      .map((one) => one.exported);
    const aliases = exported.filter((one) => keptBack?.unnamed.has(one) !== true);
    if (aliases.length === 0) continue;
    const error = keptBack?.closed.get(record.export);
    const fn = error === undefined ? (local ?? names.fresh("$default")) : names.fresh("$closed");
    pairs.push(...aliases.map((one): [string, string] => [fn, one]));
    if (error !== undefined && !errors.has(error)) errors.set(error, names.fresh(`$${error}`));
    const written =
      error === undefined
        ? seamOf(record, fn, parameterNames(procedure.signature, names), seam, names)
        : `async function ${fn}() { throw new ${errors.get(error)}(${error === "Unauthorized" ? "" : JSON.stringify(notCallable(aliases))}); }`;
    text.remove(done, at).update(at, at + 1, `${written}\n`);
    done = at + 1;
  }
  if (done < module.source.length) text.remove(done, module.source.length);
  const isSeamed = procedures.some((one) => keptBack?.closed.has(one.record.export) !== true);
  const taken = [...(isSeamed ? [["seam", seam] as const] : []), ...errors];
  text.prepend(`${importList(taken, ids.graph)}\n`);
  const units = new Set(procedures.map((one) => one.unit));
  const shared = module.exports
    .filter((one) => !one.units.some((unit) => units.has(unit)))
    .map((one) => listed(one.exported));
  const behind = [
    exportList(pairs),
    shared.length === 0
      ? ""
      : `export { ${shared.join(", ")} } from ${JSON.stringify(ids.shared)};`,
    ...module.reexports
      .filter((one) => keptBack?.unnamed.has(one.exported) !== true)
      .map(reexportOf),
    ...module.stars.map(
      (one) => `export * from ${JSON.stringify(specifierOf(one))}${attributesOf(one)};`,
    ),
  ];
  text.append(behind.filter((one) => one !== "").join("\n") + "\n");
  return partOf(text, module.file);
}

/** What a page is told that calls such a procedure: no more than it says itself. */
function notCallable([name = ""]: readonly string[]): string {
  return `Procedure ${name === "default" ? "" : `'${name}' `}not found: pages can't call it`;
}

/**
 * A `var` made when first needed, and a function declaration: both are there before the module runs, so that modules
 * that import each other in a circle may call it as early as they could call the original.
 */
function seamOf(
  record: Procedure["record"],
  fn: string,
  parameters: readonly string[],
  seam: string,
  names: Names,
): string {
  const [held, make] = [names.fresh("$0"), names.fresh("$s0")];
  const text = JSON.stringify({
    fqn: record.fqn,
    version: record.version,
    parameters: record.parameters,
  });
  return [
    `function ${fn}(${parameters.join(", ")}) { return (${held} || ${make}()).run.apply(this, arguments); }`,
    `var ${held}; function ${make}() { return ${held} ??= ${seam}(${text}); } ${make}();`,
  ].join(" ");
}

/** As many plain names as the function's `length` counts: defaults and patterns could say what only the body may. */
function parameterNames(signature: Node, names: Names): string[] {
  const found: string[] = [];
  for (const one of list(signature, "params")) {
    if (one.type === "AssignmentPattern" || one.type === "RestElement") break;
    const name = nameOf(one);
    if (name !== "this") found.push(name ?? names.fresh(`arg${found.length}`));
  }
  return found;
}

function reexportOf({ exported, imported, specifier, source }: Reexport): string {
  const from = `from ${JSON.stringify(specifier)}${attributesOf(source)};`;
  if (imported === "*") return `export * as ${listed(exported)} ${from}`;
  return `export { ${imported === exported ? listed(exported) : `${listed(imported)} as ${listed(exported)}`} } ${from}`;
}

function attributesOf(statement: Node): string {
  const pairs = list(statement, "attributes").map((one) => {
    const key = one["key"] as Node;
    return `${word(key, "name") === "" ? JSON.stringify(stringOf(key)) : word(key, "name")}: ${JSON.stringify(stringOf(one["value"] as Node))}`;
  });
  return pairs.length === 0 ? "" : ` with { ${pairs.join(", ")} }`;
}
