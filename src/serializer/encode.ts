// From values to serialized forms (decisions §3). Every form is a plain object with `serialized: true` and a `name`.

import { bytesOf, fillBlobForm, kindOf, toBase64 } from "./binary.ts";
import { type ClassTable, hasForm, type KnownClass, Opaque } from "./class-table.ts";
import { Fault, faultAt } from "./fault.ts";
import { readInstance } from "./instance.ts";
import {
  type FormWalk,
  isPolluted,
  refuseMore,
  type Walk,
  walkItems,
  walkMembers,
  walkParts,
} from "./walk.ts";

/** What a walk is told. */
export interface WalkOptions {
  readonly classes: ClassTable;
  /** Send the stacks of errors: to a holder of the trust key only. */
  readonly stacks?: boolean | undefined;
  /** Says of an instance that no encoding knows what to send in its place. */
  readonly hint?: ((value: object) => string | undefined) | undefined;
}

/** A walk that leaves serialized forms behind it. */
export function formWalk({ classes, stacks = false, hint }: WalkOptions): FormWalk {
  return {
    classes,
    stacks,
    hint,
    pending: [],
    level: 0,
    objects: 0,
    strict: true,
    polluted: isPolluted(),
    replace: encodeForm as Walk["replace"],
  };
}

const mark = (name: string, content?: object): object => ({ serialized: true, name, ...content });

function encodeForm(value: unknown, walk: FormWalk): unknown {
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
  if (value instanceof Opaque) return opaqueForm(value, walk);
  const known = classOf(value, walk.classes);
  if (value instanceof Error) return walk.classes.errorForm?.(value, walk) ?? mark("Error");
  if (known?.hasForm === false)
    return {
      serialized: true,
      key: known.record.key,
      name: "class",
      ...readInstance(value, known, walk),
    };
  // Chosen: an instance of a class that extends one of these travels as what it extends, as Node's Buffer does, if it has no data of its own.
  // An invalid date has no ISO text; its JSON is null. A class that extends Date may write another text than that.
  if (value instanceof Date)
    return { serialized: true, name: "Date", value: new Date(value).toJSON() };
  if (value instanceof Map)
    return mark("Map", {
      entries: encodeEntries({ keys: [...value.keys()], values: [...value.values()] }, walk),
    });
  if (value instanceof Set) return mark("Set", { values: walkItems([...value], walk) });
  if (value instanceof RegExp) return mark("RegExp", { source: value.source, flags: value.flags });
  if (value instanceof URL) return mark("Url", { value: value.href });
  const bytes = bytesOf(value);
  if (bytes) return mark("Binary", { type: kindOf(value), base64: toBase64(bytes) });
  if (value instanceof Blob) return fillBlobForm(mark("Binary"), value, walk);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Only here because it looks like a marker, or because it is a plain object of another realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    const members = walkMembers(value, walk);
    return "serialized" in value && value.serialized === true
      ? mark("Object", { value: members })
      : members;
  }
  throw strange(value, walk);
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
 * The class that `value` travels by. Throws a {@link Fault} when two classes have its key, and for what has a form and members that the form has
 * no place for.
 */
export function classOf(value: object, classes: ClassTable): KnownClass | undefined {
  const known = classes.of(value);
  if (known === undefined ? hasForm(value) : known.hasForm) refuseMore(value, known);
  if (known?.record.clash === undefined) return known;
  throw new Fault(
    `an instance of '${known.record.export}' can't be sent: ${known.record.clash} both have a class with the key '${known.record.key}'; rename one`,
  );
}

/** The fault of an instance that no encoding knows. */
export function strange(value: object, { hint }: Pick<FormWalk, "hint">): Fault {
  // Generators of streams have a constructor without a name.
  const name = value.constructor?.name || kindOf(value);
  return new Fault(
    hint?.(value) ??
      `an instance of '${name}' can't be sent: no module of the application exports this class`,
  );
}

function opaqueForm({ form, parts }: Opaque, walk: FormWalk): unknown {
  if (parts === undefined) return form;
  return mark("class", {
    key: parts.key,
    args: walkParts(parts.args, walk),
    fields: walkParts(parts.fields, walk),
  });
}
