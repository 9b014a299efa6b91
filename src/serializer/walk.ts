import type { ClassSource } from "./classes.ts";
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
  /** Refuse keys that no decoder takes. */
  readonly strict: boolean;
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
  readonly classes: ClassSource;
  readonly stacks: boolean;
  /** Blobs that are still being read. */
  readonly pending: Promise<void>[];
}

/** The value as `JSON.stringify` may have it. Copy on write: what needs no change is given back as it is. */
export function walkValue(value: unknown, walk: Walk): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (typeof value !== "object") return walk.replace(value, walk);
  if (walk.graph !== undefined) return walk.graph(value);
  if (++walk.level > mostLevels || ++walk.objects > mostObjects)
    throw new Fault(`more than ${mostLevels} levels of nesting, or ${mostObjects} objects`);
  if (walk.strict && walk.objects > freeObjects && walk.objects > freeObjects + mostPlaces * (walk.found ??= new Set()).add(value).size)
    throw new Fault("the same few in many places would be too many objects");
  let result: unknown;
  if (Array.isArray(value)) result = walkArray(value, walk);
  else {
    const prototype: unknown = Object.getPrototypeOf(value);
    // Data that looks like a marker needs a marker of its own.
    const plain = (prototype === Object.prototype || prototype === null) && !("serialized" in value && value.serialized === true);
    result = plain ? walkMembers(value, walk) : walk.replace(value, walk);
  }
  walk.level--;
  return result;
}

function walkArray(array: readonly unknown[], walk: Walk): readonly unknown[] {
  let copy: unknown[] | undefined;
  let index = 0;
  try {
    for (; index < array.length; index++) {
      const one = array[index];
      const result = walkValue(one, walk);
      // No `slice`: of a class that extends Array it would call the constructor.
      if (result !== one) (copy ??= [...array])[index] = result;
    }
  } catch (thrown) {
    throw faultAt(thrown, index, array);
  }
  return copy ?? array;
}

/** The own members of an object; of an instance, only those that hold data (its functions are behaviour). */
export function walkMembers(object: object, walk: Walk, instance = false): object {
  const members = object as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  let key = "";
  try {
    for (key of Object.keys(object)) {
      if (walk.strict && isForbidden(key)) throw new Fault("no receiver takes this key");
      const one = members[key];
      // JSON leaves both out.
      if (one === undefined || (instance && typeof one === "function")) continue;
      const result = walkValue(one, walk);
      // A spread copies an own `__proto__` as data, so that writing it afterwards is harmless.
      if (result !== one) (copy ??= { ...members })[key] = result;
    }
  } catch (thrown) {
    throw faultAt(thrown, key, object);
  }
  return copy ?? object;
}
