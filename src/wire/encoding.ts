// The encoding of a call's values, as its header names it.

import { UnsupportedEncoding } from "../base/errors.ts";
import type { HeaderFields } from "../base/ports.ts";
import { headers } from "../base/protocol.ts";

/**
 * How values travel in a call and in its answer. A caller that names both reads both: its body is
 * serialized, and so is the answer unless only superjson can carry the value.
 */
export type Encoding = "plain" | "serialized" | "superjson" | "serialized, superjson";

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

/** The encoding for the refusal of a request: plain, if it asks for an unknown one. */
export function refusalEncoding(fields: HeaderFields): Encoding {
  try {
    return readEncoding(fields);
  } catch {
    return "plain";
  }
}

/** The value of a header field, trimmed; "" if the message doesn't have it. */
export function headerText(field: string | readonly string[] | undefined): string {
  return typeof field === "string" ? field.trim() : (field?.join() ?? "");
}
