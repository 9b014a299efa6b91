// Scopes, and what a mention of a name is.

import { child, type Node } from "./tree.ts";

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
      return node["global"] === true || child(node, "body") === undefined;
    case "TSImportEqualsDeclaration":
      return node["importKind"] === "type";
    default:
      return false;
  }
}
