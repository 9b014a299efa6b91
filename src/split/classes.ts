// Exported classes, as serialization needs them (§2.3): read from the source, as run time must not guess.

import type { Module } from "./analyze.ts";
import { callableOf } from "./callable.ts";
import type { ClassDescription, ClassMember } from "./describe.ts";
import { bare, child, children, isFunction, list, memberName, nameOf, need, type Node, word } from "./tree.ts";

interface Shape {
  readonly superclass: string | undefined;
  readonly constructor: Parameters | undefined;
  readonly members: readonly ClassMember[];
}

/** Of a constructor; see {@link ClassDescription}. */
type Parameters = Pick<ClassDescription, "parameters" | "pattern">;

/** Every exported class of the module, once for each name that it is exported by. */
export function classesOf(module: Module): ClassDescription[] {
  return module.exports.flatMap((found) => {
    const { class: node, ownName = "" } = callableOf(module, found);
    if (node === undefined) return [];
    const { superclass, constructor, members } = shapeOf(module, node, new Set());
    return [
      {
        name: ownName,
        export: found.exported,
        ...(superclass === undefined ? {} : { superclass }),
        ...constructor,
        members,
      },
    ];
  });
}

/** A class together with those of its parents that nobody else can name. */
function shapeOf(module: Module, node: Node, seen: ReadonlySet<Node>): Shape {
  const written = child(node, "superClass");
  const own = new Map<string, ClassMember>();
  const constructor = readMembers(node, own);
  const parent = written === undefined ? undefined : bare(written);
  if (parent === undefined) return { superclass: undefined, constructor: constructor ?? { parameters: [] }, members: [...own.values()] };
  const hidden = hiddenClass(module, parent);
  if (hidden === undefined || seen.has(hidden)) {
    return { superclass: module.source.slice(parent.start, parent.end), constructor, members: [...own.values()] };
  }
  const above = shapeOf(module, hidden, new Set([...seen, node]));
  const members = new Map([...above.members.map((one) => [one.name, one] as const), ...own]);
  return { superclass: above.superclass, constructor: constructor ?? above.constructor, members: [...members.values()] };
}

function hiddenClass(module: Module, parent: Node): Node | undefined {
  if (parent.type !== "Identifier") return undefined;
  const name = word(parent, "name");
  const units = module.bindings.get(name) ?? [];
  if (module.exports.some((one) => one.units.some((unit) => units.includes(unit)))) return undefined;
  return callableOf(module, { exported: name, local: name, units, node: parent }).class;
}

/** Fills `into` with the public data of a class body; gives the constructor's parameters, if it has a constructor. */
function readMembers(node: Node, into: Map<string, ClassMember>): Parameters | undefined {
  let constructor: Parameters | undefined;
  const field = (name: string): void => {
    if (!into.has(name)) into.set(name, { name, readable: true, writable: true });
  };
  const members = list(need(node, "body"), "body");
  for (const member of members) {
    const key = child(member, "key");
    const name = key === undefined || member["static"] === true ? undefined : memberName(member, key);
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
    const pattern = parameters.some((one) => one.type === "ObjectPattern" || one.type === "ArrayPattern");
    constructor = { parameters: parameters.map(parameterName), ...(pattern && { pattern }) };
    for (const one of parameters) if (one.type === "TSParameterProperty") field(parameterName(one));
    for (const name of assignedFields(need(fn, "body"))) field(name);
  }
  return constructor;
}

function parameterName(written: Node): string {
  if (written.type === "RestElement") {
    const name = nameOf(child(written, "argument"));
    return name === undefined ? "" : `...${name}`;
  }
  if (written.type === "TSParameterProperty") return parameterName(need(written, "parameter"));
  return nameOf(written.type === "AssignmentPattern" ? need(written, "left") : written) ?? "";
}

/** Members of `this` that an assignment writes: one, or those in its pattern. */
function ownTargets(target: Node): string[] {
  if (target.type === "ArrayPattern" || target.type === "ObjectPattern" || target.type === "Property" || target.type === "RestElement")
    return children(target).flatMap((one) => ownTargets(bare(one)));
  if (target.type === "AssignmentPattern") return ownTargets(bare(need(target, "left")));
  if (target.type !== "MemberExpression" || need(target, "object").type !== "ThisExpression") return [];
  const name = memberName(target, need(target, "property"));
  return name === undefined ? [] : [name];
}

// `this.name = name` in a constructor is how JavaScript declares most of its fields.
function assignedFields(node: Node): string[] {
  const found: string[] = [];
  const seek = (one: Node): void => {
    if (isFunction(one) || one.type === "ClassBody") return;
    if (one.type === "AssignmentExpression" && /^(\?\?|\|\||&&)?=$/.test(word(one, "operator")) && !isFunction(bare(need(one, "right"))))
      found.push(...ownTargets(bare(need(one, "left"))));
    children(one).forEach(seek);
  };
  seek(node);
  return found;
}
