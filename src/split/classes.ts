// Exported classes, as serialization needs them (§2.3): read from the source, as run time must not guess.

import type { Module } from "./analyze.ts";
import { callableOf } from "./callable.ts";
import type { ClassDescription, ClassMember } from "./describe.ts";
import {
  bare,
  child,
  children,
  isFunction,
  list,
  memberName,
  nameOf,
  need,
  type Node,
  word,
} from "./tree.ts";

interface Shape {
  readonly superclass: string | undefined;
  readonly constructor: Parameters | undefined;
  readonly members: readonly ClassMember[];
  readonly unread: string | undefined;
}

/** Of a constructor; see {@link ClassDescription}. */
type Parameters = Pick<ClassDescription, "parameters" | "defaults" | "pattern">;

/** Every exported class of the module, once for each name that it is exported by. */
export function classesOf(module: Module): ClassDescription[] {
  return module.exports.flatMap((found) => {
    const { class: node, ownName = "" } = callableOf(module, found);
    if (node === undefined) return [];
    const { superclass, constructor, members, unread } = shapeOf(module, node, new Set());
    return [
      {
        name: ownName,
        export: found.exported,
        ...(superclass === undefined ? {} : { superclass }),
        ...constructor,
        ...(unread === undefined ? {} : { unread }),
        members,
      },
    ];
  });
}

/** A class together with those of its parents that nobody else can name. */
function shapeOf(module: Module, node: Node, seen: ReadonlySet<Node>): Shape {
  const written = child(node, "superClass");
  const own = new Map<string, ClassMember>();
  const { constructor, unread } = readMembers(module, node, own);
  const parent = written === undefined ? undefined : bare(written);
  if (parent === undefined)
    return {
      superclass: undefined,
      constructor: constructor ?? { parameters: [] },
      members: [...own.values()],
      unread,
    };
  const hidden = hiddenClass(module, parent);
  if (hidden === undefined || seen.has(hidden)) {
    return {
      superclass: module.source.slice(parent.start, parent.end),
      constructor,
      members: [...own.values()],
      unread,
    };
  }
  const above = shapeOf(module, hidden, new Set([...seen, node]));
  const members = new Map([...above.members.map((one) => [one.name, one] as const), ...own]);
  return {
    superclass: above.superclass,
    constructor: constructor ?? above.constructor,
    members: [...members.values()],
    unread: unread ?? above.unread,
  };
}

function hiddenClass(module: Module, parent: Node): Node | undefined {
  if (parent.type !== "Identifier") return undefined;
  const name = word(parent, "name");
  const units = module.bindings.get(name) ?? [];
  if (module.exports.some((one) => one.units.some((unit) => units.includes(unit))))
    return undefined;
  return callableOf(module, { exported: name, local: name, units, node: parent }).class;
}

/** Fills `into` with the public data of a class body; gives the constructor's parameters, if it has a constructor, and a name that can't be read. */
function readMembers(
  module: Module,
  node: Node,
  into: Map<string, ClassMember>,
): { readonly constructor: Parameters | undefined; readonly unread: string | undefined } {
  let constructor: Parameters | undefined;
  let unread: string | undefined;
  const nameIn = (member: Node, key: Node): string | undefined => {
    const name =
      memberName(member, key) ??
      (member["computed"] === true ? constantName(module, bare(key)) : undefined);
    // A symbol's member is no member by name.
    if (name === undefined && member["computed"] === true && !isSymbol(module, bare(key)))
      unread ??= `[${module.source.slice(key.start, key.end)}]`;
    return name;
  };
  const field = (name: string): void => {
    if (!into.has(name)) into.set(name, { name, readable: true, writable: true });
  };
  const members = list(need(node, "body"), "body");
  for (const member of members) {
    const key = child(member, "key");
    const isData =
      member["static"] !== true &&
      word(member, "kind") !== "method" &&
      member.type !== "TSIndexSignature";
    const name = key === undefined || !isData ? undefined : nameIn(member, key);
    if (name === undefined) continue;
    const kind = word(member, "kind");
    if (kind === "get" || kind === "set") {
      if (member.type !== "MethodDefinition") continue;
      const known = into.get(name);
      into.set(name, {
        name,
        readable: kind === "get" || known?.readable === true,
        writable: kind === "set" || known?.writable === true,
      });
    } else if (member.type === "PropertyDefinition" || member.type === "AccessorProperty") {
      // A field that holds a function is a method in another dress: it can't be sent.
      const value = child(member, "value");
      if (value === undefined || !isFunction(bare(value))) field(name);
    }
  }
  for (const member of members) {
    const fn = child(member, "value");
    if (word(member, "kind") !== "constructor" || fn?.type !== "FunctionExpression") continue;
    const parameters = list(fn, "params");
    const pattern = parameters.some(
      (one) => one.type === "ObjectPattern" || one.type === "ArrayPattern",
    );
    const defaults = parameters.filter(hasDefault).map(parameterName);
    constructor = {
      parameters: parameters.map(parameterName),
      ...(defaults.length > 0 && { defaults }),
      ...(pattern && { pattern }),
    };
    for (const one of parameters) if (one.type === "TSParameterProperty") field(parameterName(one));
    for (const name of assignedFields(need(fn, "body"), nameIn)) field(name);
  }
  return { constructor, unread };
}

