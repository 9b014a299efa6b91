// Cuts a module into units, the pieces that can move, with the names that they bind and refer to.

import { type NotedNodes, ReferenceReader } from "./references.ts";
import type { Reference, Scope, ScopedReference } from "./scopes.ts";
import { child, type Comment, list, need, type Node } from "./tree.ts";
import { isTypeOnly } from "./type-only.ts";

/** A declarator, an import specifier, or a statement. */
export interface Unit {
  /** `default` is an `export default` of an expression, which binds no name. */
  readonly kind: "import" | "declarator" | "declaration" | "statement" | "default";
  readonly node: Node;
  /** The statement that it is in: for a declarator, the whole (exported) declaration. */
  readonly statement: Node;
  /** The names that it binds. */
  readonly names: readonly string[];
  /** Its references to names of the module. */
  readonly references: readonly Reference[];
  /** Whether it calls or assigns outside of functions. */
  readonly acts: boolean;
}

/** A unit whose references haven't been looked up. */
interface UnresolvedUnit extends Unit {
  readonly references: readonly ScopedReference[];
}

/** The units of a program, in source order, and the nodes that were noted on the way. */
export function unitsOf(
  program: Node,
  comments: readonly Comment[],
): { readonly units: readonly Unit[]; readonly noted: NotedNodes } {
  const { moduleScope, units, noted } = unresolvedUnitsOf(program, comments);
  return {
    units: units.map((unit) => ({
      ...unit,
      references: unit.references.filter(({ name, scope }) => scope.owner(name) === moduleScope),
    })),
    noted,
  };
}

/** The same with all references, those to inner and global names included, in their scopes. */
export function unresolvedUnitsOf(
  program: Node,
  comments: readonly Comment[],
): {
  readonly moduleScope: Scope;
  readonly units: readonly UnresolvedUnit[];
  readonly noted: NotedNodes;
} {
  const reader = new ReferenceReader(jsxFactories(comments));
  const units = list(program, "body").flatMap((statement) =>
    piecesOf(statement).map(([kind, node]) => {
      const code = kind === "default" ? need(node, "declaration") : node;
      return { kind, node, statement, ...reader.read(code) };
    }),
  );
  return { moduleScope: reader.moduleScope, units, noted: reader.noted };
}

function jsxFactories(comments: readonly Comment[]): string[] {
  const pragmas = comments.flatMap(({ value }) => [
    ...value.matchAll(/@jsx(?:Frag)?[ \t]+([\w$]+)/g),
  ]);
  return pragmas.map(([, name = ""]) => name);
}

function piecesOf(statement: Node): [Unit["kind"], Node][] {
  if (
    isTypeOnly(statement) ||
    statement["importKind"] === "type" ||
    statement["exportKind"] === "type"
  )
    return [];
  switch (statement.type) {
    case "ImportDeclaration": {
      const specifiers = list(statement, "specifiers");
      if (specifiers.length === 0) return [["statement", statement]];
      return specifiers
        .filter((specifier) => specifier["importKind"] !== "type")
        .map((specifier) => ["import", specifier]);
    }
    case "ExportNamedDeclaration": {
      const declaration = child(statement, "declaration");
      return declaration === undefined ? [] : piecesOf(declaration);
    }
    case "ExportDefaultDeclaration": {
      const declaration = need(statement, "declaration");
      if (isTypeOnly(declaration)) return [];
      return declaration.type.endsWith("Declaration")
        ? [["declaration", declaration]]
        : [["default", statement]];
    }
    case "VariableDeclaration":
      return list(statement, "declarations").map((declarator) => ["declarator", declarator]);
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSEnumDeclaration":
    case "TSModuleDeclaration":
    case "TSImportEqualsDeclaration":
      return [["declaration", statement]];
    case "ExportAllDeclaration":
    case "EmptyStatement":
      return [];
    case "ExpressionStatement":
      // A directive has no effect: modules are strict anyway.
      return typeof statement["directive"] === "string" ? [] : [["statement", statement]];
    default:
      return [["statement", statement]];
  }
}
