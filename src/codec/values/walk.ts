// Walks a value and replaces the parts that JSON by itself would lose, change or refuse.

import { kindOf } from "./binary.ts";
import { Fault, faultAt, isForbidden, ReferenceFault } from "./fault.ts";
import type { KnownClass } from "./known-class.ts";

/** Levels a walk descends: a stack holds some thousand frames, and each level takes two. */
export const maxLevels = 512;
// An object is sent once for each place it stands in: thirty nested lists, each holding the next
// one twice, would be a thousand million objects. This many, as forms, take a gigabyte.
const maxObjects = 4_194_304;
// A small message could still stand for that many. Beyond the number that one message may bring (`freeObjects`),
// objects may stand in `maxPlaces` places on average.
const freeObjects = 131_072;
const maxPlaces = 8;

/** How one encoding goes through a value. */
export interface Walk {
  /** Returns the replacement for a value that JSON by itself would lose, change or refuse. */
  readonly replace: (value: unknown, walk: Walk) => unknown;
  /** Refuse keys that decoders don't accept, and values that JSON would silently leave out. */
  readonly strict: boolean;
  /** `Object.prototype` has enumerable members, which a loop over an object sees. */
  readonly polluted: boolean;
  /** Handles every object itself, for an encoding that keeps references. */
  readonly graph?: (value: object) => unknown;
  /** The application's classes, for a strict walk. */
  readonly classes?: { of(value: object): KnownClass | undefined };
  level: number;
  /** Objects until now. */
  objects: number;
  /** The distinct ones among those after the first {@link freeObjects}. */
  found?: Set<object>;
}

/**
 * Whether a loop over an object sees inherited members. Libraries that do this to all objects are old, and still in
 * use.
 */
export function isPolluted(): boolean {
  for (const _ in {}) return true;
  return false;
}

/** The value in a form for `JSON.stringify`. Copy on write: parts that need no change are returned as they are. */
export function walkValue(value: unknown, walk: Walk): unknown {
  if (isScalar(value)) return value;
  return typeof value === "object" ? walkObject(value as object, walk) : walk.replace(value, walk);
}

function walkObject(object: object, walk: Walk): unknown {
  if (walk.graph !== undefined) return walk.graph(object);
  if (++walk.level > maxLevels || ++walk.objects > freeObjects) refuseTooMany(object, walk);
  let result: object;
  if (Array.isArray(object)) {
    if (walk.strict) refuseMore(object, walk.classes?.of(object));
    result = walkItems(object, walk);
  } else {
    const prototype: unknown = Object.getPrototypeOf(object);
    // Data that looks like a form needs a form around it.
    if (
      (prototype !== Object.prototype && prototype !== null) ||
      (walk.strict ? (object as Marked).serialized === true : hasToJson(object))
    ) {
      const form = walk.replace(object, walk);
      walk.level--;
      return form;
    }
    result = walkMembers(object, walk);
  }
  walk.level--;
  return result;
}

/** Throws a {@link ReferenceFault} past a limit. */
function refuseTooMany(object: object, walk: Walk): void {
  if (walk.level > maxLevels || walk.objects > maxObjects)
    throw new ReferenceFault(`more than ${maxLevels} levels of nesting, or ${maxObjects} objects`);
  if (
    walk.strict &&
    walk.objects > freeObjects + maxPlaces * (walk.found ??= new Set()).add(object).size
  )
    throw new ReferenceFault("too many places refer to the same objects");
}

interface Marked {
  readonly serialized?: unknown;
}

/** Whether `JSON.stringify` calls the object's own conversion. */
export function hasToJson(object: object): object is { toJSON: (key: string) => unknown } {
  return typeof (object as { toJSON?: unknown }).toJSON === "function";
}

/** Whether JSON carries the value by itself. */
export function isScalar(value: unknown): boolean {
  return (
    typeof value === "string" ||
    (typeof value === "number"
      ? Number.isFinite(value) && !Object.is(value, -0)
      : typeof value === "boolean" || value === null)
  );
}

