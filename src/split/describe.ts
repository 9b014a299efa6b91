// What a build has to know of a module before anything is split: its exports, parameters, classes and imports.

import type { Parameter } from "../manifest.ts";
import type { Problem } from "../problem.ts";
import { analyze, importedName, type Module, type Reexport, specifierOf } from "./analyze.ts";
import { callableOf, refusals } from "./callable.ts";
import { classesOf } from "./classes.ts";
import { clientCallsOf } from "./client-calls.ts";
import { futureSyntax } from "./future-syntax.ts";
import { parseProblems, placeOf } from "./mark.ts";
import { parametersOf } from "./parameters.ts";
import { signatureOf } from "./signature.ts";
import { list, nameOf, need, type Parse, stringOf, walk } from "./tree.ts";

/** One value export (types are none). */
export interface ModuleExport {
  /** Under this name others import it. */
  readonly name: string;
  /** The name that the function or class has in the source; absent where it has none (decisions §1). */
  readonly ownName?: string;
  /** One-based, as all lines and columns here. */
  readonly line: number;
  readonly column: number;
  /** `wrapped`: `const f: (title: string) => Promise<…> = withAuth(async …)`, whose type gives the parameters. */
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other" | "reexport";
  /** Where a re-export comes from; `name` is `*` for a whole namespace. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /** It gives one value after the other, and no promise. */
  readonly generator?: true;
  /** Of `async`, `async-generator` and `wrapped`. Names that no call could give are left out, see `problems`. */
  readonly parameters?: readonly Parameter[];
  /** Of the same: parameters and result as they are written, types and defaults too. */
  readonly signature?: string;
  /** What forbids a segment to name it (§8): no function, not async, a nested pattern. `splitModule` reports the same ones. */
  readonly problems: readonly Problem[];
}

/** An exported class, as its source says (§2.3). What it has from parents in the same file that are not exported is included. */
export interface ClassDescription {
  /** Empty for `export default class {}`. */
  readonly name: string;
  readonly export: string;
  /** Local name, or the text of the expression, of the parent. */
  readonly superclass?: string;
  /** The constructor's: `...x` for a rest, `""` for a pattern; absent when the parent's constructor stands. */
  readonly parameters?: readonly string[];
  /** Those of them that have a default. */
  readonly defaults?: readonly string[];
  /** One of these is a pattern without a default. */
  readonly pattern?: true;
  /** The first computed name of a member that the text doesn't tell, as it is written. */
  readonly unread?: string;
  /** Public instance members that hold data. */
  readonly members: readonly ClassMember[];
}

export interface ClassMember {
  readonly name: string;
  readonly readable: boolean;
  readonly writable: boolean;
}

/** One `import` of a module, or a dynamic one with a literal. Re-exports stand in `exports` and `starReexports`. */
export interface ModuleImport {
  readonly specifier: string;
  /** Nothing of it is left when types are stripped. */
  readonly typeOnly: boolean;
  /** `imported` is `default` and `*` where it has no name. */
  readonly names: readonly { readonly imported: string; readonly local: string }[];
  readonly dynamic?: true;
  /** TypeScript that mentions none of the names as a value: the import goes with the types, unless `verbatimModuleSyntax` keeps it. */
  readonly unused?: true;
}

export interface ModuleDescription {
  readonly exports: readonly ModuleExport[];
  /** All that is declared at the top, exported or not; what is imported isn't. */
  readonly locals: readonly string[];
  /** Specifiers of `export * from '…'`. */
  readonly starReexports: readonly string[];
  readonly classes: readonly ClassDescription[];
  readonly imports: readonly ModuleImport[];
  /** What makes the module unreadable, whatever segments say. */
  readonly problems: readonly Problem[];
  /** `startClient('ui', …)`: the segments that it names, or that it doesn't name them literally (decisions §6). */
  readonly startClientCalls: readonly (StartClientCall | { readonly problem: Problem })[];
  /** Literal arguments of `client.import('…')`. */
  readonly clientImports: readonly string[];
  /** Offset of the first decorator or `accessor` field: somebody has to compile it. */
  readonly futureSyntax?: number;
}

