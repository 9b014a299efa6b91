// Calls and answers of plain data, like most of them: JSON carries it by itself. A page starts with this alone, which
// also knows dates, and loads the codec at the first other value or error.

import type { Args } from "../../base/call.ts";
import type { IncomingResponse } from "../../base/ports.ts";
import { headers, jsonType } from "../../base/protocol.ts";
import type { Answer } from "../../types/outgoing-call.ts";

/** The most values to check. Larger calls take the codec, which has limits and cuts cycles. */
const mostValues = 10_000;
const mostLevels = 64;

/** A call's arguments as JSON; `undefined` if the codec must write them, or refuse them. */
export function plainArguments(args: Args): string | undefined {
  let values = 0;
  let dated = false;
  const isPlain = (value: unknown, level: number): boolean => {
    if (isDate(value)) return (dated = true);
    if (typeof value !== "object" || value === null)
      return (
        typeof value === "string" ||
        typeof value === "boolean" ||
        value === null ||
        (Number.isFinite(value) && !Object.is(value, -0))
      );
    const keys = Object.keys(value);
    const isArray = Array.isArray(value);
    return (
      level < mostLevels &&
      (values += keys.length) < mostValues &&
      Object.getPrototypeOf(value) === (isArray ? Array : Object).prototype &&
      !Object.getOwnPropertySymbols(value).length &&
      !("toJSON" in value) &&
      // An array with a hole, or with other members, has other keys than these.
      (!isArray || keys.length === value.length) &&
      keys.every((key, index) => {
        const member = (value as Record<string, unknown>)[key];
        return (
          (isArray ? key === String(index) : !formOrKey.test(`${JSON.stringify(key)}:`)) &&
          // JSON leaves it out, as the codec does: `{ limit: 20, tag: undefined }`. An argument has a form for it.
          ((member === undefined && !isArray && level > 0) || isPlain(member, level + 1))
        );
      })
    );
  };
  const members = Object.fromEntries(args);
  return isPlain(members, 0) ? JSON.stringify(members, dated ? asForm : undefined) : undefined;
}

/** Whether the value is a date, and nothing that its text doesn't tell: an invalid one, or one with members. */
function isDate(value: unknown): value is Date {
  return (
    value instanceof Date &&
    Object.getPrototypeOf(value) === Date.prototype &&
    !Reflect.ownKeys(value).length &&
    !Number.isNaN(value.getTime())
  );
}

/** For `JSON.stringify`, which has made a text of a date before it asks. */
function asForm(this: unknown, key: string, value: unknown): unknown {
  const member = (this as Record<string, unknown>)[key];
  return isDate(member) ? { serialized: true, name: "Date", value: member.toISOString() } : value;
}

const forbidden = /^(__proto__|constructor|prototype)$/;

/** Forms, and keys that no message may have, even if they are written with escapes. */
export const formOrKey: RegExp = /"(serialized|__proto__|constructor|prototype)"\s*:|\\u/;

/** The value of JSON. `undefined`: the codec must read it, as it holds forms or forbidden keys. */
const parsePlain = (text: string): unknown => (formOrKey.test(text) ? undefined : JSON.parse(text));

/** The same for a page, which may not have the codec yet: forms of dates are read. The codec reads them faster. */
export function parseDated(text: string): unknown {
  const root = { value: JSON.parse(text) as unknown };
  return !formOrKey.test(text) || readDates(root, 0) ? root.value : undefined;
}

/** Puts dates in the places of their forms. False if there is anything that the codec must read, or refuse. */
function readDates(holder: Record<string, unknown>, level: number): boolean {
  return (
    level < mostLevels &&
    Object.keys(holder).every((key) => {
      const member = holder[key] as Record<string, unknown> | null;
      if (forbidden.test(key)) return false;
      if (typeof member !== "object" || member === null) return true;
      if (!Object.hasOwn(member, "serialized")) return readDates(member, level + 1);
      const { serialized, name, value } = member;
      const date = (holder[key] = new Date(value as string));
      return (
        serialized === true &&
        name === "Date" &&
        Object.keys(member).length === 3 &&
        // Not February 30, and not a date without a time.
        date.toJSON() === value
      );
    })
  );
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The value of an answer; `undefined` if the codec must read it, an error for one. */
export function plainAnswer(
  { status, headers: fields, body }: IncomingResponse,
  parse: (text: string) => unknown = parsePlain,
): Answer | undefined {
  if (fields[headers.encoding] || status < 200 || status >= 300) return undefined;
  const node = fields[headers.node];
  const of = (value: unknown): Answer => ({ value, ...(node ? { node: String(node) } : {}) });
  if (status === 204) return of(undefined);
  const type = fields[headers.dataType];
  const text = decoder.decode(body);
  const isJson = String(fields["content-type"]).startsWith(jsonType);
  try {
    const value =
      type === "object"
        ? parse(text)
        : type === "string" && !isJson
          ? text
          : (JSON.parse(text) as unknown);
    // If the value doesn't have the type of the header, leave it to the codec.
    if ((value === null ? "null" : typeof value) === type) return of(value);
  } catch {
    // Not JSON: `NaN` for one, or an answer from elsewhere.
  }
  return undefined;
}
