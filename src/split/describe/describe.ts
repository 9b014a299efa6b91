// Describes a module for a build, before anything is split: exports, parameters, classes, imports.

import type { Parameter } from "../../base/manifest.ts";
import type { Problem } from "../../base/problem.ts";
import type { Module } from "../read/analyze.ts";
import { callableOf } from "../procedures/callable.ts";
import { type ClassDescription, classesOf } from "./classes.ts";
import { type ClientCalls, clientCallsOf } from "./client-calls.ts";
import { positionOf, type SourceText } from "../read/code-frame.ts";
import { exportProblems } from "../procedures/export-problems.ts";
import type { Reexport } from "../read/exports.ts";
import { identifiersInType, importedName, specifierOf } from "../read/node-names.ts";
import { type ModuleReading, readModule } from "../read/read-module.ts";
import { parametersOf, withoutTypes } from "../procedures/read-parameters.ts";
import { type ModuleUses, usesIn, usesOf } from "./uses.ts";
import { signatureOf } from "../procedures/signature.ts";
import { child, list, nameOf, need, type Node, type Parse, stringOf, word } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

export type { ClassDescription, ClassMember, RequiredParameter } from "./classes.ts";

/** An export of a value. Exports of types are left out. */
export interface ModuleExport {
  /** The name that others import. */
  readonly name: string;
  /** The name of the function or class in the source; absent if it has none. */
  readonly ownName?: string;
  /** One-based, like all lines and columns here. */
  readonly line: number;
  readonly column: number;
  /** `wrapped`: another function made it, as in `const f: (title: string) => … = authed(…)`. */
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other" | "reexport";
  /** The origin of a re-export; `name` is `*` for a whole namespace. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /** Another function made it, and nothing tells its parameters: only a route may be like that. */
  readonly untyped?: true;
  /** It returns an async iterator, not a promise. */
  readonly stream?: true;
  /** Of a `wrapped` function: the offset of the function that the wrapper got. */
  readonly code?: number;
  /**
   * For `async`, `async-generator` and `wrapped`. Names that a call can't give are missing here,
   * and in `problems`.
   */
  readonly parameters?: readonly Parameter[];
  /** For the same: parameters and result as they are written, with types and defaults. */
  readonly signature?: string;
  /** Names in these types, and in types of the module that they name. */
  readonly types?: readonly string[];
  /**
   * Why a segment can't name it: not a function, not async, a nested pattern. `splitModule` reports
   * the same problems.
   */
  readonly problems: readonly Problem[];
}

/** A static import, or a dynamic one with a literal. Re-exports are in `exports`. */
export interface ModuleImport {
  readonly specifier: string;
  /** Nothing is left of it when types are stripped. */
  readonly typeOnly: boolean;
  /** `imported` is `default` or `*` for specifiers without a name. */
  readonly names: readonly { readonly imported: string; readonly local: string }[];
  readonly dynamic?: true;
  /**
   * TypeScript that uses none of the names as a value: the import goes with the types, unless
   * `verbatimModuleSyntax` keeps it.
   */
  readonly unused?: true;
}

/** The imports and re-exports of some code, and its requests to the client. */
export interface CodeDescription extends ClientCalls {
  readonly imports: readonly ModuleImport[];
  readonly exports: readonly ModuleExport[];
  /** Specifiers of `export * from "…"`. */
  readonly starReexports: readonly string[];
  readonly uses: ModuleUses;
}

export interface ModuleDescription extends CodeDescription {
  /** The names declared at the top level, exported or not. Imported names are left out. */
  readonly locals: readonly string[];
  readonly classes: readonly ClassDescription[];
  /** Syntax errors. */
  readonly problems: readonly Problem[];
  /** Offset of the first decorator or `accessor` field, which something has to compile. */
  readonly futureSyntax?: number;
}

/** The description of no code. */
export const noCode: CodeDescription = {
  imports: [],
  exports: [],
  starReexports: [],
  uses: { units: [], exports: new Map() },
  startClientCalls: [],
  clientImports: [],
};

/** Describes a module. A syntax error doesn't throw; it is one of the `problems`. */
export function describeModule(input: SourceText & { readonly parse: Parse }): ModuleDescription {
  return describeReading(readModule(input));
}