export interface StartClientCall {
  readonly segments: readonly string[];
}

/** Of a part that holds nothing. */
export const emptyDescription: ModuleDescription = {
  exports: [],
  locals: [],
  starReexports: [],
  classes: [],
  imports: [],
  problems: [],
  startClientCalls: [],
  clientImports: [],
};

/** Reads what a build has to know of a module. Text that can't be parsed gives `problems`, never an exception. */
export function describeModule(input: {
  readonly source: string;
  readonly file: string;
  readonly module: string;
  readonly parse: Parse;
}): ModuleDescription {
  const parsed = input.parse(input.file, input.source);
  if (parsed.errors.length > 0) {
    return { ...emptyDescription, problems: parseProblems(input, parsed.errors) };
  }
  const module = analyze(input, parsed);
  const imports = importsOf(module);
  const [future] = futureSyntax(module.program, module.source, module.comments);
  const imported = new Set(imports.flatMap((one) => one.names.map(({ local }) => local)));
  return {
    exports: [...localExports(module), ...module.reexports.map((one) => reexportOf(module, one))],
    locals: [...module.bindings.keys()].filter((name) => !imported.has(name)),
    starReexports: module.stars.map(specifierOf),
    classes: classesOf(module),
    imports,
    problems: [],
    ...clientCallsOf(module, module.program),
    ...(future !== undefined && { futureSyntax: future.start }),
  };
}

function localExports(module: Module): ModuleExport[] {
  return module.exports.map((found) => {
    const callable = callableOf(module, found);
    const problems = refusals(module, found, callable);
    const { kind, fn, signature, ownName } = callable;
    const head = {
      name: found.exported,
      ...placeOf(module.source, (fn ?? found.node).start),
      ...(ownName === undefined ? {} : { ownName }),
      kind,
    };
    if (signature === undefined) return { ...head, problems };
    const read = parametersOf(signature, module);
    return {
      ...head,
      ...(callable.generator && { generator: true }),
      parameters: read.parameters,
      signature: signatureOf(signature, module),
      problems: [...problems, ...read.problems],
    };
  });
}

function reexportOf(
  module: Module,
  { exported, specifier, imported, node }: Reexport,
): ModuleExport {
  return {
    name: exported,
    ...placeOf(module.source, node.start),
    kind: "reexport",
    from: { specifier, name: imported },
    problems: [],
  };
}

/** Text without it imports nothing dynamically: a comment may stand before the parenthesis, a letter be written by its number. */
const dynamicHint = /import\s*[(/]|\\/;

function importsOf({ program, file, source, units, reexports }: Module): ModuleImport[] {
  const found: ModuleImport[] = [];
  const used = new Set(units.flatMap((unit) => unit.references.map((one) => one.name)));
  const passedOn = new Set(reexports.map((one) => one.source));
  for (const statement of list(program, "body").filter((one) => one.type === "ImportDeclaration")) {
    const specifiers = list(statement, "specifiers");
    const values = specifiers.filter((one) => one["importKind"] !== "type");
    const typeOnly =
      statement["importKind"] === "type" || (specifiers.length > 0 && values.length === 0);
    const names = specifiers.map((one) => ({
      imported: importedName(one),
      local: nameOf(need(one, "local")) ?? "",
    }));
    const isKept =
      !/\.m?tsx?$/.test(file) ||
      passedOn.has(statement) ||
      names.length === 0 ||
      names.some((one) => used.has(one.local));
    found.push({
      specifier: specifierOf(statement),
      typeOnly,
      names,
      ...(!typeOnly && !isKept && { unused: true }),
    });
  }
  if (!dynamicHint.test(source)) return found;
  walk(program, (node) => {
    const specifier = node.type === "ImportExpression" ? stringOf(need(node, "source")) : undefined;
    if (specifier !== undefined)
      found.push({ specifier, typeOnly: false, names: [], dynamic: true });
  });
  return found;
}
