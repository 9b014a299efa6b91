// From serialized forms to values. Constructs only the types in this file, and registered classes.

import { binaryFrom, binaryMembers } from "./values/binary.ts";
import type { ClassTable } from "./class-table.ts";
import { decodeErrorForm, errorMembers } from "./error-form.ts";
import { dateFrom } from "./values/dates.ts";
import { Fault, faultAt, isForbidden } from "./values/fault.ts";
import { buildInstance, type Properties, valuesInOrder } from "./instance.ts";
import type { KnownClass } from "./values/known-class.ts";
import type { ValueLimits } from "../base/limits.ts";
import { bigIntFrom, regExpFrom, specialNumber, urlFrom } from "./values/scalars.ts";
import { isPolluted } from "./values/walk.ts";

/** The decoding of one message. */
export interface Reading {
  readonly classes: ClassTable;
  readonly limits: ValueLimits;
  readonly trusted: boolean;
  /** Forms are data like any other (plain mode): only keys are checked. */
  readonly plain?: boolean | undefined;
  /** Reads the forms of a call's files. Throws a {@link Fault} for any other form. */
  readonly files?: ((form: Properties) => unknown) | undefined;
  /** Makes an instance of its parts, in place of {@link buildInstance}. superjson may still set them afterwards. */
  readonly build?: typeof buildInstance | undefined;
  /** HTTP status of the response with this body. */
  readonly status?: number | undefined;
  /** The parsed tree: the status belongs to this error, not to its causes. */
  root?: unknown;
  objects: number;
}

/** Decodes a tree that `JSON.parse` made, in place. */
export function readValue(value: unknown, reading: Reading): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value))
    return (value as Properties)["serialized"] === true && !reading.plain
      ? readForm(value as Properties, reading)
      : readMembers(value as Properties, reading);
  let index = 0;
  try {
    for (; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null) value[index] = readValue(item, reading);
    }
  } catch (thrown) {
    throw faultAt(thrown, index, value);
  }
  return value;
}

/** Decodes the members of an object that isn't a form itself, in place. */
export function readMembers(object: Properties, reading: Reading): Properties {
  let key = "";
  try {
    // Half as long as a loop over `Object.keys`.
    const inherits = isPolluted();
    for (const name in object) {
      key = name;
      if (inherits && !Object.hasOwn(object, name)) continue;
      const member = object[name];
      if (isForbidden(name)) throw new Fault("this key is not allowed");
      if (typeof member !== "object" || member === null) continue;
      const value = readValue(member, reading);
      if (value !== member) object[name] = value;
    }
  } catch (thrown) {
    throw faultAt(thrown, key, object);
  }
  return object;
}

function readForm(form: Properties, reading: Reading): unknown {
  const result = valueOfForm(form, reading);
  if (typeof result === "object" && ++reading.objects > reading.limits.maxObjects)
    throw new Fault(
      `more than ${reading.limits.maxObjects} constructed objects (limit 'maxObjects')`,
    );
  return result;
}

// A case breaks out of the switch if the form isn't valid: `undefined` and `NaN` are values.
function valueOfForm(form: Properties, reading: Reading): unknown {
  switch (form["name"]) {
    case "Undefined":
      return checkMembers(form);
    case "Object":
      checkMembers(form, "value");
      if (!Object.hasOwn(form, "value")) break;
      return members(form, "value", reading);
    case "Number": {
      checkMembers(form, "value");
      const number = specialNumber(text(form, "value"));
      if (number === undefined) break;
      return number;
    }
    case "BigInt": {
      checkMembers(form, "value");
      const integer = bigIntFrom(text(form, "value"), reading.limits);
      if (integer === undefined) break;
      return integer;
    }
    case "Date": {
      checkMembers(form, "value");
      if (form["value"] === null) return new Date(NaN);
      const date = dateFrom(text(form, "value"));
      if (!date) break;
      return date;
    }
    case "Map": {
      checkMembers(form, "entries");
      const { keys, values } = members(form, "entries", reading);
      if (!Array.isArray(keys) || !Array.isArray(values) || keys.length !== values.length) break;
      return new Map(keys.map((key, index) => [key, values[index]]));
    }
    case "Set": {
      checkMembers(form, "values");
      const values = part(form, "values", reading);
      if (!Array.isArray(values)) break;
      return new Set(values);
    }
    case "Binary": {
      checkMembers(form, ...binaryMembers);
      const binary = binaryFrom(form);
      if (!binary) break;
      return binary;
    }
    case "Url": {
      checkMembers(form, "value");
      const url = urlFrom(text(form, "value"));
      if (!url) break;
      return url;
    }
    case "RegExp": {
      checkTrusted(reading);
      checkMembers(form, "source", "flags");
      const expression = regExpFrom(text(form, "source"), text(form, "flags"));
      if (!expression) break;
      return expression;
    }
    case "class": {
      checkMembers(form, "key", "args", "fields");
      const key = text(form, "key");
      const { classes } = reading;
      if (classes.passOn) return classes.passOn(form);
      const known = classes.get(key);
      if (!known || known.record.error) throw new Fault(`there is no class '${key}'`);
      return readInstance(form, known, reading);
    }
    case "Error":
      checkTrusted(reading);
      checkMembers(form, ...errorMembers);
      return readError(form, reading);
    default:
      if (reading.files) return reading.files(form);
      throw new Fault("there is no serialized form of this name");
  }
  throw new Fault(`this is not a valid ${form["name"]} form`);
}

