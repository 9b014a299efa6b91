// What each piece of a module uses and changes, for those who look for state that would be split over machines.

import { analyze, importedName, type Module, specifierOf, type Unit } from "./analyze.ts";
import { placeOf } from "./mark.ts";
import {
  bare,
  child,
  children,
  isFunction,
  isTypeWrapper,
  list,
  nameOf,
  need,
  type Node,
  type Parse,
  stringOf,
  walk,
  word,
} from "./tree.ts";

/** One piece of a module: a declaration, or an import of one name. */
export interface UnitUses {
  /** Names that it binds. */
  readonly names: readonly string[];
  /** The names of the module that it mentions, each once for each member that it takes of it. */
  readonly uses: readonly NameUse[];
  /** Those among them that it changes when it runs, not when it is loaded. */
  readonly changes: readonly string[];
  /** Of an import: where from, and which export; `*` for all. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /** It binds something that can change: a collection, an object, a variable that isn't constant, a class with statics. */
  readonly state?: { readonly line: number; readonly column: number };
}

/** A mention of a name of the module. */
export interface NameUse {
  readonly name: string;
  /** `quote` of `shop.quote`. */
  readonly member?: string;
  /** It, or its member, is called: `quote()`, `quote.call(this)`, `shop.quote()`. */
  readonly called: boolean;
  /** Where it stands in the source. */
  readonly start: number;
}

export interface ModuleUses {
  readonly units: readonly UnitUses[];
  /** Export name → the pieces behind it, by their place in `units`. */
  readonly exports: ReadonlyMap<string, readonly number[]>;
}

/** Reads a module that can be parsed; `undefined` for one that can't. */
export function usesOf(input: {
  readonly source: string;
  readonly file: string;
  readonly parse: Parse;
}): ModuleUses | undefined {
  const parsed = input.parse(input.file, input.source);
  if (parsed.errors.length > 0) return undefined;
  const module = analyze(input, parsed);
  const units = module.units.map((unit) => readUnit(module, unit));
  const exports = module.exports.map(
    (one) => [one.exported, one.units.map((unit) => module.units.indexOf(unit))] as const,
  );
  return { units, exports: new Map(exports) };
}

function readUnit(module: Module, unit: Unit): UnitUses {
  const isImport = unit.kind === "import";
  return {
    names: unit.names,
    uses: isImport ? [] : usesIn(unit),
    changes: [...changedIn(unit)],
    ...(isImport && {
      from: { specifier: specifierOf(unit.statement), name: importedName(unit.node) },
    }),
    ...(isState(unit) && { state: placeOf(module.source, unit.node.start) }),
  };
}

function usesIn(unit: Unit): NameUse[] {
  const parents = new Map<Node, Node>();
  const identifiers = new Map<number, Node>();
  const mentioned = unit.references.filter((one) => !one.soft);
  if (mentioned.length > 0)
    walk(unit.node, (node) => {
      for (const one of children(node)) parents.set(one, node);
      if (node.type === "Identifier") identifiers.set(node.start, node);
    });
  const found = new Map<string, NameUse>();
  const add = (use: NameUse): void => {
    const key = `${use.name} ${use.member ?? ""}`;
    // Of several mentions a call says most.
    if (found.get(key)?.called !== true) found.set(key, use);
  };
  for (const { name, start } of mentioned) {
    const node = outside(identifiers.get(start), parents);
    const member = memberOf(node, parents);
    const taken = takenApart(node, parents);
    if (taken !== undefined)
      for (const one of taken) add({ name, member: one, called: false, start });
    else if (member === undefined || through.has(member))
      add({ name, called: isCalled(node, parents), start });
    else
      add({
        name,
        member,
        called: isCalled(outside(parents.get(node as Node), parents), parents),
        start,
      });
  }
  return [...found.values()];
}

/** The members of `const { quote, order } = shop`; `undefined` where the whole may be taken. */
function takenApart(
  node: Node | undefined,
  parents: ReadonlyMap<Node, Node>,
): readonly string[] | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent?.type !== "VariableDeclarator" || parent["init"] !== node) return undefined;
  const names = list(need(parent, "id"), "properties").map((one) =>
    one["computed"] === true ? undefined : nameOf(child(one, "key")),
  );
  return names.length === 0 || names.includes(undefined)
    ? undefined
    : names.filter((one) => one !== undefined);
}

