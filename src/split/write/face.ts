// The face: what everyone imports in place of the module. It has a seam for each procedure and no
// code of the module, and it is the same in every build and on every machine, so moving a procedure
// changes nothing that has been loaded. A browser's face also keeps back the procedures that
// browsers can't call: always their FQN and parameters, and their names, too, if no code of the
// page mentions them.

import MagicString from "magic-string";

import type { Module } from "../read/analyze.ts";
import type { Reexport } from "../read/exports.ts";
import { describeReexport, noCode } from "../describe/describe.ts";
import { blanked } from "./kept-text.ts";
import type { LocatedProcedure } from "../procedures/locate-procedures.ts";
import { exportList, FreshNames, importList, listed } from "../read/names.ts";
import { specifierOf } from "../read/node-names.ts";
import { generatedImport, type Part, type PartIds, partOf } from "./part.ts";
import { list, nameOf, need, type Node, stringOf, word } from "../read/tree.ts";

/** The procedures that a browser's face hides, as the page can't call them. */
export interface KeptBack {
  /** Export of a procedure → the error with which its function rejects, instead of calling. */
  readonly closed: ReadonlyMap<string, "ProcedureNotFound" | "Unauthorized">;
  /** Exports and re-exports of such procedures that no code of the page mentions: left out. */
  readonly unnamed: ReadonlySet<string>;
}

/** Writes the face. */
export function writeFace(
  module: Module,
  procedures: readonly LocatedProcedure[],
  ids: PartIds,
  keptBack?: KeptBack,
): Part {
  const names = new FreshNames(module.taken);
  const seam = names.fresh("$seam");
  /** Error → the name under which the face imports it. */
  const errors = new Map<string, string>();
  const text = new MagicString(blanked(module.source));
  const exported: [local: string, exported: string][] = [];
  let done = 0;
  const inSourceOrder = procedures
    .map((procedure) => ({ procedure, start: procedure.unit.node.start }))
    .sort((a, b) => a.start - b.start);
  for (const { procedure, start } of inSourceOrder) {
    const { record, local, unit } = procedure;
    const aliases = module.exports
      .filter(({ units }) => units.includes(unit))
      .map((found) => found.exported)
      .filter((alias) => keptBack?.unnamed.has(alias) !== true);
    if (aliases.length === 0) continue;
    const error = keptBack?.closed.get(record.export);
    const fn = error === undefined ? (local ?? names.fresh("$default")) : names.fresh("$closed");
    exported.push(...aliases.map((alias): [string, string] => [fn, alias]));
    if (error !== undefined && !errors.has(error)) errors.set(error, names.fresh(`$${error}`));
    const code =
      error === undefined
        ? seamCode(procedure, fn, plainParameters(procedure.signature, names), seam, names)
        : `async function${procedure.stream ? "*" : ""} ${fn}() { throw new ${errors.get(error)}(${error === "Unauthorized" ? "" : JSON.stringify(notCallable(aliases))}); }`;
    text.remove(done, start).update(start, start + 1, `${code}\n`);
    done = start + 1;
  }
  if (done < module.source.length) text.remove(done, module.source.length);
  const hasSeams = procedures.some(({ record }) => keptBack?.closed.has(record.export) !== true);
  const imported = [...(hasSeams ? [["seam", seam] as const] : []), ...errors];
  text.prepend(`${importList(imported, ids.graph)}\n`);
  const seamUnits = new Set(procedures.map(({ unit }) => unit));
  const shared = module.exports
    .filter(({ units }) => !units.some((unit) => seamUnits.has(unit)))
    .map((found) => listed(found.exported));
  const reexports = module.reexports.filter(
    (reexport) => keptBack?.unnamed.has(reexport.exported) !== true,
  );
  const statements = [
    exportList(exported),
    shared.length === 0
      ? ""
      : `export { ${shared.join(", ")} } from ${JSON.stringify(ids.shared)};`,
    ...reexports.map(reexportCode),
    ...module.stars.map(
      (star) => `export * from ${JSON.stringify(specifierOf(star))}${attributesOf(star)};`,
    ),
  ];
  text.append(statements.filter((code) => code !== "").join("\n") + "\n");
  return partOf(text, module.file, {
    ...noCode,
    imports: [
      generatedImport(imported, ids.graph),
      ...(shared.length === 0 ? [] : [generatedImport([], ids.shared)]),
    ],
    exports: reexports.map((reexport) => describeReexport(module, reexport)),
    starReexports: module.stars.map(specifierOf),
  });
}

/** The error message for a page that calls such a procedure: only the page's own name for it. */
function notCallable([name = ""]: readonly string[]): string {
  return `Procedure ${name === "default" ? "" : `'${name}' `}not found: pages can't call it`;
}

/**
 * A function declaration, and a `var` that is filled when first needed. Both exist before the
 * module runs, so modules that import each other in a circle can call the procedure as early as
 * they could call the original.
 */
function seamCode(
  { record, stream }: LocatedProcedure,
  fn: string,
  parameters: readonly string[],
  seam: string,
  names: FreshNames,
): string {
  const [held, make] = [names.fresh("$0"), names.fresh("$s0")];
  const text = JSON.stringify({
    fqn: record.fqn,
    version: record.version,
    parameters: record.parameters,
    ...(stream && { stream: true }),
  });
  return [
    `function ${fn}(${parameters.join(", ")}) { return (${held} || ${make}()).run.apply(this, arguments); }`,
    `var ${held}; function ${make}() { return ${held} ??= ${seam}(${text}${stream ? `, ${fn}` : ""}); } ${make}();`,
  ].join(" ");
}

/** As many plain names as `length` counts. Defaults and patterns could show code of the body. */
function plainParameters(signature: Node, names: FreshNames): string[] {
  const parameters: string[] = [];
  for (const parameter of list(signature, "params")) {
    if (parameter.type === "AssignmentPattern" || parameter.type === "RestElement") break;
    const name = nameOf(parameter);
    if (name !== "this") parameters.push(name ?? names.fresh(`arg${parameters.length}`));
  }
  return parameters;
}

function reexportCode({ exported, imported, specifier, source }: Reexport): string {
  const from = `from ${JSON.stringify(specifier)}${attributesOf(source)};`;
  if (imported === "*") return `export * as ${listed(exported)} ${from}`;
  return `export { ${imported === exported ? listed(exported) : `${listed(imported)} as ${listed(exported)}`} } ${from}`;
}

/** The import attributes of a statement: ` with { type: "json" }`. */
function attributesOf(statement: Node): string {
  const pairs = list(statement, "attributes").map((attribute) => {
    const key = need(attribute, "key");
    const name = word(key, "name");
    const value = JSON.stringify(stringOf(need(attribute, "value")));
    return `${name === "" ? JSON.stringify(stringOf(key)) : name}: ${value}`;
  });
  return pairs.length === 0 ? "" : ` with { ${pairs.join(", ")} }`;
}
