// State at the top level of a module: declarations that hold it, and functions that change it.

import {
  bare,
  child,
  isFunction,
  list,
  nameOf,
  need,
  type Node,
  walk,
  word,
} from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

const changingMethods = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin append".split(
    " ",
  ),
);

/** The names of the module whose value, or content, functions of this unit change. */
export function changedNames(unit: Unit): ReadonlySet<string> {
  const nameAt = new Map(unit.references.map(({ start, name }) => [start, name] as const));
  const changed = new Set<string>();
  const addTarget = (node: Node | undefined): void => {
    const name = node === undefined ? undefined : nameAt.get(rootOf(node).start);
    if (name !== undefined) changed.add(name);
  };
  const seekChanges = (node: Node): void => {
    if (node.type === "AssignmentExpression") targetsOf(need(node, "left")).forEach(addTarget);
    else if (node.type === "UpdateExpression") addTarget(bare(need(node, "argument")));
    else if (node.type === "UnaryExpression" && word(node, "operator") === "delete")
      addTarget(bare(need(node, "argument")));
    else if (node.type === "CallExpression") {
      const callee = bare(need(node, "callee"));
      if (callee.type !== "MemberExpression") return;
      const method = callee["computed"] === true ? undefined : nameOf(child(callee, "property"));
      const object = need(callee, "object");
      if (method !== undefined && changingMethods.has(method)) addTarget(object);
      if (method === "assign" && object.type === "Identifier" && word(object, "name") === "Object")
        addTarget(list(node, "arguments")[0]);
    }
  };
  // Code that runs while the module loads has the same effect on every node.
  walk(unit.node, (node) => {
    if (!isFunction(node)) return true;
    walk(node, seekChanges);
    return false;
  });
  return changed;
}

function targetsOf(target: Node): Node[] {
  if (target.type === "ArrayPattern") return list(target, "elements").flatMap(targetsOf);
  if (target.type === "ObjectPattern")
    return list(target, "properties").flatMap((property) =>
      targetsOf(property.type === "RestElement" ? property : need(property, "value")),
    );
  if (target.type === "AssignmentPattern") return targetsOf(need(target, "left"));
  if (target.type === "RestElement") return targetsOf(need(target, "argument"));
  return [bare(target)];
}

/** `state` of `state.carts[id].lines`. */
function rootOf(node: Node): Node {
  const expression = bare(node);
  return expression.type === "MemberExpression" ? rootOf(need(expression, "object")) : expression;
}

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