// Members of a function that call it.
const through = new Set(["call", "apply", "bind"]);

/** What stands around an expression that means the same: parentheses, type assertions. */
function outside(node: Node | undefined, parents: ReadonlyMap<Node, Node>): Node | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  return parent !== undefined && (isTypeWrapper(parent) || parent.type === "ChainExpression")
    ? outside(parent, parents)
    : node;
}

/** The name of the member that is taken of an expression, where the text says it. */
function memberOf(node: Node | undefined, parents: ReadonlyMap<Node, Node>): string | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent?.type !== "MemberExpression" || parent["object"] !== node) return undefined;
  return parent["computed"] === true
    ? stringOf(child(parent, "property"))
    : nameOf(child(parent, "property"));
}

function isCalled(node: Node | undefined, parents: ReadonlyMap<Node, Node>): boolean {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent === undefined) return false;
  if (parent.type === "CallExpression" && parent["callee"] === node) return true;
  const member = memberOf(node, parents);
  return member !== undefined && through.has(member) && isCalled(outside(parent, parents), parents);
}

/** Names of the module whose value, or what is in it, functions of this unit change. */
function changedIn(unit: Unit): ReadonlySet<string> {
  const byStart = new Map(unit.references.map((one) => [one.start, one] as const));
  const changed = new Set<string>();
  const take = (node: Node | undefined): void => {
    const name = node === undefined ? undefined : byStart.get(rootOf(node).start)?.name;
    if (name !== undefined) changed.add(name);
  };
  const seek = (node: Node): void => {
    if (node.type === "AssignmentExpression") targets(need(node, "left")).forEach(take);
    else if (node.type === "UpdateExpression") take(bare(need(node, "argument")));
    else if (node.type === "UnaryExpression" && word(node, "operator") === "delete")
      take(bare(need(node, "argument")));
    else if (node.type === "CallExpression") {
      const callee = bare(need(node, "callee"));
      if (callee.type !== "MemberExpression") return;
      const method = callee["computed"] === true ? undefined : nameOf(child(callee, "property"));
      if (method !== undefined && changing.has(method)) take(need(callee, "object"));
      const object = need(callee, "object");
      if (method === "assign" && object.type === "Identifier" && word(object, "name") === "Object")
        take(list(node, "arguments")[0]);
    }
  };
  // What runs when the module is loaded does the same everywhere.
  walk(unit.node, (node) => {
    if (!isFunction(node)) return true;
    walk(node, seek);
    return false;
  });
  return changed;
}

const changing = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin append".split(
    " ",
  ),
);

function targets(target: Node): Node[] {
  if (target.type === "ArrayPattern") return list(target, "elements").flatMap(targets);
  if (target.type === "ObjectPattern")
    return list(target, "properties").flatMap((one) =>
      targets(one.type === "RestElement" ? one : need(one, "value")),
    );
  if (target.type === "AssignmentPattern") return targets(need(target, "left"));
  if (target.type === "RestElement") return targets(need(target, "argument"));
  return [bare(target)];
}

/** `state` of `state.carts[id].lines`. */
function rootOf(node: Node): Node {
  const found = bare(node);
  return found.type === "MemberExpression" ? rootOf(need(found, "object")) : found;
}

const collections = new Set(["Map", "Set", "WeakMap", "WeakSet", "Array", "URLSearchParams"]);

/** Chosen: what other classes make (a client of a database, say) may hold nothing itself, so its methods are not taken for changes. */
function isState({ kind, node, statement }: Unit): boolean {
  if (kind === "declaration")
    return (
      node.type === "ClassDeclaration" || child(node, "declaration")?.type === "ClassDeclaration"
    );
  if (kind !== "declarator") return false;
  const declaration =
    statement.type === "VariableDeclaration" ? statement : child(statement, "declaration");
  if (declaration !== undefined && word(declaration, "kind") !== "const") return true;
  const written = child(node, "init");
  const init = written === undefined ? undefined : bare(written);
  if (init?.type === "ArrayExpression" || init?.type === "ObjectExpression") return true;
  return init?.type === "NewExpression" && collections.has(nameOf(need(init, "callee")) ?? "");
}
