// Instances of the application's classes (§2.3): taken apart and put together as the build recorded their classes.

import { platformPrefix } from "../manifest.ts";
import type { KnownClass } from "./class-table.ts";
import { Fault, faultAt } from "./fault.ts";
import { refuseMore, refuseSymbols, type Walk, walkItems, walkValue } from "./walk.ts";

export type Members = Record<string, unknown>;

/** Constructs an instance of a class that the build recorded (§2.3): constructor arguments by position, then the fields. */
export function buildInstance(known: KnownClass, args: Members, fields: Members): object {
  const instance = construct(known, args);
  let name = "";
  try {
    for (name in fields) setField(instance, known, name, fields[name]);
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return instance;
}

/** An instance without its fields. */
export function construct(known: KnownClass, args: Members): object {
  const { record, constructor, names, rest } = known;
  refusePattern(known);
  const given = Object.keys(args);
  // A rest parameter takes as many as were sent, and no more: a far index must not make a long list.
  const most = names.length + (rest === undefined ? 0 : given.length);
  const positions: unknown[] = [];
  let taken = 0;
  for (let index = 0; index < most && taken < given.length; index++) {
    if (index in args) taken++;
    positions.push(args[index]);
  }
  if (taken < given.length) {
    const places = Object.keys(positions);
    const strange = given.find((key) => !places.includes(key));
    throw new Fault(`class '${record.key}' has no constructor argument '${strange}'`);
  }
  const instance = new constructor(...positions);
  // Where `undefined` was sent, a default of the parameter has taken its place.
  for (const position of given) {
    const name = names[Number(position)];
    if (args[position] === undefined && name && Number(position) !== rest)
      setMember(instance, known, name, undefined);
  }
  return instance;
}

/** Sets what the class declares as a field, and nothing else. */
export function setField(instance: object, known: KnownClass, name: string, value: unknown): void {
  if (!known.record.fields.includes(name))
    throw new Fault(`class '${known.record.key}' has no such field`);
  setMember(instance, known, name, value);
}

function setMember(instance: object, { record }: KnownClass, name: string, value: unknown): void {
  // A setter that was never called may not take the `undefined` that its getter gives.
  if (value === undefined && (instance as Members)[name] === undefined) return;
  if (!Reflect.set(instance, name, value))
    throw new Fault(`only the constructor of '${record.key}' can set '${name}'`);
}

/** Throws a {@link Fault} for a class whose constructor wants what no member holds. */
function refusePattern({ record }: KnownClass): void {
  if (record.pattern && !record.error)
    throw new Fault(
      `an instance of '${record.key}' can't be sent: its constructor destructures a parameter. Name that after a member, or give it a default`,
    );
}

/** Throws a {@link Fault} with the path to data that the build may not have seen, as it can't read all of the class: it would be lost. */
function refuseUnread(instance: object, { record, names }: KnownClass): void {
  const { key, unread, fields, error } = record;
  if (unread === undefined || error) return;
  // Of what the platform's own classes hold, nothing may be seen.
  if (unread.startsWith(platformPrefix))
    throw new Fault(
      `an instance of '${key}' can't be sent: what it has of '${unread}' would be lost`,
    );
  for (
    let one = instance;
    Object.getPrototypeOf(one) !== null;
    one = Object.getPrototypeOf(one) as object
  )
    for (const [name, { enumerable, value, get, set }] of Object.entries(
      Object.getOwnPropertyDescriptors(one),
    ))
      if (
        (one === instance ? enumerable && typeof value !== "function" : get && set) &&
        !names.includes(name) &&
        !fields.includes(name)
      )
        throw faultAt(
          new Fault(
            `the build doesn't know this member of '${key}', as it can't read '${unread}': declare it in the class`,
          ),
          name,
          instance,
        );
}

/** What an instance has of the argument that its constructor got at a position. */
export function argumentOf(
  instance: object,
  { names, rest }: KnownClass,
  position: number,
): unknown {
  const members = instance as Members;
  if (rest === undefined || position < rest) return members[names[position] ?? ""];
  return (members[names[rest] ?? ""] as Partial<unknown[]> | undefined)?.[position - rest];
}

/** Constructor arguments and fields of an instance, as its class was recorded (§2.3). */
export function readInstance(
  instance: object,
  known: KnownClass,
  walk: Walk,
): { args: object; fields: object } {
  const { record, names, rest } = known;
  refusePattern(known);
  refuseUnread(instance, known);
  // An error is sent, whatever else it carries.
  if (!record.error) refuseSymbols(instance);
  const members = instance as Members;
  const args: Members = {};
  const fields: Members = {};
  let name = "";
  try {
    for (let index = 0; index < names.length; index++) {
      if (names[index] === null) continue;
      name = names[index]!;
      const one = members[name];
      if (one === undefined && record.fixed?.includes(name))
        throw new Fault(
          `undefined can't be sent: the constructor of '${record.key}' has a default for it`,
        );
      if (index !== rest) args[index] = walkValue(one, walk);
      else if (Array.isArray(one)) {
        refuseMore(one);
        walkItems(one, walk).forEach((item, offset) => (args[index + offset] = item));
      } else if (!record.error)
        throw new Fault(
          `the constructor of '${record.key}' takes '...${name}', so this must be an array`,
        );
    }
    for (name of record.fields) {
      const one = members[name];
      // Chosen: a field that holds a function is behaviour, as a method is: the class's own code makes it again.
      if (typeof one !== "function") fields[name] = walkValue(one, walk);
    }
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return { args, fields };
}
