// Instances of the application's classes (§2.3): taken apart and put together as the build recorded their classes.

import type { KnownClass } from "./classes.ts";
import { Fault, faultAt } from "./fault.ts";
import { type Walk, walkValue } from "./walk.ts";

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
export function construct({ record, constructor, names, rest }: KnownClass, args: Members): object {
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
    const known = Object.keys(positions);
    const strange = given.find((key) => !known.includes(key));
    throw new Fault(`class '${record.key}' has no constructor argument '${strange}'`);
  }
  return new constructor(...positions);
}

/** Sets what the class declares as a field, and nothing else. */
export function setField(instance: object, { record }: KnownClass, name: string, value: unknown): void {
  if (!record.fields.includes(name)) throw new Fault(`class '${record.key}' has no such field`);
  (instance as Members)[name] = value;
}

/** What an instance has of the argument that its constructor got at a position. */
export function argumentOf(instance: object, { names, rest }: KnownClass, position: number): unknown {
  const members = instance as Members;
  if (rest === undefined || position < rest) return members[names[position] ?? ""];
  return (members[names[rest] ?? ""] as Partial<unknown[]> | undefined)?.[position - rest];
}

/** Constructor arguments and fields of an instance, as its class was recorded (§2.3). What is `undefined` is left out. */
export function readInstance(instance: object, { record, names, rest }: KnownClass, walk: Walk): { args: object; fields: object } {
  const members = instance as Members;
  const args: Members = {};
  const fields: Members = {};
  let name = "";
  try {
    for (let index = 0; index < names.length; index++) {
      name = names[index] ?? "";
      const one = members[name];
      if (index === rest && Array.isArray(one)) one.forEach((item, offset) => (args[index + offset] = walkValue(item, walk)));
      else if (one !== undefined && name !== "") args[index] = walkValue(one, walk);
    }
    for (name of record.fields) {
      const one = members[name];
      // Chosen: a field that holds a function is behaviour, as a method is: the class's own code makes it again.
      if (one !== undefined && typeof one !== "function") fields[name] = walkValue(one, walk);
    }
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return { args, fields };
}
