// Which names of the module a piece of it mentions. TypeScript and JSX are understood here, which is why no general
// scope library does: a type is no reference, `<Price/>` is one, a parameter property and an enum's member bind names.

import { type Found, isTypeOnly, type Reference, Scope } from "./scopes.ts";
import { boundNames, child, children, isTypeWrapper, list, nameOf, need, type Node, word } from "./tree.ts";

// The names by which JSX finds its factory where a project has turned the automatic runtime off.
const usualFactories = ["React", "h", "Fragment"];

/** Reads the pieces of one module; ask {@link References.resolve} when all have been read. */
export class References {
  readonly #module: Scope = new Scope(undefined, true);
  readonly #found = new Map<Node, Found[]>();
  #sink: Found[] = [];
  #bound = new Set<string>();
  #decorated = 0;
  readonly #factories: readonly string[];

  /** `factories` are the names that `@jsx` comments give. */
  constructor(factories: readonly string[]) {
    this.#factories = factories;
  }

  /** Reads `node`, which stands at the top level, and binds its names; they and what it mentions belong to `unit`. */
  read(unit: Node, node: Node): string[] {
    this.#bound = new Set();
    this.#sink = this.#found.get(unit) ?? [];
    this.#found.set(unit, this.#sink);
    const declared = node.type === "VariableDeclarator" ? namesIn(need(node, "id")) : declaredBy(node);
    for (const name of declared) this.#bind(name, this.#module);
    this.#visit(node, this.#module);
    return [...this.#bound];
  }

  /** What `unit` mentions of the names that the module binds. */
  resolve(unit: Node): Reference[] {
    return (this.#found.get(unit) ?? []).filter((one) => one.scope.owner(one.name) === this.#module);
  }

  #bind(name: string, scope: Scope): void {
    scope.names.add(name);
    // A `var` in a block at the top level binds a name of the module, too.
    if (scope === this.#module) this.#bound.add(name);
  }

  #refer(node: Node, scope: Scope, how: Partial<Omit<Reference, "name" | "start" | "end">> = {}): void {
    const { write = false, shorthand = false, call = false, soft = false } = how;
    this.#sink.push({ name: word(node, "name"), start: node.start, end: node.end, write, shorthand, call, soft, scope });
  }

  #all(nodes: readonly Node[], scope: Scope): void {
    for (const node of nodes) this.#visit(node, scope);
  }