/** The items of an array, whatever other members it has. */
export function walkItems(array: readonly unknown[], walk: Walk): readonly unknown[] {
  let copy: unknown[] | undefined;
  let index = 0;
  try {
    for (; index < array.length; index++) {
      const item = array[index];
      if (isScalar(item)) continue;
      if (item === undefined && walk.strict) refuseHole(array, index);
      const result = walkValue(item, walk);
      // Not `slice`: on a class that extends Array, it would call the constructor.
      if (result !== item) (copy ??= [...array])[index] = result;
    }
  } catch (thrown) {
    throw faultAt(thrown, index, array);
  }
  return copy ?? (hasToJson(array) ? [...array] : array);
}

/** Arguments or fields of an instance whose class isn't here. They keep `undefined`. */
export const walkParts = (parts: object, walk: Walk): object =>
  walkMembers(parts, walk, false, true);

/** The own members of an object. Of an instance, leaves out functions: they are behaviour. */
export function walkMembers(
  object: object,
  walk: Walk,
  isInstance = false,
  keepUndefined = false,
): object {
  const members = object as Record<string, unknown>;
  const prototype: unknown = Object.getPrototypeOf(object);
  const inherits = walk.polluted || (prototype !== Object.prototype && prototype !== null);
  let copy: Record<string, unknown> | undefined;
  let key: string | undefined;
  if (walk.strict) refuseSymbols(object);
  try {
    // Takes half as long as a loop over `Object.keys`, and a name of its own finds members faster.
    for (const name in members) {
      key = name;
      if (inherits && !Object.hasOwn(members, name)) continue;
      if (walk.strict && isForbidden(name)) throw new Fault("no receiver takes this key");
      const member = members[name];
      // JSON leaves both out.
      if (
        isScalar(member) ||
        (member === undefined && !keepUndefined) ||
        (isInstance && typeof member === "function")
      )
        continue;
      const result = walkValue(member, walk);
      // A spread copies an own `__proto__` as data, so writing it afterwards is harmless.
      if (result !== member) (copy ??= { ...members })[name] = result;
    }
  } catch (thrown) {
    // A proxy may refuse to name its keys.
    throw key === undefined ? thrown : faultAt(thrown, key, object);
  }
  return copy ?? object;
}

/** Throws a {@link Fault} for a hole in an array: JSON would make it `null`. */
export function refuseHole(array: readonly unknown[], index: number): void {
  if (!(index in array)) throw new Fault("a hole of a sparse array can't be sent");
}

// Longer typed arrays aren't searched for further members: listing the keys of every item takes
// twenty times as long as writing them.
const maxSearchedItems = 4096;

/**
 * Throws a {@link Fault} with the path to a member that an array, or a value with a form of its own, has besides
 * its content: JSON would leave it out, and the form has no place for it. For a class that extends one of these,
 * also the members that the build recorded as its data.
 */
export function refuseMore(value: object, known?: KnownClass): void {
  const members = value as Record<string, unknown>;
  const isView = ArrayBuffer.isView(value);
  const items =
    isView || Array.isArray(value) ? ((members["length"] as number | undefined) ?? 0) : 0;
  const data =
    known &&
    [...known.names, ...known.record.fields].find(
      (name) => name && typeof members[name] !== "function",
    );
  // Members that the platform, or a test, puts on a Blob aren't data.
  const isBlob = value instanceof Blob;
  // Counting values makes no string for each index, which is most of the work of `Object.keys`.
  const more =
    isBlob || (isView && items > maxSearchedItems) || Object.values(value).length <= items
      ? undefined
      : Object.keys(value)[items];
  const lost = more ?? data;
  if (typeof lost !== "string") return isBlob ? undefined : refuseSymbols(value);
  throw faultAt(
    new Fault(`what this ${kindOf(value)} has besides its content can't be sent`),
    lost,
    value,
  );
}

/** Throws a {@link Fault} with the path to a symbol key: JSON would leave its value out. */
export function refuseSymbols(object: object): void {
  const keys = Object.getOwnPropertySymbols(object);
  if (keys.length > 0)
    for (const key of keys)
      if (Object.prototype.propertyIsEnumerable.call(object, key))
        throw faultAt(new Fault("a symbol key can't be sent"), key, object);
}
