// Scopes, and what a mention of a name is.

import { boundNames, child, children, list, need, type Node, word } from "./tree.ts";

/** One mention of a module-level name. */
export interface Reference {
  readonly name: string;
  /** The identifier itself. */
  readonly start: number;
  readonly end: number;
  /** `=`, `++`, a destructuring target, the head of a `for`. */
  readonly write: boolean;
  /** `{ name }`: putting another name there needs the property's name before it. */
  readonly shorthand: boolean;
  /** `name(…)`. */
  readonly call: boolean;
  /** A factory that JSX may need: an import of that name is kept, nothing else. */
  readonly soft: boolean;
}

/** A mention whose name has not been looked up yet. */
export interface Found extends Reference {
  readonly scope: Scope;
}

/** The names that one function, block or class binds. */
export class Scope {
  readonly names: Set<string> = new Set();
  readonly parent: Scope | undefined;
  /** Where a `var` inside it lands. */
  readonly home: Scope;

  constructor(parent: Scope | undefined, holdsVar: boolean) {
    this.parent = parent;
    this.home = holdsVar || parent === undefined ? this : parent.home;
  }

  /** The innermost scope that binds `name`. */
  owner(name: string): Scope | undefined {
    return this.names.has(name) ? this : this.parent?.owner(name);
  }
}

/** Nodes that are gone when types are stripped, whatever they hold. */
export function isTypeOnly(node: Node): boolean {
  if (node["declare"] === true && node.type !== "PropertyDefinition") return true;
  switch (node.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSDeclareFunction":
    case "TSNamespaceExportDeclaration":
    case "TSEmptyBodyFunctionExpression":
    case "TSAbstractMethodDefinition":
    case "TSAbstractPropertyDefinition":
    case "TSAbstractAccessorProperty":
    case "TSIndexSignature":
      return true;
    case "TSModuleDeclaration":
      return node["global"] === true || holdsOnlyTypes(child(node, "body"));
    case "TSImportEqualsDeclaration":
      return node["importKind"] === "type";
    default:
      return false;
  }
}

// A namespace of types is a type.
function holdsOnlyTypes(body: Node | undefined): boolean {
  return (
    body === undefined ||
    list(body, "body").every((one) => isTypeOnly(child(one, "declaration") ?? one))
  );
}

/** The names that a pattern binds. */
export function namesIn(pattern: Node): string[] {
  return boundNames(pattern).map((one) => word(one, "name"));
}

/** The name that a declaration or an import specifier binds. */
export function declaredBy(node: Node): string[] {
  const id = child(node, node.type.startsWith("Import") ? "local" : "id");
  if (id === undefined || node.type.endsWith("Expression")) return [];
  return [word(leftmost(id, "TSQualifiedName", "left"), "name")];
}

/** The identifiers that a type refers to. */
export function namesInType(type: Node): Node[] {
  const below = children(type).flatMap(namesInType);
  if (type.type !== "TSTypeReference") return below;
  const name = leftmost(need(type, "typeName"), "TSQualifiedName", "left");
  return name.type === "Identifier" ? [name, ...below] : below;
}

/** The identifier of a JSX tag that is a component: `<Price>` and `<ui.row>`, not `<b>` nor `<my-element>`. */
export function componentOf(tag: Node): Node | undefined {
  const name = leftmost(tag, "JSXMemberExpression", "object");
  if (name.type === "Identifier") return name;
  return name.type === "JSXIdentifier" && (name !== tag || !/^[a-z]|-/.test(word(name, "name")))
    ? name
    : undefined;
}

/** Whether a class has decorators: their metadata may name classes by the types of members. */
export function isDecorated(node: Node): boolean {
  const has = (one: Node): boolean => list(one, "decorators").length > 0;
  const members = list(need(node, "body"), "body");
  return (
    has(node) ||
    members.some((one) => has(one) || list(child(one, "value") ?? one, "params").some(has))
  );
}

/** `a` of `a.b.c`. */
export function leftmost(node: Node, type: string, key: string): Node {
  return node.type === type ? leftmost(need(node, key), type, key) : node;
}
