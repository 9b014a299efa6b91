// Resolves every reference of a source twice, by our scope analysis and by
// @typescript-eslint/scope-manager, and lists where the two disagree.

import { createRequire } from "node:module";

import type * as ScopeManager from "@typescript-eslint/scope-manager";
import { parseSync } from "vite";

import {
  child,
  children,
  list,
  need,
  type Node,
  programOf,
  walk,
  word,
} from "../../../src/split/read/tree.ts";
import { unresolvedUnitsOf } from "../../../src/split/read/units.ts";
import { parse } from "./_harness.ts";

// An import would transform it, and look for source maps that it doesn't ship.
const { analyze: analyzeScopes } = createRequire(import.meta.url)(
  "@typescript-eslint/scope-manager",
) as typeof ScopeManager;

type TheirScope = ReturnType<typeof analyzeScopes>["scopes"][number];
type Variable = TheirScope["variables"][number];

/**
 * Where a reference leads: to a binding of the module, to one of an inner scope, or to none in this
 * file.
 */
type Level = "module" | "inner" | "unbound";

/** Differences that we want, and why. */
export const deliberate = {
  ambient: "`declare const a` and a namespace of types bind nothing at run time",
  arguments:
    "scope-manager gives every function a variable `arguments`; no module can bind this name",
  className:
    "inside a class declaration scope-manager has a second variable with the name of the class",
  export: "`export { a }` and `export default a` stay with the unit that declares `a`",
  metadata: "in a decorated class the compiler may write the types of members as metadata",
  parameter:
    "`function f(a) { var a; }` has one variable `a`; our parameters have a scope of their own",
} as const;

export type Deliberate = keyof typeof deliberate;

export interface Comparison {
  readonly references: number;
  /** One line each. */
  readonly differences: readonly string[];
  readonly deliberate: ReadonlySet<Deliberate>;
}

interface Resolved {
  readonly name: string;
  readonly level: Level;
  readonly write: boolean;
  /** The scope (ours) or variable (theirs) that it resolves to. */
  readonly target: object | undefined;
}

interface Resolution {
  /** The names that the module binds. */
  readonly names: ReadonlySet<string>;
  /** By the offset of the identifier. */
  readonly references: ReadonlyMap<number, Resolved>;
}

/** Compares the two on one source. */
export function compareScopes(file: string, source: string): Comparison {
  const used = new Set<Deliberate>();
  const differences: string[] = [];
  const report = (start: number, what: string): void => {
    const line = source.slice(0, start).split("\n").length;
    const text = source.split("\n")[line - 1]?.trim() ?? "";
    differences.push(`${file}:${line}: ${what}: ${text.slice(0, 100)}`);
  };
  const ours = resolveOurs(file, source);
  const theirs = resolveTheirs(file, source, used);

  for (const name of ours.names)
    if (!theirs.names.has(name)) report(0, `only ours binds '${name}'`);
  for (const name of theirs.names)
    if (!ours.names.has(name)) report(0, `only theirs binds '${name}'`);

  // Which of their variables belongs to a scope and name of ours, and the other way round.
  const variables = new Map<object, Map<string, object>>();
  const scopes = new Map<object, object>();
  const starts = new Set([...ours.references.keys(), ...theirs.references.keys()]);
  for (const start of starts) {
    if (ours.exported.has(start)) {
      used.add("export");
      continue;
    }
    const [our, their] = [ours.references.get(start), theirs.references.get(start)];
    if (our === undefined || their === undefined) {
      if (our !== undefined && theirs.inType(start)) used.add("metadata");
      else report(start, our === undefined ? "only theirs" : `only ours, '${our.name}'`);
      continue;
    }
    if (our.level !== their.level)
      report(start, `'${our.name}' is ${our.level} for us, ${their.level} for them`);
    if (our.write !== their.write) report(start, `'${our.name}' is written for one only`);
    if (our.target === undefined || their.target === undefined) continue;
    const byName = variables.get(our.target) ?? new Map<string, object>();
    variables.set(our.target, byName);
    if (!byName.has(our.name)) byName.set(our.name, their.target);
    if (!scopes.has(their.target)) scopes.set(their.target, our.target);
    if (byName.get(our.name) !== their.target)
      report(start, `'${our.name}' is one binding for us, two for them`);
    if (scopes.get(their.target) !== our.target) {
      if (isParameterAndMore(their.target as Variable)) used.add("parameter");
      else report(start, `'${our.name}' is two bindings for us, one for them`);
    }
  }
  return { references: starts.size, differences, deliberate: used };
}

function resolveOurs(
  file: string,
  source: string,
): Resolution & { readonly exported: ReadonlySet<number> } {
  const parsed = parse(file, source);
  const program = programOf(parsed);
  const { moduleScope, units } = unresolvedUnitsOf(program, parsed.comments);
  const references = new Map<number, Resolved>();
  for (const { name, scope, start, end, write } of units.flatMap((unit) => unit.references)) {
    // A factory that JSX may call isn't in the text.
    if (start === end) continue;
    const target = scope.owner(name);
    const level = target === undefined ? "unbound" : target === moduleScope ? "module" : "inner";
    references.set(start, { name, level, write, target });
  }
  return {
    names: new Set(units.flatMap((unit) => unit.names)),
    references,
    exported: exportedIdentifiers(program),
  };
}

