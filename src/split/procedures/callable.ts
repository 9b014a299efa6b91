// The kind of an export, as far as its text tells: an async function, a wrapped one, a class, or else.

import type { Module } from "../read/analyze.ts";
import { declaredType } from "./declared-type.ts";
import type { LocalExport } from "../read/exports.ts";
import { bare, child, isFunction, list, nameOf, need, type Node, word } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

/** The value of an export. */
export interface Callable {
  /** `wrapped`: another function made it, as in `authed(async (user, title) => …)`. */
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other";
  /** The function; for `wrapped`, the async function that the wrapper gets, if there is one. */
  readonly fn?: Node;
  /** The function, or the declared type of a wrapped one: callers' parameters are its `params`. */
  readonly signature?: Node;
  /**
   * A call makes it, and no type here tells its parameters. A route needs none: it gets the request.
   */
  readonly untyped?: true;
  /** It returns an async iterator, not a promise. */
  readonly stream?: true;
  /**
   * The call `checked(schema, async (order) => …)`: callers have the function's own parameters, but the
   * schema gives the type of the first one, not its annotation.
   */
  readonly checked?: Node;
  /** The class. */
  readonly class?: Node;
  /** The name that it has in the source. */
  readonly ownName?: string;
}

/** Reads the value of an export. */
export function callableOf(module: Module, found: LocalExport): Callable {
  // If declarations merge, such as overloads and a namespace, the function or class is the value.
  const values = found.units.map(valueOf);
  const value =
    values.find((node) => node !== undefined && (isFunction(node) || isClass(node))) ?? values[0];
  const id = value === undefined ? undefined : child(value, "id");
  const ownName = id?.type === "Identifier" ? word(id, "name") : found.local;
  const named = ownName === undefined ? {} : { ownName };
  if (value === undefined) return { kind: "other", ...named };
  if (isClass(value)) return { kind: "class", class: value, ...named };
  if (isFunction(value)) return { ...functionCallable(value), ...named };
  const [unit] = found.units;
  return {
    ...(unit === undefined ? { kind: "other" } : computedCallable(module, unit, new Set())),
    ...(found.local === undefined ? {} : { ownName: found.local }),
  };
}

/** A function that is written where it is exported. */
function functionCallable(fn: Node): Callable {
  if (fn["async"] !== true) return { kind: "sync", fn };
  if (fn["generator"] === true) return { kind: "async-generator", fn, signature: fn, stream: true };
  return { kind: "async", fn, signature: fn };
}

/** The value of an expression: another declaration's value, or a call's result. */
function computedCallable(module: Module, unit: Unit, seen: ReadonlySet<Unit>): Callable {
  const value = valueOf(unit);
  if (value === undefined || seen.has(unit)) return { kind: "other" };
  const seenHere = new Set([...seen, unit]);
  const type = declaredType(module, unit);
  if (type?.signature !== undefined) {
    const { signature } = type;
    const fn = asyncArgument(module, value, seenHere);
    const checked = checkedCall(module, value);
    return {
      kind: "wrapped",
      ...(fn === undefined ? {} : { fn }),
      ...(checked === undefined ? {} : { checked }),
      signature,
      ...(isStream(module, signature, fn) && { stream: true }),
    };
  }
  const same = sameValue(module, value);
  if (same === undefined) {
    if (value.type !== "CallExpression") return { kind: "other" };
    const fn = asyncArgument(module, value, seenHere);
    return { kind: "other", untyped: true, ...(fn === undefined ? {} : { fn }) };
  }
  if ("type" in same) {
    const { kind, ...callable } = functionCallable(same);
    const checked = checkedCall(module, value);
    return {
      kind: kind === "sync" ? kind : "wrapped",
      ...callable,
      ...(checked === undefined ? {} : { checked }),
    };
  }
  // A type that doesn't declare parameters: the function behind the name may have others.
  return type === undefined ? computedCallable(module, same.unit, seenHere) : { kind: "other" };
}

/**
 * The function or declaration whose parameters an expression has: a name, `Object.assign(f, …)`, or
 * `checked(schema, f)`.
 */
