// A value as superjson is to see it (decisions §3): every object once, however often it stands somewhere, instances as what they travel
// as, and nothing that superjson would lose. superjson itself writes what is left.

import { Opaque } from "./class-table.ts";
import { bytesOf, fillBlobForm, kindOf } from "./binary.ts";
import { classOf, formWalk, strange, type WalkOptions } from "./encode.ts";
import { keyOfError } from "./error-form.ts";
import { Fault, faultAt, isForbidden } from "./fault.ts";
import { type Members, readInstance } from "./instance.ts";
import { numberArrays } from "./superjson-scalars.ts";
import {
  type FormWalk,
  mostLevels,
  refuseHole,
  refuseMore,
  refuseSymbols,
  walkValue,
} from "./walk.ts";

// superjson names whatever JSON alone can't say by its path from the root, and writes the path anew at each level: one key of a megabyte
// over ten thousand dates would be ten gigabytes. What people write is far below both.
const plentifulPath = 256;
const mostPath = 4_194_304;
const mostWriting = 100_000_000;

export interface GraphOptions extends WalkOptions {
  readonly carriers: Carriers;
}

/** Objects that superjson writes as what they stand for. */
export interface Carriers {
  /** Of an instance of the class with this key. */
  readonly instance: (key: string) => object;
  /** Of a Blob or File: the members of a Binary form. */
  readonly binary: () => object;
  /** Of an error; of a DOMException it says so. */
  readonly error: (isDom: boolean) => Error;
}

/** All that a page sends of an error, which no service takes from it. */
const bareError = { type: "Error", message: "", trace: [] };

/** A walk that knows how long the path is to where it is. */
export interface GraphWalk extends FormWalk {
  written: number;
}

/** A walk that leaves a graph for superjson behind it. */
export function graphWalk({ carriers, ...options }: GraphOptions): GraphWalk {
  const { classes, stacks = false } = options;
  const copies = new Map<object, unknown>();
  let long = 0;
  let writing = 0;
  /** superjson will write the path to here. */
  const named = (): void => {
    long += Math.max(0, walk.written - plentifulPath);
    writing += walk.written * walk.level;
    if (long > mostPath || writing > mostWriting)
      throw new Fault("superjson would name too many values by too long paths");
  };
  const walk: GraphWalk = {
    ...formWalk(options),
    written: 0,
    // `undefined`, bigint and what is no finite number superjson writes itself.
    replace: (value) => {
      if (typeof value === "function" || typeof value === "symbol")
        throw new Fault(`a ${typeof value} can't be sent`);
      named();
      return value;
    },
    graph: (value) => {
      // By the original, before its parts are looked at: they may lead back here.
      const known = copies.get(value);
      if (known !== undefined) {
        named();
        return known;
      }
      if (++walk.level > mostLevels) throw new Fault(`more than ${mostLevels} levels of nesting`);
      const copy = copyOf(value);
      walk.level--;
      return copy;
    },
  };
  const at = <T>(key: string | number, holder: object, act: () => T): T => {
    const { written } = walk;
    // An index is short, whatever it is.
    walk.written += typeof key === "number" ? 4 : key.length + 1;
    try {
      return act();
    } catch (thrown) {
      throw faultAt(thrown, key, holder);
    } finally {
      walk.written = written;
    }
  };
  const keep = <T extends object>(value: object, copy: T): T => {
    copies.set(value, copy);
    return copy;
  };

  function copyOf(value: object): unknown {
    if (Array.isArray(value)) return fillList(value, keep(value, []));
    if (value instanceof Opaque) {
      named();
      return copyOpaque(value);
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null)
      return fillMembers(value, keep(value, {}));
    named();
    const known = classOf(value, classes);
    if (value instanceof Error) return copyError(value);
    if (known?.hasForm === false)
      return Object.assign(
        keep(value, carriers.instance(known.record.key)),
        readInstance(value, known, walk),
      );
    // Of a class that extends one of these only what it extends travels, as in the first encoding.
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw new Fault("superjson can't carry an invalid date");
      return keep(value, new Date(value));
    }
    if (value instanceof Map) {
      const map = keep(value, new Map<unknown, unknown>());
      let row = 0;
      for (const pair of value)
        at(row++, value, () => {
          const [key, one] = pair.map((side, index) =>
            at(index, pair, () => walkValue(side, walk)),
          );
          map.set(key, one);
        });
      return map;
    }
    if (value instanceof Set) {
      const set = keep(value, new Set<unknown>());
      let index = 0;
      for (const one of value) set.add(at(index++, value, () => walkValue(one, walk)));
      return set;
    }
    if (value instanceof RegExp) return keep(value, new RegExp(value.source, value.flags));
    if (value instanceof URL) return keep(value, new URL(value));
    if (bytesOf(value) !== undefined) return copyNumbers(value, keep);
    if (value instanceof Blob) return fillBlobForm(keep(value, carriers.binary()), value, walk);
    // A plain object of another realm.
    if (Object.getPrototypeOf(prototype) === null) return fillMembers(value, keep(value, {}));
    throw strange(value, walk);
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

  function fillMembers(members: object, copy: Members): Members {
    refuseSymbols(members);
    for (const key of Object.keys(members))
      at(key, members, () => {
        if (isForbidden(key)) throw new Fault("no receiver takes this key");
        copy[key] = walkValue((members as Members)[key], walk);
      });
    return copy;
  }

  function copyError(error: Error): object {
    const key = keyOfError(error, classes);
    const isDom = error instanceof DOMException;
    const copy = keep(
      error,
      key === undefined ? carriers.error(isDom) : carriers.instance(key),
    ) as Members;
    const {
      type,
      message,
      trace,
      fields = {},
      cause,
      stack,
      args,
    } = (classes.errorForm?.(error, walk) ?? bareError) as Members;
    const form: Members = { name: type, message, trace, fields };
    if (isDom && key === undefined) form["dom"] = true;
    if (args !== undefined) form["args"] = args;
    if (cause !== undefined) form["cause"] = cause;
    if (stacks) form["stack"] = stack;
    for (const name of Object.keys(form))
      Object.defineProperty(copy, name, {
        value: form[name],
        configurable: true,
        enumerable: true,
        writable: true,
      });
    return copy;
  }

  /** What came in the first encoding is read first: its forms would be data to superjson. */
  function copyOpaque(opaque: Opaque): object {
    const form = structuredClone(opaque.form ?? {}) as Members;
    const parts = opaque.parts ?? {
      key: String(form["key"]),
      args: form["args"],
      fields: form["fields"],
    };
    const copy = keep(opaque, carriers.instance(parts.key) as Members);
    for (const name of ["args", "fields"] as const) {
      const members = (parts[name] ?? {}) as Members;
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
