// Takes instances of the application's classes apart, and rebuilds them, as the build recorded.

import { platformPrefix } from "../base/manifest.ts";
import { errorOf } from "../base/trace.ts";
import { Fault, faultAt } from "./values/fault.ts";
import type { KnownClass } from "./values/known-class.ts";
import { publicMessage } from "./values/public-message.ts";
import { isSame } from "./values/same.ts";
import {
  isPolluted,
  refuseMore,
  refuseSymbols,
  type Walk,
  walkItems,
  walkValue,
} from "./values/walk.ts";

export type Properties = Record<string, unknown>;

/**
 * The values of constructor arguments if all up to a position are there, as nearly always;
 * `undefined` if the values need a closer look. Copies them.
 */
export function valuesInOrder(
  { names, rest, record }: KnownClass,
  args: unknown,
): unknown[] | undefined {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined;
  if (rest !== undefined || record.pattern) return undefined;
  // Indexes come first, in their order.
  const values = Object.values(args);
  if (values.length > names.length) return undefined;
  for (let index = 0; index < values.length; index++)
    if ((args as Properties)[index] !== values[index]) return undefined;
  return values;
}

/**
 * Constructs an instance with constructor arguments by position, then sets its fields. A list of
 * arguments comes from {@link valuesInOrder}.
 */
