// Arguments without undeclared members. The message's own objects never change: an object that loses members
// is copied, once, so shared objects stay shared.

import { indexTypes, type Matcher, type Place } from "./match.ts";
import type { Type, TypeModel } from "./model.ts";
import { itemOf, memberOf, reaches } from "./values.ts";

export interface Reshape {
  /** A value that has the type, without unknown members of its plain objects. */
  readonly reshape: (type: Type, value: unknown, place: Place) => unknown;
  /** The places of members that were left out. */
  readonly lost: readonly Place[];
}

export function createReshape(
  model: Pick<TypeModel, "definitions">,
  { matches, resolve, candidates }: Pick<Matcher, "matches" | "resolve" | "candidates">,
  isTree: boolean,
): Reshape {
  const lost: Place[] = [];
  const copies = new Map<object, Map<Type | string, object>>();
  const ids = new Map<Type, number>();
  return { reshape, lost };

  function reshape(reference: Type, value: unknown, place: Place): unknown {
    if (typeof value !== "object" || value === null) return value;
    const type = resolve(reference);
    if (type.kind === "union") return copyOfAll(fitting(type, value), value, place);
    return hasClosed(model, type) ? copyOf(type, [type], value, place) : value;
  }

  /** A value of a union keeps the members of all arms that it fits. */
  function reshapeAll(references: readonly Type[], value: object, place: Place): unknown {
    const types: Type[] = [];
    for (const reference of references) add(types, resolve(reference));
    if (types.length === 1) return reshape(types[0]!, value, place);
    const arms: Type[] = [];
    for (const type of types)
      if (type.kind === "union") for (const arm of fitting(type, value)) add(arms, arm);
      else add(arms, type);
    return copyOfAll(arms, value, place);
  }

  /** The arms of a union that a value fits. */
  function fitting({ arms }: Type & { readonly kind: "union" }, value: object): Type[] {
    const possible = candidates(arms, value);
    if (possible.length === 1) return possible;
    const found: Type[] = [];
    for (const arm of possible) if (matches(arm, value)) found.push(arm);
    return found;
  }

  function copyOfAll(types: readonly Type[], value: object, place: Place): unknown {
    // A type that takes any member lets all of them stay.
    for (const type of types) if (!hasClosed(model, type)) return value;
    const key = types.length === 1 ? types[0]! : isTree ? "" : types.map(idOf).join();
    return copyOf(key, types, value, place);
  }

  /** `key` identifies the types in `all`: the same value may also be copied by others. */
  function copyOf(key: Type | string, all: readonly Type[], value: object, place: Place): unknown {
    const known = isTree ? undefined : copies.get(value);
    const copied = known?.get(key);
    if (copied !== undefined) return copied;
    const copy = emptyLike(value);
    if (copy === undefined) return value;
    // Set before its parts are copied, as they may lead back to it.
    if (known !== undefined) known.set(key, copy);
    else if (!isTree) copies.set(value, new Map([[key, copy]]));
    if (Array.isArray(copy)) {
      const list = value as readonly unknown[];
      const isUniform = all.every((type) => type.kind !== "tuple");
      let types = itemTypes(all, 0, list.length);
      for (let index = 0; index < list.length; index++) {
        if (!isUniform) types = itemTypes(all, index, list.length);
        copy[index] = inside(types, list[index], place, index);
      }
    } else if (copy instanceof Map) {
      const maps = all.filter((type) => type.kind === "map");
      for (const [name, item] of value as ReadonlyMap<unknown, unknown>)
        copy.set(
          inside(
            maps.map((type) => type.keys),
            name,
            place,
            { call: ".keys()" },
          ),
          inside(
            maps.map((type) => type.values),
            item,
            place,
            { call: ".values()" },
          ),
        );
    } else if (copy instanceof Set) {
      const sets = all.filter((type) => type.kind === "set");
      for (const item of value as ReadonlySet<unknown>)
        copy.add(
          inside(
            sets.map((type) => type.items),
            item,
            place,
            { call: ".values()" },
          ),
        );
    } else
      for (const name of Object.keys(value)) {
        const types = memberTypes(all, name);
        // A key that reaches the prototype is refused by every decoder; here it would set one.
        if (types.length === 0 || name === "__proto__") lost.push({ outer: place, key: name });
        else
          (copy as Record<string, unknown>)[name] = inside(
            types,
            memberOf(value, name),
            place,
            name,
          );
      }
    return copy;
  }

  function inside(types: readonly Type[], item: unknown, outer: Place, key: Place["key"]): unknown {
    return typeof item === "object" && item !== null
      ? reshapeAll(types, item, { outer, key })
      : item;
  }

  function idOf(type: Type): number {
    const id = ids.get(type) ?? ids.size;
    ids.set(type, id);
    return id;
  }
}

/** Adds a type if it is missing. For a few types, this is faster than a set. */
function add(types: Type[], type: Type): void {
  if (!types.includes(type)) types.push(type);
}

const closed = new WeakMap<Type, boolean>();

const isObject = ({ kind }: Type): boolean => kind === "object";

/** Whether values of a type can have undeclared members. */
function hasClosed(model: Pick<TypeModel, "definitions">, type: Type): boolean {
  return closed.get(type) ?? reaches(model, type, isObject, closed);
}

// A loop, as this runs for each member of a possibly large message.

function itemTypes(all: readonly Type[], index: number, length: number): Type[] {
  const types: Type[] = [];
  for (const type of all)
    if (type.kind === "array") add(types, type.items);
    else if (type.kind === "tuple") add(types, itemOf(type, index, length).type);
  return types;
}

function memberTypes(all: readonly Type[], name: string): Type[] {
  const types: Type[] = [];
  for (const type of all) {
    if (type.kind !== "object") continue;
    if (Object.hasOwn(type.members, name)) types.push(type.members[name]!.type);
    else if (type.index !== undefined) types.push(...indexTypes(type, name));
  }
  return types;
}

/** An empty container for a copy; `undefined` for an instance, which isn't copied. */
function emptyLike(value: object): object | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return {};
  if (Array.isArray(value)) return [];
  return value instanceof Map ? new Map() : value instanceof Set ? new Set() : undefined;
}