  #visit(node: Node | undefined, scope: Scope): void {
    if (node === undefined || isTypeOnly(node)) return;
    if (isTypeWrapper(node)) {
      this.#visit(child(node, "expression"), scope);
      return;
    }
    switch (node.type) {
      case "Identifier":
        this.#refer(node, scope);
        this.#types(node, scope);
        return;
      case "ImportDeclaration":
      case "ImportSpecifier":
      case "ImportDefaultSpecifier":
      case "ImportNamespaceSpecifier":
      case "ExportAllDeclaration":
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
        return;
      case "ExportNamedDeclaration":
        this.#visit(child(node, "declaration"), scope);
        return;
      case "LabeledStatement":
        this.#visit(child(node, "body"), scope);
        return;
      case "VariableDeclaration":
        for (const one of list(node, "declarations")) {
          const home = word(node, "kind") === "var" ? scope.home : scope;
          for (const name of namesIn(need(one, "id"))) this.#bind(name, home);
          this.#visit(one, scope);
        }
        return;
      case "VariableDeclarator":
        this.#pattern(need(node, "id"), scope);
        this.#visit(child(node, "init"), scope);
        return;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        this.#function(node, scope);
        return;
      case "ClassDeclaration":
      case "ClassExpression":
        this.#class(node, scope);
        return;
      case "MethodDefinition":
      case "PropertyDefinition":
      case "AccessorProperty":
      case "Property":
        this.#member(node, scope);
        return;
      case "MemberExpression":
        this.#visit(child(node, "object"), scope);
        if (node["computed"] === true) this.#visit(child(node, "property"), scope);
        return;
      case "CallExpression": {
        const callee = need(node, "callee");
        if (callee.type === "Identifier") this.#refer(callee, scope, { call: true });
        else this.#visit(callee, scope);
        this.#all(list(node, "arguments"), scope);
        return;
      }
      case "AssignmentExpression":
        this.#target(need(node, "left"), scope);
        this.#visit(child(node, "right"), scope);
        return;
      case "UpdateExpression":
        this.#target(need(node, "argument"), scope);
        return;
      case "ForInStatement":
      case "ForOfStatement": {
        const inner = new Scope(scope, false);
        const left = need(node, "left");
        if (left.type === "VariableDeclaration") this.#visit(left, inner);
        else this.#target(left, inner);
        this.#visit(child(node, "right"), inner);
        this.#visit(child(node, "body"), inner);
        return;
      }
      case "BlockStatement":
      case "ForStatement":
      case "SwitchStatement":
        this.#all(children(node), new Scope(scope, false));
        return;
      case "StaticBlock":
      case "TSModuleBlock":
        this.#all(children(node), new Scope(scope, true));
        return;
      case "CatchClause": {
        const inner = new Scope(scope, false);
        const parameter = child(node, "param");
        if (parameter !== undefined) this.#parameter(parameter, inner);
        this.#visit(child(node, "body"), inner);
        return;
      }
      case "TSEnumDeclaration": {
        const inner = new Scope(scope, false);
        for (const name of declaredBy(node)) this.#bind(name, scope);
        const members = list(need(node, "body"), "members");
        for (const one of members) inner.names.add(nameOf(need(one, "id")) ?? "");
        for (const one of members) this.#visit(child(one, "initializer"), inner);
        return;
      }
      case "TSModuleDeclaration":
        for (const name of declaredBy(node)) this.#bind(name, scope);
        this.#visit(child(node, "body"), scope);
        return;
      case "TSImportEqualsDeclaration": {
        for (const name of declaredBy(node)) this.#bind(name, scope);
        let from = need(node, "moduleReference");
        while (from.type === "TSQualifiedName") from = need(from, "left");
        if (from.type === "Identifier") this.#refer(from, scope);
        return;
      }
      case "JSXElement":
      case "JSXFragment":
        for (const name of this.#factories) this.#sink.push({ ...nowhere(node), name, scope, soft: false });
        for (const name of usualFactories) this.#sink.push({ ...nowhere(node), name, scope, soft: true });
        this.#all(children(node), scope);
        return;
      case "JSXOpeningElement":
        this.#tag(need(node, "name"), scope);
        this.#all(list(node, "attributes"), scope);
        return;
      case "JSXClosingElement":
        this.#tag(need(node, "name"), scope);
        return;
      case "JSXAttribute":
        this.#visit(child(node, "value"), scope);
        return;
      default:
        if (node.type.startsWith("TS") && !node.type.endsWith("Assignment")) this.#types(node, scope);
        else this.#all(children(node), scope);
    }
  }

