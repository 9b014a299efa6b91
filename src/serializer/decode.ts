// From serialized forms to values (decisions §3). Nothing is constructed but what stands in this file and registered classes.

import { binaryFrom, binaryMembers } from "./binary.ts";
import type { ClassTable } from "./class-table.ts";
import { decodeErrorForm, errorMembers } from "./error-form.ts";
import { attempt, Fault, faultAt, isForbidden } from "./fault.ts";
import { buildInstance, type Members } from "./instance.ts";
import type { ValueLimits } from "./limits.ts";

/** One message on its way in. */
export interface Reading {
  readonly classes: ClassTable;
  readonly limits: ValueLimits;
  readonly trusted: boolean;
  /** Forms are data like any other (plain mode): only keys are looked at. */
  readonly plain?: boolean;
  /** HTTP status of the answer whose body this is. */
  readonly status?: number;
  /** What was parsed: the status belongs to this error, not to its causes. */
  root?: unknown;
  objects: number;
}

/** Decodes what `JSON.parse` made, in place: the tree is nobody else's. */
export function readValue(value: unknown, reading: Reading): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value))
    return (value as Members)["serialized"] === true && !reading.plain
      ? readForm(value as Members, reading)
      : readMembers(value as Members, reading);
  let index = 0;
  try {
    for (; index < value.length; index++)
      if (typeof value[index] === "object") value[index] = readValue(value[index], reading);
  } catch (thrown) {
    throw faultAt(thrown, index, value);
  }
  return value;
}

/** The members of an object that is no form itself. */
export function readMembers(object: Members, reading: Reading): Members {
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

function readForm(form: Members, reading: Reading): unknown {
  const result = valueOfForm(form, reading);
  if (typeof result === "object" && ++reading.objects > reading.limits.objects)
    throw new Fault(`more than ${reading.limits.objects} constructed objects (limit 'objects')`);
  return result;
}

// `undefined` and `NaN` are values: what a form can't mean leaves the switch by `break`.
function valueOfForm(form: Members, reading: Reading): unknown {
  switch (form["name"]) {
    case "Undefined":
      return only(form);
    case "Object":
      only(form, "value");
      if (!("value" in form)) break;
      return members(form, "value", reading);
    case "Number":
      only(form, "value");
      if (!/^(NaN|-?Infinity|-0)$/.test(text(form, "value"))) break;
      return Number(form["value"]);
    case "BigInt": {
      only(form, "value");
      const digits = text(form, "value");
      if (digits.replace("-", "").length > reading.limits.digits)
        throw new Fault(`more than ${reading.limits.digits} digits (limit 'digits')`);
      if (!/^-?\d+$/.test(digits)) break;
      return BigInt(digits);
    }
    case "Date": {
      only(form, "value");
      if (form["value"] === null) return new Date(NaN);
      const iso = text(form, "value");
      const date = new Date(iso);
      const day = date.getUTCDate();
      // Seconds may be left out, not more. Neither a 30th of February nor the hour 24 may become another day: a month that is too short leads to
      // one of the first three days of the next, which is cheaper to look for than to compare days.
      if (
        !/^[+-]?\d{4,6}-\d\d-\d\dT(?!24).*Z$/.test(iso) ||
        !(day > 3 || (day > 0 && /-0[1-3]T/.test(iso)))
      )
        break;
      return date;
    }
    case "Map": {
      only(form, "entries");
      const { keys, values } = members(form, "entries", reading);
      if (!Array.isArray(keys) || !Array.isArray(values) || keys.length !== values.length) break;
      return new Map(keys.map((key, index) => [key, values[index]]));
    }
    case "Set": {
      only(form, "values");
      const values = part(form, "values", reading);
      if (!Array.isArray(values)) break;
      return new Set(values);
    }
    case "Binary": {
      only(form, ...binaryMembers);
      const binary = binaryFrom(form);
      if (!binary) break;
      return binary;
    }
    case "Url": {
      only(form, "value");
      const address = text(form, "value");
      const url = attempt(() => new URL(address));
      if (!url) break;
      return url;
    }
    case "RegExp": {
      trusted(reading);
      only(form, "source", "flags");
      const [source, flags] = [text(form, "source"), text(form, "flags")];
      const expression = attempt(() => new RegExp(source, flags));
      if (!expression) break;
      return expression;
    }
    case "class": {
      only(form, "key", "args", "fields");
      const key = text(form, "key");
      const { classes } = reading;
      if (classes.passOn) return classes.passOn(form);
      const known = classes.get(key);
      if (!known || known.record.error) throw new Fault(`there is no class '${key}'`);
      return buildInstance(known, members(form, "args", reading), members(form, "fields", reading));
    }
    case "Error":
      trusted(reading);
      only(form, ...errorMembers);
      return readError(form, reading);
    default:
      throw new Fault("there is no serialized form of this name");
  }
  throw new Fault(`this is no ${form["name"]} form`);
}

function readError(form: Members, reading: Reading): Error {
  const { classes } = reading;
  const key = "key" in form ? text(form, "key") : undefined;
  const cause = part(form, "cause", reading);
  const args = members(form, "args", reading);
  const fields = members(form, "fields", reading);
  const known = key === undefined ? undefined : classes.get(key);
  if (known && !known.record.error) throw new Fault(`class '${key}' is no error`);
  return decodeErrorForm(
    { ...form, cause, args, fields },
    known,
    form === reading.root ? reading.status : undefined,
  );
}

/** `serialized`, the name, and nothing but these. */
function only(form: Members, ...allowed: string[]): void {
  let count = 2;
  for (const key of allowed) if (key in form) count++;
  if (Object.keys(form).length > count)
    throw new Fault(
      `a ${String(form["name"])} form has no members but ${["name", ...allowed].join(", ")}`,
    );
}

function text(form: Members, key: string): string {
  const found = form[key];
  if (typeof found !== "string") throw new Fault(`'${key}' must be text`);
  return found;
}

/** Members that are no value themselves; none were sent means that there are none. */
function members(form: Members, key: string, reading: Reading): Members {
  const found = key in form ? form[key] : {};
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new Fault(`'${key}' must be an object`);
  try {
    return readMembers(found as Members, reading);
  } catch (thrown) {
    throw faultAt(thrown, key, form);
  }
}

function part(form: Members, key: string, reading: Reading): unknown {
  try {
    return readValue(form[key], reading);
  } catch (thrown) {
    throw faultAt(thrown, key, form);
  }
}

function trusted(reading: Reading): void {
  if (!reading.trusted) throw new Fault("this form is taken from services only");
}
