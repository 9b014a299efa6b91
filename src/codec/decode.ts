// From serialized forms to values. Constructs only the types in this file, and registered classes.

import { binaryFrom, binaryMembers } from "./values/binary.ts";
import type { ClassTable } from "./class-table.ts";
import { decodeErrorForm, errorMembers } from "./error-form.ts";
import { dateFrom } from "./values/dates.ts";
import { Fault, faultAt, isForbidden } from "./values/fault.ts";
import { buildInstance, type Properties } from "./instance.ts";
import type { ValueLimits } from "./values/limits.ts";
import { bigIntFrom, regExpFrom, specialNumber, urlFrom } from "./values/scalars.ts";

/** The decoding of one message. */
export interface Reading {
  readonly classes: ClassTable;
  readonly limits: ValueLimits;
  readonly trusted: boolean;
  /** Forms are data like any other (plain mode): only keys are checked. */
  readonly plain?: boolean | undefined;
  /** Reads the forms of a call's files. Throws a {@link Fault} for any other form. */
  readonly files?: ((form: Properties) => unknown) | undefined;
  /** HTTP status of the response whose body this is. */
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
    for (; index < value.length; index++)
      if (typeof value[index] === "object") value[index] = readValue(value[index], reading);
  } catch (thrown) {
    throw faultAt(thrown, index, value);
  }
  return value;
}

/** Decodes the members of an object that isn't a form itself, in place. */
export function readMembers(object: Properties, reading: Reading): Properties {
  let key = "";
  try {
    for (key of Object.keys(object)) {
      if (isForbidden(key)) throw new Fault("this key is not allowed");
      if (typeof object[key] === "object") object[key] = readValue(object[key], reading);
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
      if (!("value" in form)) break;
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
      const iso = text(form, "value");
      const date = reading.classes.fast?.dateFrom(iso) ?? dateFrom(iso);
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
      const binary = binaryFrom(form, reading.classes.fast?.bytesFrom);
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
      return buildInstance(known, members(form, "args", reading), members(form, "fields", reading));
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

function readError(form: Properties, reading: Reading): Error {
  const { classes } = reading;
  const key = "key" in form ? text(form, "key") : undefined;
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
  for (const key of allowed) if (key in form) count++;
  if (Object.keys(form).length > count)
    throw new Fault(
      `a ${String(form["name"])} form can only have the members ${["name", ...allowed].join(", ")}`,
    );
}

function text(form: Properties, key: string): string {
  const member = form[key];
  if (typeof member !== "string") throw new Fault(`'${key}' must be a string`);
  return member;
}

/** A part of a form that isn't a value itself, decoded. It may be missing if it's empty. */
function members(form: Properties, key: string, reading: Reading): Properties {
  const object = key in form ? form[key] : {};
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
    return readValue(form[key], reading);
  } catch (thrown) {
    throw faultAt(thrown, key, form);
  }
}

function checkTrusted(reading: Reading): void {
  if (!reading.trusted) throw new Fault("this form is accepted from services only");
}
