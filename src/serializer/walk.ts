import { kindOf } from "./binary.ts";
import type { ClassTable, KnownClass } from "./class-table.ts";
import { Fault, faultAt, isForbidden } from "./fault.ts";

/** Levels that a walk of ours goes down: a JavaScript stack holds some thousand frames, of which two are spent on each. */
export const mostLevels = 512;
// One object that stands in many places is sent in each: thirty lists, each with the one before it twice, would be a thousand million
// objects. As forms, this many take a gigabyte.
const mostObjects = 4_194_304;
// And these would be a small message's: past as many as one may bring, each has to stand for a share of the places it is found in.
const freeObjects = 131_072;
const mostPlaces = 8;

/** How one encoding goes through a value. */
export interface Walk {
  /** What goes on the wire for a value that JSON by itself would lose, change or refuse. */
  readonly replace: (value: unknown, walk: Walk) => unknown;
  /** Refuse keys that no decoder takes, and what JSON would leave out without a word. */
  readonly strict: boolean;
  /** Somebody has put members on `Object.prototype` that a loop over an object sees. */
  readonly polluted: boolean;
  /** Takes every object itself: an encoding that keeps references. */
  readonly graph?: (value: object) => unknown;
  level: number;
  /** Objects until now. */
  objects: number;
  /** Those after the first {@link freeObjects}, each once. */
  found?: Set<object>;
}

/** A walk that leaves serialized forms behind it (decisions §3). */
export interface FormWalk extends Walk {
  readonly classes: ClassTable;
  readonly stacks: boolean;
  readonly hint: ((value: object) => string | undefined) | undefined;
  /** Blobs that are still being read. */
  readonly pending: Promise<void>[];
}

/** Whether a loop over an object sees what isn't its own. Libraries that do this to all objects are old, and still in use. */
export function isPolluted(): boolean {
  for (const _ in {}) return true;
  return false;
}

/** The value as `JSON.stringify` may have it. Copy on write: what needs no change is given back as it is. */
export function walkValue(value: unknown, walk: Walk): unknown {
  if (isScalar(value)) return value;
  if (typeof value !== "object") return walk.replace(value, walk);
  if (walk.graph !== undefined) return walk.graph(value as object);
  if (++walk.level > mostLevels || ++walk.objects > mostObjects)
    throw new Fault(`more than ${mostLevels} levels of nesting, or ${mostObjects} objects`);
  if (
    walk.strict &&
    walk.objects > freeObjects &&
    walk.objects > freeObjects + mostPlaces * (walk.found ??= new Set()).add(value as object).size
  )
    throw new Fault("the same few in many places would be too many objects");
  const result = walkObject(value as object, walk);
  walk.level--;
  return result;
}

function walkObject(object: object, walk: Walk): unknown {
  if (Array.isArray(object)) {
    if (walk.strict) refuseMore(object, (walk as FormWalk).classes.of(object));
    return walkItems(object, walk);
  }
  const prototype: unknown = Object.getPrototypeOf(object);
  // Data that looks like a marker needs a marker of its own.
  const plain =
    (prototype === Object.prototype || prototype === null) &&
    !(walk.strict ? "serialized" in object && object.serialized === true : hasToJson(object));
  return plain ? walkMembers(object, walk) : walk.replace(object, walk);
}

/** Whether `JSON.stringify` asks the object what to write. */
export function hasToJson(object: object): object is { toJSON: (key: string) => unknown } {
  return "toJSON" in object && typeof object.toJSON === "function";
}

/** What JSON carries by itself. */
function isScalar(value: unknown): boolean {
  return (
    typeof value === "string" ||
    (typeof value === "number"
      ? Number.isFinite(value) && !Object.is(value, -0)
      : typeof value === "boolean" || value === null)
  );
}

/** The items of an array, of which nobody asks what else it has. */
export function walkItems(array: readonly unknown[], walk: Walk): readonly unknown[] {
  let copy: unknown[] | undefined;
  let index = 0;
  try {
    for (; index < array.length; index++) {
      const one = array[index];
      if (isScalar(one)) continue;
      if (one === undefined && walk.strict) refuseHole(array, index);
      const result = walkValue(one, walk);
      // No `slice`: of a class that extends Array it would call the constructor.
      if (result !== one) (copy ??= [...array])[index] = result;
    }
  } catch (thrown) {
    throw faultAt(thrown, index, array);
  }
  return copy ?? (hasToJson(array) ? [...array] : array);
}

/** Arguments or fields of an instance of a class that isn't here: `undefined` is a value among them. */
export const walkParts = (parts: object, walk: Walk): object =>
  walkMembers(parts, walk, false, true);

/** The own members of an object; of an instance, only those that hold data (its functions are behaviour). */
export function walkMembers(
  object: object,
  walk: Walk,
  instance = false,
  undefinedToo = false,
): object {
  const members = object as Record<string, unknown>;
  const prototype: unknown = Object.getPrototypeOf(object);
  const inherits = walk.polluted || (prototype !== Object.prototype && prototype !== null);
  let copy: Record<string, unknown> | undefined;
  let key: string | undefined;
  if (walk.strict) refuseSymbols(object);
  try {
    // Half the time of a loop over `Object.keys`.
    for (key in members) {
      if (inherits && !Object.hasOwn(members, key)) continue;
      if (walk.strict && isForbidden(key)) throw new Fault("no receiver takes this key");
      const one = members[key];
      // JSON leaves both out.
      if (
        isScalar(one) ||
        (one === undefined && !undefinedToo) ||
        (instance && typeof one === "function")
      )
        continue;
      const result = walkValue(one, walk);
      // A spread copies an own `__proto__` as data, so that writing it afterwards is harmless.
      if (result !== one) (copy ??= { ...members })[key] = result;
    }
  } catch (thrown) {
    // A proxy may refuse to name its keys.
    throw key === undefined ? thrown : faultAt(thrown, key, object);
  }
  return copy ?? object;
}

/** Throws a {@link Fault} where an array has no item: JSON would make `null` of it. */
export function refuseHole(array: readonly unknown[], index: number): void {
  if (!(index in array)) throw new Fault("a hole of a sparse array can't be sent");
}

// To find what else a long typed array has, each of its items would be looked at: twenty times the work of writing it.
const mostLooked = 4096;

/**
 * Throws a {@link Fault} with the path to what an array, or what has a form of its own, has besides its content: JSON would leave it out, and no
 * form has a place for it. Of a class that extends one of these, what the build recorded as its data.
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
  // What the platform, or a test, puts on a Blob is no data.
  const isBlob = value instanceof Blob;
  // To count keys this way makes no text of each index, which is most of what `Object.keys` does.
  const more =
    isBlob || (isView && items > mostLooked) || Object.values(value).length <= items
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

/** Throws a {@link Fault} with the path to what stands under a symbol: JSON would leave it out. */
export function refuseSymbols(object: object): void {
  const keys = Object.getOwnPropertySymbols(object);
  if (keys.length > 0)
    for (const key of keys)
      if (Object.prototype.propertyIsEnumerable.call(object, key))
        throw faultAt(new Fault("a symbol key can't be sent"), key, object);
}
