// The encoding of a call's values, as its header names it.

import { UnsupportedEncoding } from "../base/errors.ts";
import type { HeaderFields } from "../base/ports.ts";
import { headers } from "../base/protocol.ts";

/**
 * How values travel in a call and in its answer. A caller that names both reads both: its body is
 * serialized, and so is the answer unless only superjson can carry the value.
 */
export type Encoding = "plain" | "serialized" | "superjson" | "serialized, superjson";

/** How an answer's value travels: in a plain call's, everything is JSON if the caller asks for that. */
export type AnswerEncoding = Encoding | "json";

const both = "serialized, superjson";

/** The encoding that a request asks for. Throws UnsupportedEncoding for an unknown one. */
export function readEncoding(fields: HeaderFields): Encoding {
  const field = fields[headers.encoding];
  // Our own calls send this field.
  if (field === both) return both;
  const name = headerText(field).toLowerCase();
  if (name === "") return "plain";
  if (name === "serialized" || name === "superjson") return name;
  if (/^serialized\s*,\s*superjson$/.test(name)) return both;
  throw new UnsupportedEncoding(
    `Unsupported encoding '${name.slice(0, 64)}' in ${headers.encoding}: known are 'serialized' and 'superjson'`,
  );
}

/** The encoding for the refusal of a request: plain or JSON, if it asks for an unknown one. */
export function refusalEncoding(fields: HeaderFields): AnswerEncoding {
  try {
    return answerEncoding(readEncoding(fields), fields);
  } catch {
    return answerEncoding("plain", fields);
  }
}

/** The encoding of the answer to a call whose values are in `encoding`. */
export function answerEncoding(encoding: Encoding, fields: HeaderFields): AnswerEncoding {
  return encoding === "plain" && prefersJson(headerText(fields["accept"])) ? "json" : encoding;
}

/**
 * Whether `application/json`, or the type of its errors, is the preferred type of an `accept` field: by
 * weight, and by order among equals. Ranges with `*` name no type, and an unreadable weight counts as 0.
 */
function prefersJson(accept: string): boolean {
  if (accept === "application/json") return true;
  // Nearly all callers of plain calls end here.
  if (!/json/i.test(accept)) return false;
  let most = 0;
  let isJson = false;
  for (const [range] of accept.matchAll(ranges)) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const q = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    if (q <= most) continue;
    most = q;
    isJson = type === "application/json" || type === "application/problem+json";
  }
  return isJson;
}

/** The items of a list. A comma in a quoted text is part of its item. */
const ranges = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;

/** The value of a header field, trimmed; "" if the message doesn't have it. */
export function headerText(field: string | readonly string[] | undefined): string {
  return typeof field === "string" ? field.trim() : (field?.join() ?? "");
}