function resolveTheirs(
  file: string,
  source: string,
  used: Set<Deliberate>,
): Resolution & { readonly inType: (start: number) => boolean } {
  const { program, scopes, moduleScope } = theirScopes(file, source);
  const typeOffsets = new Set<number>();
  collectTypes(program, typeOffsets);
  const inType = (start: number): boolean => typeOffsets.has(start);

  const references = new Map<number, Resolved>();
  for (const reference of scopes.flatMap((scope) => scope.references)) {
    const { name, range } = reference.identifier;
    const [start] = range;
    if (!reference.isValueReference || reference.init === true || inType(start)) continue;
    const target = runtimeVariable(reference.resolved, inType, used);
    const level =
      target === undefined ? "unbound" : target.scope === moduleScope ? "module" : "inner";
    references.set(start, { name, level, write: reference.isWrite(), target });
  }
  const names = moduleScope.variables
    .filter((variable) => runtimeVariable(variable, inType, used) !== undefined)
    .map(({ name }) => name);
  return { names: new Set(names), references, inType };
}

function theirScopes(
  file: string,
  source: string,
): { program: Node; scopes: readonly TheirScope[]; moduleScope: TheirScope } {
  // The tree that scope-manager expects has no parentheses, and nodes of TypeScript in JavaScript,
  // too.
  const options = { preserveParens: false, range: true, astType: "ts" } as const;
  const program = programOf(parseSync(file, source, options));
  const { scopes } = analyzeScopes(program as never, {
    sourceType: "module",
    lib: [],
    jsxPragma: null,
  });
  const moduleScope = scopes.find(({ type }) => (type as string) === "module");
  if (moduleScope === undefined) throw new Error(`${file} has no module scope`);
  return { program, scopes, moduleScope };
}

/**
 * Renames what inner scopes declare to names of the module, so that nearly every name shadows
 * another. In real code few do, and a wrong scope would go unnoticed.
 */
export function withShadowing(file: string, source: string): string {
  const { program, scopes, moduleScope } = theirScopes(file, source);
  const moduleNames = moduleScope.variables.map(({ name }) => name);
  const targets = moduleNames.slice(0, 8);
  if (targets.length === 0) return source;
  const innerNames = scopes
    .filter((scope) => scope !== moduleScope && (scope.type as string) !== "global")
    .flatMap(({ variables }) => variables.map(({ name }) => name))
    .filter((name) => name !== "arguments" && !moduleNames.includes(name));
  const renamed = new Map(
    [...new Set(innerNames)].map((name, index) => [name, targets[index % targets.length] ?? name]),
  );
  const edits = new Map<number, string>();
  walk(program, (node) => {
    const name = node.type === "Identifier" ? word(node, "name") : "";
    if (renamed.has(name) && source.startsWith(name, node.start)) edits.set(node.start, name);
    return node.type !== "MetaProperty";
  });
  let text = "";
  let done = 0;
  for (const [start, name] of [...edits].sort(([a], [b]) => a - b)) {
    text += source.slice(done, start) + renamed.get(name);
    done = start + name.length;
  }
  return text + source.slice(done);
}

/** The variable as it exists when the program runs. */
function runtimeVariable(
  variable: Variable | null,
  inType: (start: number) => boolean,
  used: Set<Deliberate>,
): Variable | undefined {
  if (variable === null) return undefined;
  const { name, scope, defs } = variable;
  if (name === "arguments" && defs.length === 0) {
    used.add("arguments");
    return undefined;
  }
  if ((scope.type as string) === "class" && (scope.block.type as string) === "ClassDeclaration") {
    const outer = scope.upper?.set.get(name);
    if (outer !== undefined && defs.some(({ node }) => node === scope.block)) {
      used.add("className");
      return outer;
    }
  }
  const values = defs.filter(({ isVariableDefinition, node, parent }) => {
    const importKinds = [node, parent].map(
      (part) => (part as Node | null | undefined)?.["importKind"],
    );
    return isVariableDefinition && !importKinds.includes("type");
  });
  const present = values.filter(({ name: { range } }) => !inType(range[0]));
  if (values.length > 0 && present.length === 0) used.add("ambient");
  return present.length === 0 ? undefined : variable;
}

function isParameterAndMore({ defs }: Variable): boolean {
  const kinds = new Set(defs.map(({ type }) => type as string));
  return kinds.has("Parameter") && kinds.size > 1;
}

// Nodes of which nothing is left when types are stripped.
const typeNodes = new Set([
  "TSAbstractAccessorProperty",
  "TSAbstractMethodDefinition",
  "TSAbstractPropertyDefinition",
  "TSClassImplements",
  "TSDeclareFunction",
  "TSEmptyBodyFunctionExpression",
  "TSIndexSignature",
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSTypeAnnotation",
  "TSTypeParameterDeclaration",
  "TSTypeParameterInstantiation",
]);

/** Collects the offsets of all nodes that only the compiler sees. */
function collectTypes(node: Node, into: Set<number>): void {
  if (isType(node)) walk(node, ({ start }) => void into.add(start));
  else
    for (const below of children(node)) {
      if (below === node["typeAnnotation"]) walk(below, ({ start }) => void into.add(start));
      else collectTypes(below, into);
    }
}

function isType(node: Node): boolean {
  if (typeNodes.has(node.type) || node["global"] === true) return true;
  if (node["declare"] === true && node.type !== "PropertyDefinition") return true;
  const body = node.type === "TSModuleDeclaration" ? child(node, "body") : undefined;
  return (
    body !== undefined &&
    list(body, "body").every((statement) => isType(child(statement, "declaration") ?? statement))
  );
}

/** The offsets of `a` in `export { a }` and in `export default a`. */
function exportedIdentifiers(program: Node): ReadonlySet<number> {
  const nodes = list(program, "body").flatMap((statement) => {
    if (statement.type === "ExportDefaultDeclaration") return [need(statement, "declaration")];
    return statement.type === "ExportNamedDeclaration"
      ? list(statement, "specifiers").map((specifier) => need(specifier, "local"))
      : [];
  });
  return new Set(nodes.filter(({ type }) => type === "Identifier").map(({ start }) => start));
}