/** Describes a module that was read already. */
export function describeReading({ module, problems }: ModuleReading): ModuleDescription {
  if (module === undefined) return { ...noCode, locals: [], classes: [], problems };
  const imports = importsOf(module);
  const [future] = module.futureSyntax;
  const imported = new Set(imports.flatMap(({ names }) => names.map(({ local }) => local)));
  return {
    exports: [
      ...localExports(module),
      ...module.reexports.map((reexport) => describeReexport(module, reexport)),
    ],
    locals: [...module.bindings.keys()].filter((name) => !imported.has(name)),
    starReexports: module.stars.map(specifierOf),
    classes: classesOf(module),
    imports,
    uses: usesOf(module),
    problems: [],
    ...clientCallsOf(module),
    ...(future !== undefined && { futureSyntax: future.start }),
  };
}

/** Describes a part of a module from the units in it, without parsing it again. */
export function describePart(
  module: Module,
  units: ReadonlySet<Unit>,
  generated: readonly ModuleImport[],
): CodeDescription {
  const kept = module.units.filter((unit) => units.has(unit));
  const holds = ({ start, end }: Node): boolean =>
    kept.some(({ node }) => node.start <= start && end <= node.end);
  return {
    ...noCode,
    imports: [...importsOf(module, holds), ...generated],
    uses: {
      units: kept.map((unit) => ({ names: unit.names, uses: usesIn(unit), changes: [] })),
      exports: new Map(),
    },
    ...clientCallsOf(module, holds),
  };
}

function localExports(module: Module): ModuleExport[] {
  return module.exports.map((found) => {
    const callable = callableOf(module, found);
    const problems = exportProblems(module, found, callable);
    const { kind, fn, signature, ownName, untyped } = callable;
    const head = {
      name: found.exported,
      ...positionOf(module.source, (fn ?? found.node).start),
      ...(ownName === undefined ? {} : { ownName }),
      kind,
    };
    if (signature === undefined) return { ...head, ...(untyped && { untyped }), problems };
    const read = parametersOf(signature, module);
    const [first, ...others] = read.parameters;
    if (callable.checked !== undefined && signature === fn && first !== undefined)
      read.parameters = [withoutTypes(first), ...others];
    return {
      ...head,
      ...(callable.stream && { stream: true }),
      ...(callable.kind === "wrapped" && callable.fn && { code: callable.fn.start }),
      parameters: read.parameters,
      signature: signatureOf(signature, module),
      types: [...typeNamesOf(signature, module)],
      problems: [...problems, ...read.problems],
    };
  });
}

function typeNamesOf(signature: Node, { types }: Module): ReadonlySet<string> {
  const names = new Set<string>();
  const follow = (node: Node): void => {
    for (const identifier of identifiersInType(node)) {
      const name = word(identifier, "name");
      const declared = names.has(name) ? undefined : types.declared(name);
      names.add(name);
      if (declared !== undefined) follow(declared);
    }
  };
  for (const parameter of list(signature, "params")) follow(parameter);
  const result = child(signature, "returnType");
  if (result !== undefined) follow(result);
  return names;
}

/** Describes a re-export. */
export function describeReexport(
  module: Module,
  { exported, specifier, imported, node }: Reexport,
): ModuleExport {
  return {
    name: exported,
    ...positionOf(module.source, node.start),
    kind: "reexport",
    from: { specifier, name: imported },
    problems: [],
  };
}

/** The imports in a module, or in the nodes that `holds` accepts. */
function importsOf(
  { program, file, units, reexports, dynamicImports }: Module,
  holds: (node: Node) => boolean = () => true,
): ModuleImport[] {
  const imports: ModuleImport[] = [];
  const used = new Set(units.flatMap(({ references }) => references.map(({ name }) => name)));
  const reexported = new Set(reexports.map((reexport) => reexport.source));
  for (const statement of list(program, "body")) {
    if (statement.type !== "ImportDeclaration") continue;
    const all = list(statement, "specifiers");
    const specifiers = all.filter(holds);
    if (specifiers.length === 0 && (all.length > 0 || !holds(statement))) continue;
    const values = specifiers.filter((specifier) => specifier["importKind"] !== "type");
    const typeOnly =
      statement["importKind"] === "type" || (specifiers.length > 0 && values.length === 0);
    const names = specifiers.map((specifier) => ({
      imported: importedName(specifier),
      local: nameOf(need(specifier, "local")) ?? "",
    }));
    const isKept =
      !/\.m?tsx?$/.test(file) ||
      reexported.has(statement) ||
      names.length === 0 ||
      names.some(({ local }) => used.has(local));
    imports.push({
      specifier: specifierOf(statement),
      typeOnly,
      names,
      ...(!typeOnly && !isKept && { unused: true }),
    });
  }
  for (const node of dynamicImports.filter(holds)) {
    const specifier = stringOf(need(node, "source"));
    if (specifier !== undefined)
      imports.push({ specifier, typeOnly: false, names: [], dynamic: true });
  }
  return imports;
}
