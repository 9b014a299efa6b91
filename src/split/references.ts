// Which names of the module a piece of it mentions. TypeScript and JSX are understood here, which is why no general
// scope library does: a type is no reference, `<Price/>` is one, a parameter property and an enum's member bind names.

import {
  componentOf,
  declaredBy,
  type Found,
  isDecorated,
  isTypeOnly,
  leftmost,
  namesIn,
  namesInType,
  type Reference,
  Scope,
} from "./scopes.ts";
import { child, children, isTypeWrapper, list, nameOf, need, type Node, word } from "./tree.ts";

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
    const declared =
      node.type === "VariableDeclarator" ? namesIn(need(node, "id")) : declaredBy(node);
    for (const name of declared) this.#bind(name, this.#module);
    this.#visit(node, this.#module);
    return [...this.#bound];
  }

  /** What `unit` mentions of the names that the module binds. */
  resolve(unit: Node): Reference[] {
    return (this.#found.get(unit) ?? []).filter(
      (one) => one.scope.owner(one.name) === this.#module,
    );
  }

  #bind(name: string, scope: Scope): void {
    scope.names.add(name);
    // A `var` in a block at the top level binds a name of the module, too.
    if (scope === this.#module) this.#bound.add(name);
  }

  #refer(
    node: Node,
    scope: Scope,
    how: Partial<Omit<Reference, "name" | "start" | "end">> = {},
  ): void {
    const { write = false, shorthand = false, call = false, soft = false } = how;
    this.#sink.push({
      name: word(node, "name"),
      start: node.start,
      end: node.end,
      write,
      shorthand,
      call,
      soft,
      scope,
    });
  }

  #factory(name: string, { start }: Node, scope: Scope, soft: boolean): void {
    this.#sink.push({
      name,
      start,
      end: start,
      write: false,
      shorthand: false,
      call: false,
      soft,
      scope,
    });
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
      case "LabeledStatement":
        this.#visit(child(node, node.type === "LabeledStatement" ? "body" : "declaration"), scope);
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
        this.#pattern(need(node, "left"), scope, true);
        this.#visit(child(node, "right"), scope);
        return;
      case "UpdateExpression":
        this.#pattern(need(node, "argument"), scope, true);
        return;
      case "ForInStatement":
      case "ForOfStatement": {
        const inner = new Scope(scope, false);
        const left = need(node, "left");
        if (left.type === "VariableDeclaration") this.#visit(left, inner);
        else this.#pattern(left, inner, true);
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
        const from = leftmost(need(node, "moduleReference"), "TSQualifiedName", "left");
        if (from.type === "Identifier") this.#refer(from, scope);
        return;
      }
      case "JSXElement":
      case "JSXFragment":
        for (const name of this.#factories) this.#factory(name, node, scope, false);
        for (const name of usualFactories) this.#factory(name, node, scope, true);
        this.#all(children(node), scope);
        return;
      case "JSXOpeningElement":
      case "JSXClosingElement":
        this.#tag(need(node, "name"), scope);
        this.#all(list(node, "attributes"), scope);
        return;
      case "JSXAttribute":
        this.#visit(child(node, "value"), scope);
        return;
      default:
        if (node.type.startsWith("TS") && !node.type.endsWith("Assignment"))
          this.#types(node, scope);
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
    if (body?.type === "BlockStatement" || body?.type === "FunctionBody")
      this.#all(children(body), inside);
    else this.#visit(body, inside);
  }

  #parameter(pattern: Node, scope: Scope): void {
    for (const name of namesIn(pattern)) scope.names.add(name);
    this.#pattern(pattern, scope);
  }

  /** A pattern that binds mentions nothing but in its defaults and computed keys; a target of an assignment is written. */
  #pattern(node: Node, scope: Scope, writes = false, shorthand = false): void {
    switch (node.type) {
      case "Identifier":
        if (writes) this.#refer(node, scope, { write: true, shorthand });
        break;
      case "ObjectPattern":
        for (const one of list(node, "properties")) {
          if (one["computed"] === true) this.#visit(child(one, "key"), scope);
          this.#pattern(
            one.type === "RestElement" ? one : need(one, "value"),
            scope,
            writes,
            one["shorthand"] === true,
          );
        }
        break;
      case "ArrayPattern":
        for (const one of list(node, "elements")) this.#pattern(one, scope, writes);
        break;
      case "AssignmentPattern":
        this.#pattern(need(node, "left"), scope, writes, shorthand);
        this.#visit(child(node, "right"), scope);
        break;
      case "RestElement":
        this.#pattern(need(node, "argument"), scope, writes);
        break;
      case "TSParameterProperty":
        this.#pattern(need(node, "parameter"), scope);
        break;
      default:
        if (isTypeWrapper(node)) this.#pattern(need(node, "expression"), scope, writes);
        else this.#visit(node, scope);
        return;
    }
    this.#all(list(node, "decorators"), scope);
    this.#types(node, scope);
  }

  #member(node: Node, scope: Scope): void {
    this.#all(list(node, "decorators"), scope);
    if (node["computed"] === true) this.#visit(child(node, "key"), scope);
    this.#types(node, scope);
    const value = child(node, "value");
    if (node["shorthand"] === true && value?.type === "Identifier")
      this.#refer(value, scope, { shorthand: true });
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
    const decorated = isDecorated(node);
    if (decorated) this.#decorated++;
    this.#visit(child(node, "superClass"), inner);
    this.#all(members, inner);
    if (decorated) this.#decorated--;
  }

  #tag(name: Node, scope: Scope): void {
    const component = componentOf(name);
    if (component !== undefined) this.#refer(component, scope);
  }

  /** Types mention nothing, except that the metadata of decorators may name a class by the type of a parameter. */
  #types(node: Node, scope: Scope, key = "typeAnnotation"): void {
    const type = this.#decorated === 0 ? undefined : child(node, key);
    if (type !== undefined) for (const name of namesInType(type)) this.#refer(name, scope);
  }
}
