// The names that a single node declares or mentions: in declarations, imports, types and JSX tags.

import { child, children, list, nameOf, need, type Node, stringOf, word } from "./tree.ts";

/** The name that a declaration or an import specifier binds; empty if it binds none. */
export function declaredNames(node: Node): string[] {
  const id = child(node, node.type.startsWith("Import") ? "local" : "id");
  if (id === undefined || node.type.endsWith("Expression")) return [];
  return [word(leftmost(id, "TSQualifiedName", "left"), "name")];
}

/** The identifiers that a type refers to. */
export function identifiersInType(type: Node): Node[] {
  const below = children(type).flatMap(identifiersInType);
  if (type.type !== "TSTypeReference") return below;
  const name = leftmost(need(type, "typeName"), "TSQualifiedName", "left");
  return name.type === "Identifier" ? [name, ...below] : below;
}

/** The identifier of a component's JSX tag: `<Price>`, `<ui.row>`, not `<b>` or `<my-element>`. */
export function componentOf(tag: Node): Node | undefined {
  const name = leftmost(tag, "JSXMemberExpression", "object");
  if (name.type === "Identifier") return name;
  return name.type === "JSXIdentifier" && (name !== tag || !/^[a-z]|-/.test(word(name, "name")))
    ? name
    : undefined;
}

/** Whether a class, one of its members or a parameter of theirs has a decorator. */
export function isDecorated(classNode: Node): boolean {
  const has = (node: Node): boolean => list(node, "decorators").length > 0;
  const members = list(need(classNode, "body"), "body");
  return (
    has(classNode) ||
    members.some(
      (member) => has(member) || list(child(member, "value") ?? member, "params").some(has),
    )
  );
}

/** `a` of `a.b.c`. */
export function leftmost(node: Node, type: string, key: string): Node {
  return node.type === type ? leftmost(need(node, key), type, key) : node;
}

/** The module that an import or a re-export names. */
export function specifierOf(statement: Node): string {
  return stringOf(need(statement, "source")) ?? "";
}

/** The name that an import specifier takes: a name, `default`, or `*` for the namespace. */
export function importedName(specifier: Node): string {
  if (specifier.type === "ImportSpecifier") return nameOf(need(specifier, "imported")) ?? "";
  return specifier.type === "ImportDefaultSpecifier" ? "default" : "*";
}