function sameValue(module: Module, value: Node): Node | { readonly unit: Unit } | undefined {
  if (isFunction(value)) return value;
  if (value.type === "CallExpression") {
    const [first, second] = list(value, "arguments");
    const same = isAssign(module, value) ? first : isChecked(module, value) ? second : undefined;
    return same === undefined ? undefined : sameValue(module, bare(same));
  }
  if (value.type !== "Identifier") return undefined;
  const [unit, ...others] = module.bindings.get(word(value, "name")) ?? [];
  if (unit === undefined || others.length > 0) return undefined;
  const declared = valueOf(unit);
  return declared !== undefined && isFunction(declared) ? declared : { unit };
}

function isAssign({ source }: Module, call: Node): boolean {
  const callee = need(call, "callee");
  return source.slice(callee.start, callee.end) === "Object.assign";
}

/** Whether a call is one of `checked` of `seamline`, under whichever name it is imported. */
function isChecked({ types }: Module, call: Node): boolean {
  const callee = need(call, "callee");
  const isMember = callee.type === "MemberExpression" && callee["computed"] !== true;
  const imported = types.importedAs(nameOf(isMember ? need(callee, "object") : callee) ?? "");
  if (imported?.specifier !== "seamline") return false;
  return isMember
    ? imported.name === "*" && nameOf(child(callee, "property")) === "checked"
    : imported.name === "checked";
}

/** The call of `checked` in an expression that has its parameters. */
function checkedCall(module: Module, value: Node): Node | undefined {
  if (value.type !== "CallExpression") return undefined;
  const [first] = list(value, "arguments");
  if (first !== undefined && isAssign(module, value)) return checkedCall(module, bare(first));
  return isChecked(module, value) ? value : undefined;
}

/** The first async function among the arguments of a call, written there or mentioned by name. */
function asyncArgument(module: Module, node: Node, seen: ReadonlySet<Unit>): Node | undefined {
  if (isFunction(node)) return node["async"] === true ? node : undefined;
  if (node.type === "CallExpression") {
    for (const argument of list(node, "arguments")) {
      const fn = asyncArgument(module, bare(argument), seen);
      if (fn !== undefined) return fn;
    }
  }
  if (node.type !== "Identifier") return undefined;
  const [unit] = module.bindings.get(word(node, "name")) ?? [];
  const value = unit === undefined || seen.has(unit) ? undefined : valueOf(unit);
  return value === undefined || unit === undefined
    ? undefined
    : asyncArgument(module, value, new Set([...seen, unit]));
}

function isClass(node: Node): boolean {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

/** The function, class or expression that a unit binds, without type assertions. */
export function valueOf(unit: Unit): Node | undefined {
  if (unit.kind === "default") return bare(need(unit.node, "declaration"));
  if (unit.kind === "declaration") return unit.node;
  if (unit.kind !== "declarator" || need(unit.node, "id").type !== "Identifier") return undefined;
  const init = child(unit.node, "init");
  return init === undefined ? undefined : bare(init);
}

/**
 * Whether a wrapped function returns an async iterator. Its type decides: a wrapper may collect the items of a
 * generator. If the type is declared elsewhere, the function inside does.
 */
function isStream({ types }: Module, signature: Node, fn: Node | undefined): boolean {
  const names = types.members(returnTypeOf(signature)).map(typeName);
  if (names.some((name) => name === "Promise" || name === "PromiseLike")) return false;
  const isIterator = names.length > 0 && names.every((name) => asyncIterators.test(name));
  return isIterator || fn?.["generator"] === true;
}

const asyncIterators = /^Async(?:Generator|Iterable(?:Iterator)?|Iterator(?:Object)?)$/;

/** The name of a type that is referred to, or empty text. */
export function typeName(type: Node | undefined): string {
  return type?.type === "TSTypeReference" ? (nameOf(child(type, "typeName")) ?? "") : "";
}

/** The type that a function or a function type returns, if it is written. */
export function returnTypeOf(signature: Node): Node | undefined {
  const annotation = child(signature, "returnType");
  return annotation === undefined ? undefined : child(annotation, "typeAnnotation");
}
