// Exported classes, as serialization needs them: data members and constructor parameters, read from
// the source, because run time never looks into code.

import type { Module } from "../read/analyze.ts";
import { positionOf } from "../read/code-frame.ts";
import { callableOf } from "../procedures/callable.ts";
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
} from "../read/tree.ts";

/** An exported class, with what it inherits from classes of the file that aren't exported. */
export interface ClassDescription {
  /** Empty for `export default class {}`. */
  readonly name: string;
  readonly export: string;
  /** Local name of the parent, or the text of the expression. */
  readonly superclass?: string;
  /** Of the constructor: `...x` for a rest, `""` for a pattern. Absent if it is inherited. */
  readonly parameters?: readonly string[];
  /** Those of them that have a default. */
  readonly defaults?: readonly string[];
  /** Where one of these is a pattern without a default. */
  readonly pattern?: { readonly line: number; readonly column: number };
  /** Those without `?`, default or `...` whose type doesn't include `undefined`. */
  readonly required?: readonly RequiredParameter[];
  /** The first computed name of a member that the text doesn't tell, as it is written. */
  readonly unread?: string;
  /** Public instance members that hold data. */
  readonly members: readonly ClassMember[];
}

export interface RequiredParameter {
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

export interface ClassMember {
  readonly name: string;
  readonly readable: boolean;
  readonly writable: boolean;
}

type ConstructorDescription = Pick<
  ClassDescription,
  "parameters" | "defaults" | "pattern" | "required"
>;

interface ClassShape {
  readonly superclass: string | undefined;
  readonly constructor: ConstructorDescription | undefined;
  readonly members: readonly ClassMember[];
  readonly unread: string | undefined;
}

/** The exported classes of a module, each once for every name that it is exported by. */
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

/** The shape of a class, together with the parents that no other module can name. */
function shapeOf(module: Module, node: Node, seen: ReadonlySet<Node>): ClassShape {
  const { constructor, members, unread } = readClassBody(module, node);
  const superClass = child(node, "superClass");
  const parent = superClass === undefined ? undefined : bare(superClass);
  if (parent === undefined)
    return {
      superclass: undefined,
      constructor: constructor ?? { parameters: [] },
      members: [...members.values()],
      unread,
    };
  const unexported = unexportedClass(module, parent);
  if (unexported === undefined || seen.has(unexported)) {
    return {
      superclass: module.source.slice(parent.start, parent.end),
      constructor,
      members: [...members.values()],
      unread,
    };
  }
  const inherited = shapeOf(module, unexported, new Set([...seen, node]));
  const byName = inherited.members.map((member) => [member.name, member] as const);
  return {
    superclass: inherited.superclass,
    constructor: constructor ?? inherited.constructor,
    members: [...new Map([...byName, ...members]).values()],
    unread: unread ?? inherited.unread,
  };
}

function unexportedClass(module: Module, parent: Node): Node | undefined {
  if (parent.type !== "Identifier") return undefined;
  const name = word(parent, "name");
  const units = module.bindings.get(name) ?? [];
  if (module.exports.some((found) => found.units.some((unit) => units.includes(unit))))
    return undefined;
  return callableOf(module, { exported: name, local: name, units, node: parent }).class;
}

interface ClassBody {
  /** `undefined` if the class has no constructor of its own. */
  readonly constructor: ConstructorDescription | undefined;
  readonly members: ReadonlyMap<string, ClassMember>;
  readonly unread: string | undefined;
}

/** The name of the member at a key, if the text tells it. */
type NameOfMember = (member: Node, key: Node) => string | undefined;

function readClassBody(module: Module, node: Node): ClassBody {
  const members = new Map<string, ClassMember>();
  let constructor: ConstructorDescription | undefined;
  let unread: string | undefined;
  const nameOfMember: NameOfMember = (member, key) => {
    const computed = member["computed"] === true;
    const name =
      memberName(member, key) ?? (computed ? constantName(module, bare(key)) : undefined);
    // A member whose key is a symbol can't be sent, so its name doesn't matter.
    if (name === undefined && computed && !isSymbol(module, bare(key)))
      unread ??= `[${module.source.slice(key.start, key.end)}]`;
    return name;
  };
  const addField = (name: string): void => {
    if (!members.has(name)) members.set(name, { name, readable: true, writable: true });
  };
  const nodes = list(need(node, "body"), "body");
  for (const member of nodes) {
    const key = child(member, "key");
    const isData =
      member["static"] !== true &&
      word(member, "kind") !== "method" &&
      member.type !== "TSIndexSignature";
    const name = key === undefined || !isData ? undefined : nameOfMember(member, key);
    if (name === undefined) continue;
    const kind = word(member, "kind");
    if (kind === "get" || kind === "set") {
      if (member.type !== "MethodDefinition") continue;
      const previous = members.get(name);
      members.set(name, {
        name,
        readable: kind === "get" || previous?.readable === true,
        writable: kind === "set" || previous?.writable === true,
      });
    } else if (member.type === "PropertyDefinition" || member.type === "AccessorProperty") {
      // A field that holds a function is a method written in another way: it can't be sent.
      const value = child(member, "value");
      if (value === undefined || !isFunction(bare(value))) addField(name);
    }
  }
  for (const member of nodes) {
    const fn = child(member, "value");
    if (word(member, "kind") !== "constructor" || fn?.type !== "FunctionExpression") continue;
    const parameters = list(fn, "params");
    constructor = describeConstructor(module, parameters);
    for (const parameter of parameters)
      if (parameter.type === "TSParameterProperty") addField(parameterName(parameter));
    for (const name of assignedFields(need(fn, "body"), nameOfMember)) addField(name);
  }
  return { constructor, members, unread };
}

function describeConstructor(module: Module, parameters: readonly Node[]): ConstructorDescription {
  const defaults = parameters.filter(hasDefault).map(parameterName);
  const pattern = parameters.find(
    ({ type }) => type === "ObjectPattern" || type === "ArrayPattern",
  );
  // A parameter with `readonly` or `public` is a member itself.
  const required = parameters
    .filter((parameter) => parameter.type === "Identifier" && !mayBeUndefined(module, parameter))
    .map((parameter) => ({
      name: parameterName(parameter),
      ...positionOf(module.source, parameter.start),
    }));
  return {
    parameters: parameters.map(parameterName),
    ...(required.length > 0 && { required }),
    ...(defaults.length > 0 && { defaults }),
    ...(pattern && { pattern: positionOf(module.source, pattern.start) }),
  };
}

function mayBeUndefined(module: Module, parameter: Node): boolean {
  return (
    parameter["optional"] === true ||
    module.types
      .members(child(parameter, "typeAnnotation"))
      .some(({ type }) => /^TS(?:Undefined|Unknown|Any)Keyword$/.test(type))
  );
}

/** The name of a key computed from a constant: `[kind]` after `const kind = "kind"`. */
function constantName(module: Module, key: Node): string | undefined {
  const value = constantValue(module, key);
  return value === undefined ? undefined : memberName({ ...value, computed: true }, value);
}

/** `Symbol.iterator`, `Symbol("x")`, `Symbol.for("x")`, or a constant that is one of these. */
function isSymbol(module: Module, key: Node): boolean {
  const value = constantValue(module, key) ?? key;
  const { start, end } = value.type === "CallExpression" ? need(value, "callee") : value;
  return /^Symbol\b/.test(module.source.slice(start, end));
}

function constantValue(module: Module, key: Node): Node | undefined {
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

function hasDefault(parameter: Node): boolean {
  const pattern =
    parameter.type === "TSParameterProperty" ? need(parameter, "parameter") : parameter;
  return pattern.type === "AssignmentPattern";
}

function parameterName(parameter: Node): string {
  if (parameter.type === "RestElement") {
    const name = nameOf(child(parameter, "argument"));
    return name === undefined ? "" : `...${name}`;
  }
  if (parameter.type === "TSParameterProperty") return parameterName(need(parameter, "parameter"));
  return nameOf(parameter.type === "AssignmentPattern" ? need(parameter, "left") : parameter) ?? "";
}

// `this.name = name` in a constructor is how JavaScript declares most of its fields.
function assignedFields(body: Node, nameOfMember: NameOfMember): string[] {
  const names: string[] = [];
  const seek = (node: Node): void => {
    if (isFunction(node) || node.type === "ClassBody") return;
    if (
      node.type === "AssignmentExpression" &&
      /^(\?\?|\|\||&&)?=$/.test(word(node, "operator")) &&
      !isFunction(bare(need(node, "right")))
    )
      names.push(...membersOfThis(bare(need(node, "left")), nameOfMember));
    children(node).forEach(seek);
  };
  seek(body);
  return names;
}

/** The members of `this` that an assignment writes: its target, or targets inside a pattern. */
function membersOfThis(target: Node, nameOfMember: NameOfMember): string[] {
  if (
    target.type === "ArrayPattern" ||
    target.type === "ObjectPattern" ||
    target.type === "Property" ||
    target.type === "RestElement"
  )
    return children(target).flatMap((below) => membersOfThis(bare(below), nameOfMember));
  if (target.type === "AssignmentPattern")
    return membersOfThis(bare(need(target, "left")), nameOfMember);
  if (target.type !== "MemberExpression" || need(target, "object").type !== "ThisExpression")
    return [];
  const name = nameOfMember(target, need(target, "property"));
  return name === undefined ? [] : [name];
}
