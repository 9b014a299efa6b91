// The one visitor of a module's code. It finds the names that a piece of the module binds and refers
// to, how it uses them and whether it acts, and notes the few kinds of nodes that others ask for, so that no
// later step of the build walks through a module's code again.
// Code that only a procedure needs is found by following the references, so a missed scope would
// put server code into a browser's build. test/unit/split/scope-manager.test.ts compares the result
// with another implementation, over a lot of code that isn't ours.

import {
  componentOf,
  declaredNames,
  identifiersInType,
  isDecorated,
  leftmost,
} from "./node-names.ts";
import { boundNames, patternParts } from "./patterns.ts";
import { type Reference, Scope, type ScopedReference, type Usage } from "./scopes.ts";
import {
  bare,
  child,
  children,
  isTypeWrapper,
  list,
  nameOf,
  need,
  type Node,
  stringOf,
  word,
} from "./tree.ts";
import { isTypeOnly } from "./type-only.ts";

// The names by which JSX finds its factory if a project has turned the automatic runtime off.
const usualFactories = ["React", "h", "Fragment"];

// Members of a function that call it.
const callingMembers = new Set(["call", "apply", "bind"]);

// Methods that change the content of their object.
const changingMethods = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin append".split(
    " ",
  ),
);

// Expressions that may change something outside of themselves.
const actions = new Set([
  "CallExpression",
  "NewExpression",
  "AwaitExpression",
  "TaggedTemplateExpression",
  "AssignmentExpression",
  "UpdateExpression",
  "ImportExpression",
]);

const unchanged: Usage = {};

/** Nodes of a module's code, in source order. Types are left out. */
export interface NotedNodes {
  readonly calls: readonly Node[];
  readonly declarators: readonly Node[];
  /** `import("…")`. */
  readonly dynamicImports: readonly Node[];
  /** Decorators and `accessor` fields, which no engine runs yet. */
  readonly futureSyntax: readonly Node[];
}

/** A top-level piece of a module. */
interface Piece {
  /** The names of the module that it binds. */
  readonly names: readonly string[];
  readonly references: readonly ScopedReference[];
  /** Whether it calls or assigns outside of functions, so that loading the module has an effect. */
  readonly acts: boolean;
}

/** Reads the pieces of one module. Look references up when all pieces have been read. */
export class ReferenceReader {
  readonly moduleScope: Scope = new Scope(undefined, true);
  readonly noted: Record<keyof NotedNodes, Node[]> = {
    calls: [],
    declarators: [],
    dynamicImports: [],
    futureSyntax: [],
  };
  readonly #factories: readonly string[];
  #references: ScopedReference[] = [];
  #names = new Set<string>();
  #acts = false;
  #decoratedClasses = 0;
  /** How many functions are around the node that is visited. */
  #functions = 0;

  /** `factories` are the names in `@jsx` comments. */
  constructor(factories: readonly string[]) {
    this.#factories = factories;
  }

  /** Reads a statement, declarator or import specifier at the top level. */
  read(node: Node): Piece {
    this.#names = new Set();
    this.#references = [];
    this.#acts = false;
    const declared =
      node.type === "VariableDeclarator" ? boundNames(need(node, "id")) : declaredNames(node);
    for (const name of declared) this.#bind(name, this.moduleScope);
    this.#visit(node, this.moduleScope);
    return { names: [...this.#names], references: this.#references, acts: this.#acts };
  }

  #bind(name: string, scope: Scope): void {
    scope.names.add(name);
    // A `var` in a block binds a name of the module, too.
    if (scope === this.moduleScope) this.#names.add(name);
  }

  #refer(
    identifier: Node,
    scope: Scope,
    {
      write = false,
      shorthand = false,
      call = false,
      usage = unchanged,
    }: Partial<Pick<Reference, "write" | "shorthand" | "call" | "usage">> = {},
  ): void {
    const { start, end } = identifier;
    const name = word(identifier, "name");
    this.#references.push({ name, start, end, write, shorthand, call, usage, soft: false, scope });
  }

