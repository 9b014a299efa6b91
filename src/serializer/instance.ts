// Instances of the application's classes (§2.3): taken apart and put together as the build recorded their classes.

import type { KnownClass } from "./classes.ts";
import { Fault, faultAt } from "./fault.ts";
import { type Walk, walkValue } from "./walk.ts";

export type Members = Record<string, unknown>;

/** Constructs an instance of a class that the build recorded (§2.3): constructor arguments by position, then the fields. */
export function buildInstance({ record, constructor }: KnownClass, args: Members, fields: Members): object {
  const given = Object.keys(args);
  // A rest parameter takes as many as were sent, and no more: a far index must not make a long list.
  const most = record.args.length + (record.args.at(-1)?.startsWith("...") ? given.length : 0);
  const positions: unknown[] = [];
  for (const key of given) {
    if (!/^(0|[1-9]\d{0,5})$/.test(key) || Number(key) >= most)
      throw new Fault(`class '${record.key}' has no constructor argument '${key}'`);
    positions[Number(key)] = args[key];
  }
  const instance = new constructor(...positions) as Members;
  for (const key of Object.keys(fields)) {
    if (!record.fields.includes(key)) throw new Fault(`class '${record.key}' has no field '${key}'`);
    try {
      instance[key] = fields[key];
    } catch (thrown) {
      throw faultAt(thrown, key, instance);
    }
  }
  return instance;
}

/** Constructor arguments and fields of an instance, as its class was recorded (§2.3). What is `undefined` is left out. */
export function readInstance(instance: object, { record }: KnownClass, walk: Walk): { args: object; fields: object } {
  const members = instance as Record<string, unknown>;
  const args: Record<string, unknown> = {};
  const fields: Record<string, unknown> = {};
  let name = "";
  try {
    record.args.forEach((parameter, index) => {
      if (parameter === null) return;
      const rest = parameter.startsWith("...");
      name = rest ? parameter.slice(3) : parameter;
      const one = members[name];
      if (rest && Array.isArray(one)) one.forEach((item, offset) => (args[index + offset] = walkValue(item, walk)));
      else if (one !== undefined) args[index] = walkValue(one, walk);
    });
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
