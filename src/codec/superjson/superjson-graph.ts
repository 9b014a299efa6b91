// Copies a value for superjson to write: every object once, however many references lead to it, instances in their
// sendable form, and nothing that superjson would lose.

import { bytesOf, fillBlobForm, isBlob, kindOf } from "../values/binary.ts";
import { type FormWalk, Opaque } from "../class-table.ts";
import { classOf, unknownInstance } from "../encode.ts";
import { formWalk, type WalkOptions } from "../form-walk.ts";
import { keyOfError, nameOwner } from "../error-form.ts";
import { Fault, faultAt, isForbidden } from "../values/fault.ts";
import { textOf } from "../values/public-message.ts";
import { ofThisRealm } from "../values/realm.ts";
import { type Properties, readInstance } from "../instance.ts";
import { numberArrays } from "./superjson-scalars.ts";
import { maxLevels, refuseHole, refuseMore, refuseSymbols, walkValue } from "../values/walk.ts";

// superjson annotates a value by its path from the root, and writes the path anew at each level: one key of a
// megabyte over ten thousand dates would become ten gigabytes. Ordinary values stay far below these limits.
const freePathLength = 256;
const maxPathLengths = 4_194_304;
const maxPathWrites = 100_000_000;

export interface GraphOptions extends WalkOptions {
  readonly carriers: Carriers;
}

/** Makes the objects that superjson writes in place of instances, bytes and errors. */
export interface Carriers {
  /** For an instance of the class with this key. */
  readonly instance: (key: string) => object;
  /** For a Blob or File. Takes the members of a Binary form. */
  readonly binary: () => object;
  readonly error: () => Error;
  /** Lets errors have a member that most don't have. */
  readonly allow: (member: string) => void;
}

/** The form of an error that a page sends: services don't accept errors from pages. */
const bareError = { type: "Error", message: "", trace: [] };

/** A walk that knows the length of its current path. */
export interface GraphWalk extends FormWalk {
  pathLength: number;
}

