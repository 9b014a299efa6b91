// `locals` as they travel between services, and frozen, so that each procedure of a call reads the
// same.

import type { Locals } from "../base/call-scope.ts";
import { BadRequest, ValueNotSerializable } from "../base/errors.ts";
import { ClassTable } from "./class-table.ts";
import { decodeSerialized, encodeSerialized } from "./serialized.ts";
import { bytesOf, isBlob, kindOf } from "./values/binary.ts";
import { Fault } from "./values/fault.ts";
import { unlimited } from "../base/limits.ts";

/**
 * Refuses values that can travel elsewhere, but not in locals: gateways and proxies don't have the application's
 * classes, and bytes can't be frozen.
 */
class LocalsClasses extends ClassTable {
  override opaqueForm(value: object): undefined {
    if (bytesOf(value) !== undefined)
      throw new Fault(
        `a value of type ${kindOf(value)} can't be in locals, as nothing can freeze it; put a text there`,
      );
    if (isBeyondLock(value))
      throw new Fault(
        `this ${kindOf(value)} was frozen before, but its content can still change; leave that to locals`,
      );
    if (isBlob(value) || kindOf(value) === "FormData")
      throw new Fault(`a ${kindOf(value)} can't be in locals`);
  }
}

const options = {
  classes: new LocalsClasses(),
  path: "locals",
  hint: (value: object): string =>
    `an instance of '${value.constructor?.name || kindOf(value)}' can't be in locals, as gateways and proxies don't have the application's classes; put a plain object there`,
};

/** The text of locals; `undefined` if there are none. Throws ValueNotSerializable. */
export function encodeLocals(locals: Locals, localsBytes: number): string | undefined {
  const members = Object.entries(locals);
  if (members.length === 0) return undefined;
  const text = textOf(locals);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= localsBytes) return text;
  const sizes = members.map(([name, value]) => [name, textOf(value).length] as const);
  const [largest] = sizes.reduce((left, right) => (right[1] > left[1] ? right : left));
  throw new ValueNotSerializable(
    `locals.${largest.slice(0, 64)}: locals have ${bytes} bytes, and this is the largest member; the limit is ${localsBytes} ('localsBytes')`,
  );
}

// It is a promise only with a Blob in it, which is refused.
const textOf = (value: unknown): string => encodeSerialized(value, options) as string;

/** The locals of a text. Throws BadRequest if it has none. */
export function decodeLocals(text: string): Locals {
  const locals = decodeSerialized(text, {
    classes: options.classes,
    path: options.path,
    limits: unlimited,
    trusted: true,
  });
  if (typeof locals !== "object" || locals === null || kindOf(locals) !== "Object")
    throw new BadRequest("locals must be an object");
  return locals;
}

/**
 * Freezes a value deeply. Dates, URLs and collections, which `Object.freeze` leaves changeable, get methods that
 * throw.
 */
export function freezeDeeply(value: unknown, frozen: Set<object> = new Set()): void {
  if (typeof value !== "object" || value === null || frozen.has(value)) return;
  frozen.add(value);
  if (Object.isExtensible(value)) {
    if (isOf(URL, value)) lockUrl(value);
    else lock(value);
  }
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value))
    freezeDeeply(Object.getOwnPropertyDescriptor(value, key)?.value, frozen);
  if (isOf(Map, value) || isOf(Set, value))
    for (const [key, entry] of value.entries()) {
      freezeDeeply(key, frozen);
      freezeDeeply(entry, frozen);
    }
}

const changes = /^(?:set|delete$|clear$|add$|append$|sort$|getOrInsert)/;

/** Types with methods that change them, and the names of these. */
const changers = [Map, Set, Date, URLSearchParams].map((type) => {
  const names = Object.getOwnPropertyNames(type.prototype);
  return [type, names.filter((name) => changes.test(name))] as const;
});

/** Also of another realm. */
const isOf = <T extends object>(
  type: abstract new (...args: never[]) => T,
  value: object,
): value is T =>
  value instanceof type || (!(value instanceof Object) && kindOf(value) === type.name);

const namesOf = (value: object): readonly string[] =>
  changers.find(([type]) => isOf<object>(type, value))?.[1] ?? [];

function lock(value: object): void {
  for (const name of namesOf(value)) Object.defineProperty(value, name, { value: refuse });
}

/** A URL changes by assignment, and by its parameters. */
function lockUrl(url: URL): void {
  lock(url.searchParams);
  const members = Object.entries(Object.getOwnPropertyDescriptors(URL.prototype));
  for (const [name, member] of members)
    if (member.set !== undefined)
      Object.defineProperty(url, name, { ...member, enumerable: false, set: refuse });
}

/** Frozen by the application itself: then it still changes, and can't get methods that throw. */
function isBeyondLock(value: object): boolean {
  if (Object.isExtensible(value)) return false;
  const name = isOf(URL, value) ? "href" : namesOf(value)[0];
  return name !== undefined && !Object.hasOwn(value, name);
}

function refuse(): never {
  throw new TypeError("locals are frozen once the procedure has started, and so is all in them");
}
