// From values to serialized forms. A form is a plain object with `serialized: true` and a `name`.

import { bytesOf, kindOf, toBase64 } from "./values/binary.ts";
import type { ClassTable, FormWalk } from "./class-table.ts";
import { isoOf } from "./values/dates.ts";
import { Fault, faultAt } from "./values/fault.ts";
import { readInstance } from "./instance.ts";
import { hasForm, type KnownClass } from "./values/known-class.ts";
import { ofThisRealm } from "./values/realm.ts";
import { refuseMore, walkItems, walkMembers } from "./values/walk.ts";

const mark = (name: string, content?: object): object => ({
  serialized: true,
  name,
  ...content,
});

/** The form of a value that JSON by itself would lose, change or refuse. */
export function encodeForm(value: unknown, walk: FormWalk): unknown {
  switch (typeof value) {
    case "undefined":
      return mark("Undefined");
    case "number":
      return mark("Number", { value: Object.is(value, -0) ? "-0" : String(value) });
    case "bigint":
      return mark("BigInt", { value: String(value) });
    case "object":
      return encodeObject(value as object, walk);
    default:
      throw new Fault(`a ${typeof value} can't be sent`);
  }
}

function encodeObject(value: object, walk: FormWalk): unknown {
  const opaque = walk.classes.opaqueForm?.(value, walk);
  if (opaque) return opaque;
  const known = classOf(value, walk.classes);
  if (value instanceof Error) return walk.classes.errorForm?.(value, walk) ?? mark("Error");
  if (known?.hasForm === false)
    return {
      serialized: true,
      key: known.record.key,
      name: "class",
      ...readInstance(value, known, walk),
    };
  // An instance of a class that extends one of these, as Node's Buffer does, travels as the base class if it has no
  // data of its own.
  if (value instanceof Date) return { serialized: true, name: "Date", value: isoOf(value) };
  if (value instanceof Map)
    return mark("Map", {
      entries: encodeEntries({ keys: [...value.keys()], values: [...value.values()] }, walk),
    });
  if (value instanceof Set) return mark("Set", { values: walkItems([...value], walk) });
  if (value instanceof RegExp) return mark("RegExp", { source: value.source, flags: value.flags });
  if (value instanceof URL) return mark("Url", { value: value.href });
  const bytes = bytesOf(value);
  if (bytes) return mark("Binary", { type: kindOf(value), base64: toBase64(bytes) });
  const form = walk.file?.(value, walk);
  if (form) return form;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object that looks like a form, or one of another realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    const members = walkMembers(value, walk);
    return Object.hasOwn(value, "serialized") &&
      (value as { readonly serialized?: unknown }).serialized === true
      ? mark("Object", { value: members })
      : members;
  }
  const own = ofThisRealm(value);
  if (own) return encodeObject(own, walk);
  throw unknownInstance(value, walk);
}

function encodeEntries(
  entries: { keys: readonly unknown[]; values: readonly unknown[] },
  walk: FormWalk,
): object {
  for (const part of ["keys", "values"] as const)
    try {
      entries[part] = walkItems(entries[part], walk);
    } catch (thrown) {
      throw faultAt(thrown, part, entries);
    }
  return entries;
}

/**
 * The class that `value` travels as. Throws a {@link Fault} if two classes have its key, or if the value has a form
 * without a place for some of its members.
 */
export function classOf(value: object, classes: ClassTable): KnownClass | undefined {
  const known = classes.of(value);
  if (known === undefined ? hasForm(value) : known.hasForm) refuseMore(value, known);
  if (known?.record.clash === undefined) return known;
  throw new Fault(
    `an instance of '${known.record.export}' can't be sent: ${known.record.clash} both have a class with the key '${known.record.key}'; rename one`,
  );
}

/** The fault for an instance that no encoding knows. */
export function unknownInstance(value: object, { hint, classes }: FormWalk): Fault {
  // A generator's constructor doesn't have a name.
  const name = value.constructor?.name || kindOf(value);
  return new Fault(
    hint?.(value) ??
      classes.refusal?.(value) ??
      `an instance of '${name}' can't be sent: no module of the application exports this class. Export it, or send its data`,
  );
}
