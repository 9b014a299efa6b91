// What each unit of a module uses and changes. A build follows this through the application, to
// find state that several nodes would each have a copy of, and servers that call what only pages
// have.

import type { Module } from "../read/analyze.ts";
import { positionOf } from "../read/code-frame.ts";
import { importedName, specifierOf } from "../read/node-names.ts";
import type { ModuleReading } from "../read/read-module.ts";
import { changedNames, holdsState } from "./state.ts";
import {
  child,
  children,
  isTypeWrapper,
  list,
  nameOf,
  need,
  type Node,
  stringOf,
  walk,
} from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

/** A declaration, a statement, or an import of one name. */
export interface UnitUses {
  /** The names that it binds. */
  readonly names: readonly string[];
  /** The names of the module that it mentions: one entry per member of a name. */
  readonly uses: readonly NameUse[];
  /** The names that its functions change. What runs while the module loads doesn't count. */
  readonly changes: readonly string[];
  /** The origin of an import; `name` is `*` for a whole namespace. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /**
   * Present if it binds something that can change: a collection, an object, a variable, a class.
   */
  readonly state?: { readonly line: number; readonly column: number };
}

/** A mention of a name of the module. */
export interface NameUse {
  readonly name: string;
  /** `quote` of `shop.quote`. */
  readonly member?: string;
  /** The name or its member is called: `quote()`, `quote.call(this)`, `shop.quote()`. */
  readonly called: boolean;
  /** Offset in the source. */
  readonly start: number;
}

export interface ModuleUses {
  readonly units: readonly UnitUses[];
  /** Export name → indexes in `units` of what declares it. */
  readonly exports: ReadonlyMap<string, readonly number[]>;
}

/** `undefined` if the module can't be parsed. */
export function usesOf({ module }: ModuleReading): ModuleUses | undefined {
  if (module === undefined) return undefined;
  const exports = module.exports.map(
    ({ exported, units }) => [exported, units.map((unit) => module.units.indexOf(unit))] as const,
  );
  return {
    units: module.units.map((unit) => readUnit(module, unit)),
    exports: new Map(exports),
  };
}

function readUnit(module: Module, unit: Unit): UnitUses {
  const isImport = unit.kind === "import";
  return {
    names: unit.names,
    uses: isImport ? [] : usesIn(unit),
    changes: [...changedNames(unit)],
    ...(isImport && {
      from: { specifier: specifierOf(unit.statement), name: importedName(unit.node) },
    }),
    ...(holdsState(unit) && { state: positionOf(module.source, unit.node.start) }),
  };
}

function usesIn(unit: Unit): NameUse[] {
  const parents: Parents = new Map();
  const identifiers = new Map<number, Node>();
  const mentions = unit.references.filter(({ soft }) => !soft);
  if (mentions.length > 0)
    walk(unit.node, (node) => {
      for (const below of children(node)) parents.set(below, node);
      if (node.type === "Identifier") identifiers.set(node.start, node);
    });
  const uses = new Map<string, NameUse>();
  const add = (use: NameUse): void => {
    const key = `${use.name} ${use.member ?? ""}`;
    // If a name is mentioned several times, a call tells more than any other mention.
    if (uses.get(key)?.called !== true) uses.set(key, use);
  };
  for (const { name, start } of mentions) {
    const node = withWrappers(identifiers.get(start), parents);
    const destructured = destructuredMembers(node, parents);
    if (destructured !== undefined) {
      for (const member of destructured) add({ name, member, called: false, start });
      continue;
    }
    const member = memberOf(node, parents);
    if (member === undefined || callingMembers.has(member))
      add({ name, called: isCalled(node, parents), start });
    else {
      const access = withWrappers(parents.get(node as Node), parents);
      add({ name, member, called: isCalled(access, parents), start });
    }
  }
  return [...uses.values()];
}

/** Node → the node that contains it. */
type Parents = Map<Node, Node>;

// Members of a function that call it.
const callingMembers = new Set(["call", "apply", "bind"]);

/** The members of `const { quote, order } = shop`; `undefined` if the whole object may be used. */
function destructuredMembers(
  node: Node | undefined,
  parents: Parents,
): readonly string[] | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent?.type !== "VariableDeclarator" || parent["init"] !== node) return undefined;
  const names = list(need(parent, "id"), "properties").map((property) =>
    property["computed"] === true ? undefined : nameOf(child(property, "key")),
  );
  return names.length === 0 || names.includes(undefined)
    ? undefined
    : names.filter((name) => name !== undefined);
}

/** An expression together with the parentheses and type assertions around it. */
function withWrappers(node: Node | undefined, parents: Parents): Node | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  return parent !== undefined && (isTypeWrapper(parent) || parent.type === "ChainExpression")
    ? withWrappers(parent, parents)
    : node;
}

/** The member that is taken of an expression, if the text tells its name. */
function memberOf(node: Node | undefined, parents: Parents): string | undefined {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent?.type !== "MemberExpression" || parent["object"] !== node) return undefined;
  return parent["computed"] === true
    ? stringOf(child(parent, "property"))
    : nameOf(child(parent, "property"));
}

function isCalled(node: Node | undefined, parents: Parents): boolean {
  const parent = node === undefined ? undefined : parents.get(node);
  if (parent === undefined) return false;
  if (parent.type === "CallExpression" && parent["callee"] === node) return true;
  const member = memberOf(node, parents);
  return (
    member !== undefined &&
    callingMembers.has(member) &&
    isCalled(withWrappers(parent, parents), parents)
  );
}