/** A walk that leaves a graph for superjson behind. */
export function graphWalk({ carriers, ...options }: GraphOptions): GraphWalk {
  const { classes } = options;
  const copies = new Map<object, unknown>();
  /** Objects of this realm, by the values of another realm that they replace. */
  const owns = new Map<object, object>();
  let pathLengths = 0;
  let pathWrites = 0;
  /** Counts the path to the current value, which superjson will write. */
  const countPath = (): void => {
    pathLengths += Math.max(0, walk.pathLength - freePathLength);
    pathWrites += walk.pathLength * walk.level;
    if (pathLengths > maxPathLengths || pathWrites > maxPathWrites)
      throw new Fault("superjson would write too many paths that are too long");
  };
  // superjson itself writes `undefined`, bigints and numbers that aren't finite.
  const replace = (value: unknown): unknown => {
    if (typeof value === "function" || typeof value === "symbol")
      throw new Fault(`a ${typeof value} can't be sent`);
    countPath();
    return value;
  };
  const walk: GraphWalk = {
    ...formWalk(options, replace),
    replace,
    pathLength: 0,
    graph: (value) => {
      // It is registered before its parts are copied, as those may refer to it.
      const known = copies.get(value) ?? copies.get(owns.get(value)!);
      if (known !== undefined) {
        countPath();
        return known;
      }
      if (++walk.level > maxLevels) throw new Fault(`more than ${maxLevels} levels of nesting`);
      const copy = copyOf(value);
      walk.level--;
      return copy;
    },
  };
  const at = <T>(key: string | number, holder: object, act: () => T): T => {
    const { pathLength } = walk;
    walk.pathLength += typeof key === "number" ? 4 : key.length + 1;
    try {
      return act();
    } catch (thrown) {
      throw faultAt(thrown, key, holder);
    } finally {
      walk.pathLength = pathLength;
    }
  };
  const keep = <T extends object>(value: object, copy: T): T => {
    copies.set(value, copy);
    return copy;
  };

  function copyOf(value: object): unknown {
    if (Array.isArray(value)) return fillList(value, keep(value, []));
    if (value instanceof Opaque) {
      countPath();
      return copyOpaque(value);
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null)
      return fillMembers(value, keep(value, {}));
    countPath();
    const known = classOf(value, classes);
    if (value instanceof Error) return copyError(value);
    if (known?.hasForm === false)
      return Object.assign(
        keep(value, carriers.instance(known.record.key)),
        readInstance(value, known, walk),
      );
    // An instance of a class that extends one of these travels as the base class.
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw new Fault("superjson can't carry an invalid date");
      return keep(value, new Date(value));
    }
    if (value instanceof Map) {
      const map = keep(value, new Map<unknown, unknown>());
      let row = 0;
      for (const pair of value)
        at(row++, value, () => {
          const [key, item] = pair.map((side, index) =>
            at(index, pair, () => walkValue(side, walk)),
          );
          map.set(key, item);
        });
      return map;
    }
    if (value instanceof Set) {
      const set = keep(value, new Set<unknown>());
      let index = 0;
      for (const item of value) set.add(at(index++, value, () => walkValue(item, walk)));
      return set;
    }
    if (value instanceof RegExp) return keep(value, new RegExp(value.source, value.flags));
    if (value instanceof URL) return keep(value, new URL(value));
    if (bytesOf(value) !== undefined) return copyNumbers(value, keep);
    if (isBlob(value)) {
      const why = walk.hint?.(value);
      if (why !== undefined) throw new Fault(why);
      return fillBlobForm(keep(value, carriers.binary()), value, walk);
    }
    // A plain object of another realm.
    if (Object.getPrototypeOf(prototype) === null) return fillMembers(value, keep(value, {}));
    const own = ofThisRealm(value);
    if (own) {
      owns.set(value, own);
      return copyOf(own);
    }
    throw unknownInstance(value, walk);
  }

  function fillList(list: readonly unknown[], copy: unknown[]): unknown[] {
    refuseMore(list, classes.of(list));
    for (let index = 0; index < list.length; index++)
      copy.push(
        at(index, list, () => {
          refuseHole(list, index);
          return walkValue(list[index], walk);
        }),
      );
    return copy;
  }

  function fillMembers(members: object, copy: Properties): Properties {
    refuseSymbols(members);
    for (const key of Object.keys(members))
      at(key, members, () => {
        if (isForbidden(key)) throw new Fault("no receiver takes this key");
        copy[key] = walkValue((members as Properties)[key], walk);
      });
    return copy;
  }

  function copyError(error: Error): object {
    const hidden = classes.hides?.(error) === true;
    const key = hidden ? undefined : keyOfError(error, classes);
    const dom = hidden || key !== undefined ? undefined : nameOwner(error, textOf(error.name));
    const copy = keep(
      error,
      key === undefined ? carriers.error() : carriers.instance(key),
    ) as Properties;
    const {
      type,
      message,
      trace,
      fields = {},
      cause,
      stack,
      args,
      outside,
    } = (classes.errorForm?.(error, walk) ?? bareError) as Properties;
    const form: Properties = { name: type, message, trace, fields };
    const rare = { dom, outside, stack };
    for (const name of Object.keys(rare) as (keyof typeof rare)[])
      if (rare[name] !== undefined) {
        form[name] = rare[name];
        carriers.allow(name);
      }
    if (args !== undefined) form["args"] = args;
    if (cause !== undefined) form["cause"] = cause;
    for (const name of Object.keys(form))
      Object.defineProperty(copy, name, {
        value: form[name],
        configurable: true,
        enumerable: true,
        writable: true,
      });
    return copy;
  }

  /** Decodes an instance that came as `serialized`: superjson would take its forms for data. */
  function copyOpaque(opaque: Opaque): object {
    const form = structuredClone(opaque.form ?? {}) as Properties;
    const parts = opaque.parts ?? {
      key: String(form["key"]),
      args: form["args"],
      fields: form["fields"],
    };
    const copy = keep(opaque, carriers.instance(parts.key) as Properties);
    for (const name of ["args", "fields"] as const) {
      const members = (parts[name] ?? {}) as Properties;
      copy[name] = at(name, opaque, () =>
        fillMembers(opaque.parts ? members : opaque.read(members), {}),
      );
    }
    return copy;
  }

  return walk;
}

function copyNumbers(value: object, keep: <T extends object>(value: object, copy: T) => T): object {
  const kind = kindOf(value);
  const Kind = numberArrays.get(kind);
  if (Kind === undefined)
    throw new Fault(`superjson can't carry ${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`);
  const numbers = value as unknown as ArrayLike<number>;
  if (kind.startsWith("Float"))
    for (let index = 0; index < numbers.length; index++)
      if (!Number.isFinite(numbers[index]) || Object.is(numbers[index], -0))
        throw faultAt(
          new Fault(
            `superjson can't carry ${Object.is(numbers[index], -0) ? "-0" : numbers[index]} in a ${kind}`,
          ),
          index,
          value,
        );
  return keep(value, new Kind(numbers));
}
