// What an error's answer tells of it without its message, which may hold values: the name, and the trace lines.

import type { HttpResponse } from "../ports.ts";
import { headers } from "../protocol.ts";
import { mostLines } from "../trace.ts";

// Longer ones hold an error's own fields, which nobody here looks at.
const longest = 65_536;
/** As `traceLine` and `traced` write them. */
const line = /^\[[^\n]{1,300} \| v[\d.]{1,30}\]$/;
const omission = /^… \d{1,15} more$/;
const isLine = (one: string): boolean => line.test(one) || omission.test(one);

export function failureIn({ body, headers: fields }: HttpResponse): {
  error?: string;
  trace?: readonly string[];
} {
  const named = fields[headers.error];
  const found = readFailure(body, String(fields["content-type"] ?? ""));
  const error = typeof named === "string" ? named.slice(0, 100) : found.error;
  return {
    ...(error === undefined ? {} : { error }),
    ...(found.trace.length === 0 ? {} : { trace: found.trace.slice(0, mostLines) }),
  };
}

function readFailure(
  body: HttpResponse["body"],
  type: string,
): { error?: string | undefined; trace: readonly string[] } {
  const text =
    typeof body === "string"
      ? body
      : body instanceof Uint8Array && body.length <= longest
        ? new TextDecoder().decode(body)
        : "";
  if (text.length > longest) return { trace: [] };
  if (!type.startsWith("application/json")) {
    // The lines stand at the end, after a message of any number of lines.
    const lines = text.split("\n");
    let first = lines.findLastIndex((one) => !isLine(one)) + 1;
    // No trace begins with what it leaves out: these are words of the message.
    while (omission.test(lines[first] ?? "")) first++;
    return { trace: lines.slice(first) };
  }
  try {
    const parsed = JSON.parse(text) as { json?: unknown };
    const form = (parsed.json ?? parsed) as { type?: unknown; name?: unknown; trace?: unknown };
    const name = form.type ?? form.name;
    return {
      error: typeof name === "string" ? name.slice(0, 100) : undefined,
      trace: Array.isArray(form.trace)
        ? form.trace.filter((one): one is string => typeof one === "string" && isLine(one))
        : [],
    };
  } catch {
    return { trace: [] };
  }
}