  /** A reference that isn't in the text: JSX becomes a call of `name`. */
  #referToFactory(name: string, { start }: Node, scope: Scope, soft: boolean): void {
    const plain = { write: false, shorthand: false, call: false, usage: unchanged };
    this.#references.push({ name, start, end: start, ...plain, soft, scope });
  }

  #visitAll(nodes: readonly Node[], scope: Scope): void {
    for (const node of nodes) this.#visit(node, scope);
  }

  #visit(node: Node | undefined, scope: Scope, usage: Usage = unchanged): void {
    if (node === undefined || isTypeOnly(node)) return;
    if (isTypeWrapper(node) || node.type === "ChainExpression") {
      this.#visit(child(node, "expression"), scope, usage);
      return;
    }
    if (this.#functions === 0 && actions.has(node.type)) this.#acts = true;
    switch (node.type) {
      case "Identifier":
        this.#refer(node, scope, { usage });
        this.#visitType(node, scope);
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
        // `export { a, b }` refers to nothing: exports stay with what declares `a` and `b`.
        this.#visit(child(node, "declaration"), scope);
        return;
      case "LabeledStatement":
        this.#visit(child(node, "body"), scope);
        return;
      case "VariableDeclaration":
        for (const declarator of list(node, "declarations")) {
          const home = word(node, "kind") === "var" ? scope.varScope : scope;
          for (const name of boundNames(need(declarator, "id"))) this.#bind(name, home);
          this.#visit(declarator, scope);
        }
        return;
      case "VariableDeclarator":
        this.noted.declarators.push(node);
        this.#visitPattern(need(node, "id"), scope, { write: false });
        this.#visit(child(node, "init"), scope, destructured(need(node, "id")));
        return;
      case "Decorator":
        this.noted.futureSyntax.push(node);
        this.#visitAll(children(node), scope);
        return;
      case "ImportExpression":
        this.noted.dynamicImports.push(node);
        this.#visitAll(children(node), scope);
        return;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        this.#visitFunction(node, scope);
        return;
      case "ClassDeclaration":
      case "ClassExpression":
        this.#visitClass(node, scope);
        return;
      case "MethodDefinition":
      case "PropertyDefinition":
      case "AccessorProperty":
      case "Property":
        this.#visitMember(node, scope);
        return;
      case "MemberExpression":
        this.#visit(child(node, "object"), scope, usageOfObject(node, usage));
        if (node["computed"] === true) this.#visit(child(node, "property"), scope);
        return;
      case "CallExpression": {
        this.noted.calls.push(node);
        const callee = need(node, "callee");
        const called = { called: true, changed: this.#functions > 0 && changesContent(callee) };
        if (callee.type === "Identifier") this.#refer(callee, scope, { call: true, usage: called });
        else this.#visit(callee, scope, called);
        const [first, ...others] = list(node, "arguments");
        this.#visit(first, scope, { changed: this.#functions > 0 && isObjectAssign(callee) });
        this.#visitAll(others, scope);
        return;
      }
      case "AssignmentExpression":
        this.#visitPattern(need(node, "left"), scope, { write: true });
        this.#visit(child(node, "right"), scope);
        return;
      case "UpdateExpression":
        this.#visitPattern(need(node, "argument"), scope, { write: true });
        return;
      case "UnaryExpression":
        this.#visit(need(node, "argument"), scope, {
          changed: this.#functions > 0 && word(node, "operator") === "delete",
        });
        return;
      case "ForInStatement":
      case "ForOfStatement": {
        const loop = new Scope(scope, false);
        const left = need(node, "left");
        if (left.type === "VariableDeclaration") this.#visit(left, loop);
        else this.#visitPattern(left, loop, { write: true });
        this.#visit(child(node, "right"), loop);
        this.#visit(child(node, "body"), loop);
        return;
      }
      case "BlockStatement":
      case "ForStatement":
        this.#visitAll(children(node), new Scope(scope, false));
        return;
      case "SwitchStatement":
        this.#visit(child(node, "discriminant"), scope);
        this.#visitAll(list(node, "cases"), new Scope(scope, false));
        return;
      case "StaticBlock":
      case "TSModuleBlock":
        this.#visitAll(children(node), new Scope(scope, true));
        return;
      case "CatchClause": {
        const clause = new Scope(scope, false);
        const parameter = child(node, "param");
        if (parameter !== undefined) this.#visitParameter(parameter, clause);
        this.#visit(child(node, "body"), clause);
        return;
      }
      case "TSEnumDeclaration": {
        const members = list(need(node, "body"), "members");
        const inside = new Scope(scope, false);
        for (const name of declaredNames(node)) this.#bind(name, scope);
        for (const member of members) inside.names.add(nameOf(need(member, "id")) ?? "");
        for (const member of members) this.#visit(child(member, "initializer"), inside);
        return;
      }
      case "TSModuleDeclaration":
        for (const name of declaredNames(node)) this.#bind(name, scope);
        this.#visit(child(node, "body"), scope);
        return;
      case "TSImportEqualsDeclaration": {
        for (const name of declaredNames(node)) this.#bind(name, scope);
        const from = leftmost(need(node, "moduleReference"), "TSQualifiedName", "left");
        if (from.type === "Identifier") this.#refer(from, scope);
        return;
      }
      case "JSXElement":
      case "JSXFragment":
        for (const name of this.#factories) this.#referToFactory(name, node, scope, false);
        for (const name of usualFactories) this.#referToFactory(name, node, scope, true);
        this.#visitAll(children(node), scope);
        return;
      case "JSXOpeningElement":
      case "JSXClosingElement": {
        const component = componentOf(need(node, "name"));
        if (component !== undefined) this.#refer(component, scope);
        this.#visitAll(list(node, "attributes"), scope);
        return;
      }
      case "JSXAttribute":
        this.#visit(child(node, "value"), scope);
        return;
      default:
        // `export =` is the one statement of TypeScript that isn't a type.
        if (node.type.startsWith("TS") && !node.type.endsWith("Assignment"))
          this.#visitType(node, scope);
        else this.#visitAll(children(node), scope);
    }
  }

  #visitFunction(node: Node, scope: Scope): void {
    this.#functions++;
    const id = child(node, "id");
    let outer = scope;
    if (id !== undefined && node.type === "FunctionDeclaration") {
      this.#bind(word(id, "name"), scope);
    } else if (id !== undefined) {
      outer = new Scope(scope, false);
      outer.names.add(word(id, "name"));
    }
    // Parameters have a scope of their own: a default value doesn't see declarations of the body.
    const parameters = new Scope(outer, true);
    for (const parameter of list(node, "params")) this.#visitParameter(parameter, parameters);
    this.#visitType(node, parameters, "returnType");
    const body = child(node, "body");
    const inside = new Scope(parameters, true);
    if (body?.type === "BlockStatement" || body?.type === "FunctionBody")
      this.#visitAll(children(body), inside);
    else this.#visit(body, inside);
    this.#functions--;
  }

  #visitParameter(pattern: Node, scope: Scope): void {
    for (const name of boundNames(pattern)) scope.names.add(name);
    this.#visitPattern(pattern, scope, { write: false });
  }

  #visitPattern(pattern: Node, scope: Scope, { write }: { readonly write: boolean }): void {
    const usage = { changed: write && this.#functions > 0 };
    for (const { role, node, shorthand } of patternParts(pattern)) {
      if (role === "expression") this.#visit(node, scope);
      else if (role === "member") this.#visit(node, scope, usage);
      else if (role === "annotated") this.#visitType(node, scope);
      else if (write) this.#refer(node, scope, { write, shorthand, usage });
    }
  }

  #visitMember(node: Node, scope: Scope): void {
    if (node.type === "AccessorProperty") this.noted.futureSyntax.push(node);
    this.#visitAll(list(node, "decorators"), scope);
    if (node["computed"] === true) this.#visit(child(node, "key"), scope);
    this.#visitType(node, scope);
    const value = child(node, "value");
    if (node["shorthand"] === true && value?.type === "Identifier")
      this.#refer(value, scope, { shorthand: true });
    else this.#visit(value, scope);
  }

  #visitClass(node: Node, scope: Scope): void {
    const id = child(node, "id");
    const inside = new Scope(scope, false);
    if (id !== undefined) {
      if (node.type === "ClassDeclaration") this.#bind(word(id, "name"), scope);
      else inside.names.add(word(id, "name"));
    }
    this.#visitAll(list(node, "decorators"), scope);
    const decorated = isDecorated(node);
    if (decorated) this.#decoratedClasses++;
    this.#visit(child(node, "superClass"), inside);
    this.#visitAll(list(need(node, "body"), "body"), inside);
    if (decorated) this.#decoratedClasses--;
  }

  /** Types refer to nothing, except in a decorated class, where they may be written as metadata. */
  #visitType(node: Node, scope: Scope, key = "typeAnnotation"): void {
    const type = this.#decoratedClasses === 0 ? undefined : child(node, key);
    if (type !== undefined)
      for (const identifier of identifiersInType(type)) this.#refer(identifier, scope);
  }
}

/** How the object of a member expression is used, if the member is used like this. */
function usageOfObject(node: Node, { called = false, changed = false }: Usage): Usage {
  const name =
    node["computed"] === true ? stringOf(child(node, "property")) : nameOf(child(node, "property"));
  if (name === undefined) return { changed };
  return callingMembers.has(name)
    ? { called, changed }
    : { members: [name], memberCalled: called, changed };
}

/** The members of `const { quote, order } = shop`. */
function destructured(pattern: Node): Usage {
  const names = list(pattern, "properties").map((property) =>
    property["computed"] === true ? undefined : nameOf(child(property, "key")),
  );
  const members = names.filter((name) => name !== undefined);
  return members.length === 0 || members.length < names.length ? unchanged : { members };
}

function changesContent(callee: Node): boolean {
  const member = bare(callee);
  return (
    member.type === "MemberExpression" &&
    member["computed"] !== true &&
    changingMethods.has(nameOf(child(member, "property")) ?? "")
  );
}

function isObjectAssign(callee: Node): boolean {
  const member = bare(callee);
  return (
    member.type === "MemberExpression" &&
    nameOf(child(member, "object")) === "Object" &&
    nameOf(child(member, "property")) === "assign"
  );
}