export function buildInstance(
  known: KnownClass,
  args: Properties | unknown[],
  fields: Properties,
): object {
  const instance =
    Array.isArray(args) && !args.includes(undefined)
      ? constructed(known, args)
      : construct(known, args as Properties);
  let name = "";
  const inherits = isPolluted();
  try {
    for (name in fields)
      if (!inherits || Object.hasOwn(fields, name)) setField(instance, known, name, fields[name]);
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return instance;
}

/** Constructs an instance, and sets no fields. */
export function construct(type: KnownClass, args: Properties): object {
  const { record, names, rest } = type;
  refusePattern(type);
  const indexes = Object.keys(args);
  // A rest parameter takes as many values as were sent: a high index must not make a long list.
  const end = names.length + (rest === undefined ? 0 : indexes.length);
  const positions: unknown[] = [];
  let taken = 0;
  for (let index = 0; index < end && taken < indexes.length; index++) {
    if (Object.hasOwn(args, index)) taken++;
    positions.push(args[index]);
  }
  if (taken < indexes.length) {
    const known = Object.keys(positions);
    const unknown = indexes.find((key) => !known.includes(key));
    throw new Fault(`class '${record.key}' has no constructor argument '${unknown}'`);
  }
  const instance = constructed(type, positions);
  // If `undefined` was sent, the parameter's default has replaced it.
  for (const index of indexes) {
    const name = names[Number(index)];
    if (args[index] === undefined && name && Number(index) !== rest)
      setMember(instance, type, name, undefined);
  }
  return instance;
}

/** A constructor's error about a missing argument would say little to a reader. */
function constructed({ record, constructor, names }: KnownClass, values: unknown[]): object {
  try {
    return new constructor(...values);
  } catch (thrown) {
    let position = 0;
    while (position < constructor.length && names[position]) position++;
    if (position === constructor.length) throw thrown;
    throw new Fault(
      `the constructor of '${record.key}' failed: ${publicMessage(errorOf(thrown)).slice(0, 100)}. No member is called like its parameter ${position + 1}, so that is missing`,
      { cause: thrown },
    );
  }
}

/** Sets a field. Throws a {@link Fault} for a name that the class doesn't declare. */
export function setField(instance: object, known: KnownClass, name: string, value: unknown): void {
  if (!known.record.fields.includes(name))
    throw new Fault(`class '${known.record.key}' has no such field`);
  setMember(instance, known, name, value);
}

function setMember(instance: object, known: KnownClass, name: string, value: unknown): void {
  const members = instance as Properties;
  // A setter may not accept the `undefined` that its getter returns before the first write.
  if (value === undefined && members[name] === undefined) return;
  let refusal: unknown;
  try {
    if (Reflect.set(instance, name, value)) return;
    refusal = new Fault(
      `only the constructor of '${known.record.key}' can set '${name}', and it sets another value`,
    );
  } catch (thrown) {
    refusal = thrown;
  }
  // The constructor may have set it already, and closed the instance.
  if (!isSame(members[name], value, known.classes)) throw refusal;
}

/**
 * Throws a {@link Fault} for a closed instance whose constructor sets other values than it holds, which can't be
 * set afterwards: no receiver could rebuild it.
 */
export function refuseClosed(instance: object, known: KnownClass): void {
  const { record, names } = known;
  if (Object.isExtensible(instance) || record.fields.length === 0 || record.error) return;
  const members = instance as Properties;
  const args: Properties = {};
  names.forEach((name, index) => {
    if (name !== null && index !== known.rest) args[index] = members[name];
    else if (name !== null && Array.isArray(members[name]))
      for (const [offset, item] of (members[name] as unknown[]).entries())
        args[index + offset] = item;
  });
  const fields = record.fields.filter((name) => typeof members[name] !== "function");
  buildInstance(known, args, Object.fromEntries(fields.map((name) => [name, members[name]])));
}

/** Throws a {@link Fault} for a class if no member holds one of its constructor's arguments. */
export function refusePattern({ record }: KnownClass): void {
  if (record.pattern && !record.error)
    throw new Fault(
      `an instance of '${record.key}' can't be sent: its constructor destructures a parameter. Name the parameter after a member, or give it a default`,
    );
}

/**
 * Throws a {@link Fault} with the path to data that the build didn't see because it can't read a
 * parent of the class. Such data would be lost.
 */
function refuseUnread(instance: object, { record, names }: KnownClass): void {
  const { key, unread, fields, error } = record;
  if (unread === undefined || error) return;
  // The data of the platform's own classes may not be visible at all.
  if (unread.startsWith(platformPrefix))
    throw new Fault(
      `an instance of '${key}' can't be sent: what it inherits from '${unread}' would be lost`,
    );
  for (
    let holder = instance;
    Object.getPrototypeOf(holder) !== null;
    holder = Object.getPrototypeOf(holder) as object
  )
    for (const [name, { enumerable, value, get, set }] of Object.entries(
      Object.getOwnPropertyDescriptors(holder),
    ))
      if (
        (holder === instance ? enumerable && typeof value !== "function" : get && set) &&
        !names.includes(name) &&
        !fields.includes(name)
      )
        throw faultAt(
          new Fault(
            `the build doesn't know this member of '${key}', because it can't read '${unread}': declare it in the class`,
          ),
          name,
          instance,
        );
}

/** The value that an instance holds for the constructor argument at a position. */
export function argumentOf(
  instance: object,
  { names, rest }: KnownClass,
  position: number,
): unknown {
  const members = instance as Properties;
  if (rest === undefined || position < rest) return members[names[position] ?? ""];
  return (members[names[rest] ?? ""] as Partial<unknown[]> | undefined)?.[position - rest];
}

/** Constructor arguments and fields of an instance. */
export function readInstance(
  instance: object,
  known: KnownClass,
  walk: Walk,
): { args: object; fields: object } {
  const { record, names, rest } = known;
  refusePattern(known);
  refuseUnread(instance, known);
  // An error is always sent, whatever else it carries.
  if (!record.error) refuseSymbols(instance);
  refuseClosed(instance, known);
  const members = instance as Properties;
  const args: Properties = {};
  const fields: Properties = {};
  let name = "";
  try {
    for (let index = 0; index < names.length; index++) {
      if (names[index] === null) continue;
      name = names[index]!;
      const argument = members[name];
      if (argument === undefined && record.fixed?.includes(name))
        throw new Fault(
          `undefined can't be sent: the constructor of '${record.key}' has a default for it`,
        );
      if (index !== rest) args[index] = walkValue(argument, walk);
      else if (Array.isArray(argument)) {
        refuseMore(argument);
        walkItems(argument, walk).forEach((item, offset) => (args[index + offset] = item));
      } else if (!record.error)
        throw new Fault(
          `the constructor of '${record.key}' takes '...${name}', so this must be an array`,
        );
    }
    for (name of record.fields) {
      const field = members[name];
      // A function in a field is behaviour, as a method is: the class's own code makes it again.
      if (typeof field !== "function") fields[name] = walkValue(field, walk);
    }
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return { args, fields };
}
