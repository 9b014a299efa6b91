// State at the top level of a module: the declarations that hold it.

import { bare, child, nameOf, need, word } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

const collections = new Set(["Map", "Set", "WeakMap", "WeakSet", "Array", "URLSearchParams"]);

/**
 * Whether a unit binds something that can change. An instance of any other class doesn't count: the
 * client of a database, say, has methods with such names and keeps its state elsewhere.
 */
export function holdsState({ kind, node, statement }: Unit): boolean {
  if (kind === "declaration")
    return (
      node.type === "ClassDeclaration" || child(node, "declaration")?.type === "ClassDeclaration"
    );
  if (kind !== "declarator") return false;
  const declaration =
    statement.type === "VariableDeclaration" ? statement : child(statement, "declaration");
  if (declaration !== undefined && word(declaration, "kind") !== "const") return true;
  const value = child(node, "init");
  const init = value === undefined ? undefined : bare(value);
  if (init?.type === "ArrayExpression" || init?.type === "ObjectExpression") return true;
  return init?.type === "NewExpression" && collections.has(nameOf(need(init, "callee")) ?? "");
}
