// Reads the name and the trace lines from an error's answer. It drops the message, which may hold
// values, but for the id under which the log has a masked error.

import type { HttpResponse } from "../../../src/base/ports.ts";
import { headers } from "../../../src/base/protocol.ts";
import { mostLines } from "../../../src/base/trace.ts";

/** Longer answers carry fields of the error, which aren't needed here. */
const maxLength = 65_536;
/** As `traceLine` and `traced` write them. */
const line = /^\[[^\n]{1,300} \| v[\d.]{1,30}\]$/;
const omission = /^… \d{1,15} more$/;
const masked = /^Internal error \([0-9a-f]{16}\)$/;
const isLine = (entry: string): boolean => line.test(entry) || omission.test(entry);

export function failureIn({ body, headers: fields }: HttpResponse): {
  error?: string;
  trace?: readonly string[];
} {
  const header = fields[headers.error];
  const found = readFailure(body, String(fields["content-type"] ?? ""));
  const error = typeof header === "string" ? header.slice(0, 100) : found.error;
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
      : body instanceof Uint8Array && body.length <= maxLength
        ? new TextDecoder().decode(body)
        : "";
  if (text.length > maxLength) return { trace: [] };
  if (!type.startsWith("application/json")) {
    // Trace lines come at the end, after a message of any number of lines.
    const lines = text.split("\n");
    let first = lines.findLastIndex((entry) => !isLine(entry)) + 1;
    // A trace never begins with an omission: such a line is part of the message.
    while (omission.test(lines[first] ?? "")) first++;
    return { error: maskedMessage(text), trace: lines.slice(first) };
  }
  try {
    const parsed = JSON.parse(text) as { json?: unknown };
    const form = (parsed.json ?? parsed) as Readonly<
      Record<"type" | "name" | "message" | "trace", unknown>
    >;
    const name = maskedMessage(form.message) ?? form.type ?? form.name;
    return {
      error: typeof name === "string" ? name.slice(0, 100) : undefined,
      trace: Array.isArray(form.trace)
        ? form.trace.filter((entry): entry is string => typeof entry === "string" && isLine(entry))
        : [],
    };
  } catch {
    return { trace: [] };
  }
}

/** The message of a masked error, which is nothing but its id. */
function maskedMessage(message: unknown): string | undefined {
  return typeof message === "string" && masked.test(message) ? message : undefined;
}