/** The name that a computed key has by a constant of the module: `[kind]` after `const kind = "kind"`. */
function constantName(module: Module, key: Node): string | undefined {
  const value = constantOf(module, key);
  return value === undefined ? undefined : memberName({ ...value, computed: true }, value);
}

/** `Symbol.iterator`, `Symbol("x")`, `Symbol.for("x")`, or a constant that is one of these. */
function isSymbol(module: Module, key: Node): boolean {
  const value = constantOf(module, key) ?? key;
  const made = value.type === "CallExpression" ? need(value, "callee") : value;
  return /^Symbol\b/.test(module.source.slice(made.start, made.end));
}

function constantOf(module: Module, key: Node): Node | undefined {
  const [unit, ...others] =
    key.type === "Identifier" ? (module.bindings.get(word(key, "name")) ?? []) : [];
  if (
    unit?.kind !== "declarator" ||
    others.length > 0 ||
    need(unit.node, "id").type !== "Identifier"
  )
    return undefined;
  const statement =
    unit.statement.type === "VariableDeclaration"
      ? unit.statement
      : child(unit.statement, "declaration");
  const init = child(unit.node, "init");
  return statement !== undefined && word(statement, "kind") === "const" && init !== undefined
    ? bare(init)
    : undefined;
}

function hasDefault(written: Node): boolean {
  return (
    (written.type === "TSParameterProperty" ? need(written, "parameter") : written).type ===
    "AssignmentPattern"
  );
}

function parameterName(written: Node): string {
  if (written.type === "RestElement") {
    const name = nameOf(child(written, "argument"));
    return name === undefined ? "" : `...${name}`;
  }
  if (written.type === "TSParameterProperty") return parameterName(need(written, "parameter"));
  return nameOf(written.type === "AssignmentPattern" ? need(written, "left") : written) ?? "";
}

/** The name of a member that stands at a key, if the text tells. */
type NameIn = (member: Node, key: Node) => string | undefined;

/** Members of `this` that an assignment writes: one, or those in its pattern. */
function ownTargets(target: Node, nameIn: NameIn): string[] {
  if (
    target.type === "ArrayPattern" ||
    target.type === "ObjectPattern" ||
    target.type === "Property" ||
    target.type === "RestElement"
  )
    return children(target).flatMap((one) => ownTargets(bare(one), nameIn));
  if (target.type === "AssignmentPattern") return ownTargets(bare(need(target, "left")), nameIn);
  if (target.type !== "MemberExpression" || need(target, "object").type !== "ThisExpression")
    return [];
  const name = nameIn(target, need(target, "property"));
  return name === undefined ? [] : [name];
}

// `this.name = name` in a constructor is how JavaScript declares most of its fields.
function assignedFields(node: Node, nameIn: NameIn): string[] {
  const found: string[] = [];
  const seek = (one: Node): void => {
    if (isFunction(one) || one.type === "ClassBody") return;
    if (
      one.type === "AssignmentExpression" &&
      /^(\?\?|\|\||&&)?=$/.test(word(one, "operator")) &&
      !isFunction(bare(need(one, "right")))
    )
      found.push(...ownTargets(bare(need(one, "left")), nameIn));
    children(one).forEach(seek);
  };
  seek(node);
  return found;
}