function readInstance(form: Properties, known: KnownClass, reading: Reading): object {
  let args = form["args"] as Properties;
  const values = valuesInOrder(known, args);
  if (values === undefined) args = members(form, "args", reading);
  else
    for (let index = 0; index < values.length; index++)
      if (typeof values[index] === "object")
        try {
          values[index] = readValue(values[index], reading);
        } catch (thrown) {
          throw faultAt(faultAt(thrown, String(index), args), "args", form);
        }
  const fields = members(form, "fields", reading);
  // An answer may come from a later build, whose class has more fields.
  if (reading.status !== undefined) leaveOut(fields, (name) => !known.record.fields.includes(name));
  if (reading.status !== undefined && values === undefined && known.rest === undefined)
    leaveOut(args, (index) => !(index in known.names));
  return (reading.build ?? buildInstance)(known, values ?? args, fields);
}

function leaveOut(parts: Properties, isUnknown: (name: string) => boolean): void {
  for (const name of Object.keys(parts)) if (isUnknown(name)) delete parts[name];
}

function readError(form: Properties, reading: Reading): Error {
  const { classes } = reading;
  const key = Object.hasOwn(form, "key") ? text(form, "key") : undefined;
  const cause = part(form, "cause", reading);
  const args = members(form, "args", reading);
  const fields = members(form, "fields", reading);
  const known = key === undefined ? undefined : classes.get(key);
  if (known && !known.record.error) throw new Fault(`class '${key}' is not an error`);
  return decodeErrorForm(
    { ...form, cause, args, fields },
    known,
    form === reading.root ? reading.status : undefined,
  );
}

/** Throws a {@link Fault} if a form has other members than `serialized`, its name and these. */
export function checkMembers(form: Properties, ...allowed: string[]): void {
  let count = 2;
  for (const key of allowed) if (Object.hasOwn(form, key)) count++;
  // The loop counts inherited members, too, but makes no list.
  let found = 0;
  for (const _ in form) found++;
  if (found > count && Object.keys(form).length > count)
    throw new Fault(
      `a ${String(form["name"])} form can only have the members ${["name", ...allowed].join(", ")}`,
    );
}

/** A member that a library adds to all objects isn't part of the message. */
function own(form: Properties, key: string): unknown {
  return Object.hasOwn(form, key) ? form[key] : undefined;
}

function text(form: Properties, key: string): string {
  const member = own(form, key);
  if (typeof member !== "string") throw new Fault(`'${key}' must be a string`);
  return member;
}

/** A part of a form that isn't a value itself, decoded. It may be missing if it's empty. */
function members(form: Properties, key: string, reading: Reading): Properties {
  const object = Object.hasOwn(form, key) ? form[key] : {};
  if (typeof object !== "object" || object === null || Array.isArray(object))
    throw new Fault(`'${key}' must be an object`);
  try {
    return readMembers(object as Properties, reading);
  } catch (thrown) {
    throw faultAt(thrown, key, form);
  }
}

function part(form: Properties, key: string, reading: Reading): unknown {
  try {
    return readValue(own(form, key), reading);
  } catch (thrown) {
    throw faultAt(thrown, key, form);
  }
}

function checkTrusted(reading: Reading): void {
  if (!reading.trusted) throw new Fault("this form is accepted from services only");
}
