// Calls and answers of plain data, like most of them: JSON carries it by itself. A page starts with this alone, and
// loads the codec at the first value or error that needs it.

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
  const isPlain = (value: unknown, level: number): boolean => {
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
  return isPlain(members, 0) ? JSON.stringify(members) : undefined;
}

/** Forms, and keys that no message may have, even if they are written with escapes. */
export const formOrKey: RegExp = /"(serialized|__proto__|constructor|prototype)"\s*:|\\u/;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The value of an answer; `undefined` if the codec must read it, an error for one. */
export function plainAnswer({
  status,
  headers: fields,
  body,
}: IncomingResponse): Answer | undefined {
  if (fields[headers.encoding] || status < 200 || status >= 300) return undefined;
  const node = fields[headers.node];
  const of = (value: unknown): Answer => ({ value, ...(node ? { node: String(node) } : {}) });
  if (status === 204) return of(undefined);
  const type = fields[headers.dataType];
  const text = decoder.decode(body);
  const isJson = String(fields["content-type"]).startsWith(jsonType);
  try {
    const value: unknown = type === "string" && !isJson ? text : JSON.parse(text);
    // If the value doesn't have the type of the header, leave it to the codec.
    if (
      (value === null ? "null" : typeof value) === type &&
      (type !== "object" || !formOrKey.test(text))
    )
      return of(value);
  } catch {
    // Not JSON: `NaN` for one, or an answer from elsewhere.
  }
  return undefined;
}