  #function(node: Node, scope: Scope): void {
    const id = child(node, "id");
    let outer = scope;
    if (id !== undefined && node.type === "FunctionDeclaration") {
      this.#bind(word(id, "name"), scope);
    } else if (id !== undefined) {
      outer = new Scope(scope, false);
      outer.names.add(word(id, "name"));
    }
    // Two scopes: a default value doesn't see what the body declares.
    const parameters = new Scope(outer, true);
    for (const one of list(node, "params")) this.#parameter(one, parameters);
    this.#types(node, parameters, "returnType");
    const body = child(node, "body");
    const inside = new Scope(parameters, true);
    if (body?.type === "BlockStatement" || body?.type === "FunctionBody") this.#all(children(body), inside);
    else this.#visit(body, inside);
  }

  #parameter(pattern: Node, scope: Scope): void {
    for (const name of namesIn(pattern)) scope.names.add(name);
    this.#pattern(pattern, scope);
  }

  /** A pattern that binds: only its defaults and computed keys mention anything. */
  #pattern(pattern: Node, scope: Scope): void {
    this.#all(list(pattern, "decorators"), scope);
    this.#types(pattern, scope);
    switch (pattern.type) {
      case "ObjectPattern":
        for (const one of list(pattern, "properties")) {
          if (one["computed"] === true) this.#visit(child(one, "key"), scope);
          this.#pattern(one.type === "RestElement" ? one : need(one, "value"), scope);
        }
        return;
      case "ArrayPattern":
        for (const one of list(pattern, "elements")) this.#pattern(one, scope);
        return;
      case "AssignmentPattern":
        this.#pattern(need(pattern, "left"), scope);
        this.#visit(child(pattern, "right"), scope);
        return;
      case "RestElement":
        this.#pattern(need(pattern, "argument"), scope);
        return;
      case "TSParameterProperty":
        this.#pattern(need(pattern, "parameter"), scope);
    }
  }

  /** What is written to. */
  #target(node: Node, scope: Scope, shorthand = false): void {
    switch (node.type) {
      case "Identifier":
        this.#refer(node, scope, { write: true, shorthand });
        return;
      case "ObjectPattern":
        for (const one of list(node, "properties")) {
          if (one["computed"] === true) this.#visit(child(one, "key"), scope);
          if (one.type === "RestElement") this.#target(need(one, "argument"), scope);
          else this.#target(need(one, "value"), scope, one["shorthand"] === true);
        }
        return;
      case "ArrayPattern":
        for (const one of list(node, "elements")) this.#target(one, scope);
        return;
      case "AssignmentPattern":
        this.#target(need(node, "left"), scope, shorthand);
        this.#visit(child(node, "right"), scope);
        return;
      case "RestElement":
        this.#target(need(node, "argument"), scope);
        return;
      default:
        if (isTypeWrapper(node)) this.#target(need(node, "expression"), scope);
        else this.#visit(node, scope);
    }
  }

  #member(node: Node, scope: Scope): void {
    this.#all(list(node, "decorators"), scope);
    if (node["computed"] === true) this.#visit(child(node, "key"), scope);
    this.#types(node, scope);
    const value = child(node, "value");
    if (node["shorthand"] === true && value?.type === "Identifier") this.#refer(value, scope, { shorthand: true });
    else this.#visit(value, scope);
  }

  #class(node: Node, scope: Scope): void {
    const id = child(node, "id");
    const inner = new Scope(scope, false);
    if (id !== undefined) {
      if (node.type === "ClassDeclaration") this.#bind(word(id, "name"), scope);
      else inner.names.add(word(id, "name"));
    }
    this.#all(list(node, "decorators"), scope);
    const members = list(need(node, "body"), "body");
    const decorated = [node, ...members].some((one) => list(one, "decorators").length > 0) || members.some(hasDecoratedParameter);
    if (decorated) this.#decorated++;
    this.#visit(child(node, "superClass"), inner);
    this.#all(members, inner);
    if (decorated) this.#decorated--;
  }

  #tag(name: Node, scope: Scope): void {
    let first = name;
    while (first.type === "JSXMemberExpression") first = need(first, "object");
    if (first.type === "Identifier") this.#refer(first, scope);
    else if (first.type === "JSXIdentifier" && (first !== name || !/^[a-z]|-/.test(word(first, "name")))) this.#refer(first, scope);
  }

  /** Types mention nothing, except that the metadata of decorators may name a class by the type of a parameter. */
  #types(node: Node, scope: Scope, key = "typeAnnotation"): void {
    if (this.#decorated === 0) return;
    const seek = (one: Node): void => {
      if (one.type === "TSTypeReference") {
        let first = need(one, "typeName");
        while (first.type === "TSQualifiedName") first = need(first, "left");
        if (first.type === "Identifier") this.#refer(first, scope);
      }
      for (const below of children(one)) seek(below);
    };
    const type = child(node, key);
    if (type !== undefined) seek(type);
  }
}

function nowhere(node: Node): Omit<Reference, "name" | "soft"> {
  return { start: node.start, end: node.start, write: false, shorthand: false, call: false };
}

function hasDecoratedParameter(member: Node): boolean {
  const value = child(member, "value");
  return value !== undefined && list(value, "params").some((one) => list(one, "decorators").length > 0);
}

function namesIn(pattern: Node): string[] {
  return boundNames(pattern).map((one) => word(one, "name"));
}

function declaredBy(node: Node): string[] {
  const id = child(node, node.type.startsWith("Import") ? "local" : "id");
  if (id === undefined || node.type.endsWith("Expression")) return [];
  let first = id;
  while (first.type === "TSQualifiedName") first = need(first, "left");
  return [word(first, "name")];
}
