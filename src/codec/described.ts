// Instances that a message describes, before any constructor runs: decoded first with stand-ins in their
// places, so that the parts they would be built from can be checked.

import type { DescribedInstance } from "../base/parameter-types.ts";
import { type Properties, refusePattern } from "./instance.ts";
import { Fault, faultAt } from "./values/fault.ts";
import type { KnownClass } from "./values/known-class.ts";

export class Described {
  readonly #parts = new Map<object, DescribedInstance & { readonly known: KnownClass }>();

  /** By their stand-ins. */
  get all(): ReadonlyMap<object, DescribedInstance> {
    return this.#parts;
  }

  /**
   * Returns a stand-in for an instance. Its parts may still be decoded. Throws a {@link Fault} for parts that its
   * class doesn't have.
   */
  readonly add = (
    known: KnownClass,
    args: Properties | readonly unknown[],
    fields: Properties,
  ): object => {
    refusePattern(known);
    const { record, names, rest } = known;
    const indexes = Object.keys(args);
    const end = names.length + (rest === undefined ? 0 : indexes.length);
    for (const index of indexes)
      if (!/^\d+$/.test(index) || Number(index) >= end)
        throw new Fault(
          `class '${record.key}' has no constructor argument '${index.slice(0, 40)}'`,
        );
    for (const name of Object.keys(fields))
      if (!record.fields.includes(name))
        throw faultAt(new Fault(`class '${record.key}' has no such field`), name, fields);
    const standIn = Object.create(null) as object;
    const prototype = known.constructor.prototype as object;
    const { key } = record;
    this.#parts.set(standIn, { known, key, prototype, names, args: args as Properties, fields });
    return standIn;
  };

  /** Gives stand-ins the members that the message holds, once all of it is decoded. */
  finish(): void {
    for (const [standIn, { known, args, fields }] of this.#parts) {
      const members = standIn as Properties;
      for (const [index, value] of Object.entries(args)) {
        const name = known.names[Number(index)];
        if (typeof name === "string" && Number(index) !== known.rest) members[name] = value;
      }
      const { rest } = known;
      if (rest !== undefined)
        members[known.names[rest]!] = Object.entries(args).flatMap(([index, value]) =>
          Number(index) < rest ? [] : [value],
        );
      Object.assign(members, fields);
    }
  }
}
