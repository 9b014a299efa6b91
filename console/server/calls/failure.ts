// Reads name, message and trace lines from an error's answer.

import type { HttpResponse } from "../../../src/base/ports.ts";
import { headers, jsonType, mediaTypes } from "../../../src/base/protocol.ts";
import { mostLines } from "../../../src/base/trace.ts";

/** The kept part of a message: enough to recognise an error, and small enough for a hundred calls in one event. */
const maxMessage = 300;
/** Longer answers carry fields of the error, which aren't needed here. */
const maxLength = 65_536;
/** The format of `traceLine` and `traced`. */
const line = /^\[[^\n]{1,300} \| v[\d.]{1,30}\]$/;
const omission = /^… \d{1,15} more$/;
const masked = /^Internal error \([0-9a-f]{16}\)$/;
const isLine = (entry: string): boolean => line.test(entry) || omission.test(entry);

/** The facts about a failure. A masked error has an id in its name, and no message. */
export interface Failure {
  readonly error?: string;
  readonly message?: string;
  readonly trace?: readonly string[];
}

export function failureIn({ body, headers: fields }: HttpResponse): Failure {
  const header = fields[headers.error];
  const found = readFailure(body, String(fields["content-type"] ?? ""));
  const error = typeof header === "string" ? header.slice(0, 100) : found.error;
  return {
    ...(error === undefined ? {} : { error }),
    ...messageOf(found.message),
    ...(found.trace.length === 0 ? {} : { trace: found.trace.slice(0, mostLines) }),
  };
}

function readFailure(
  body: HttpResponse["body"],
  type: string,
): { error?: string | undefined; message?: unknown; trace: readonly string[] } {
  const isShort = body instanceof Uint8Array && body.length <= maxLength;
  const decoded = isShort ? new TextDecoder().decode(body) : "";
  const text = typeof body === "string" ? body : decoded;
  if (text.length > maxLength) return { trace: [] };
  const isProblem = type === mediaTypes.problem;
  if (!isProblem && !type.startsWith(jsonType)) {
    // Trace lines come at the end, after a message of any number of lines.
    const lines = text.split("\n");
    let first = lines.findLastIndex((entry) => !isLine(entry)) + 1;
    // A trace never begins with an omission: such a line is part of the message.
    while (omission.test(lines[first] ?? "")) first++;
    const error = maskedMessage(text);
    return { error, message: lines.slice(0, first).join("\n"), trace: lines.slice(first) };
  }
  try {
    const parsed = JSON.parse(text) as { json?: unknown };
    const form = (parsed.json ?? parsed) as Readonly<Record<string, unknown>>;
    const message = isProblem ? form["detail"] : form["message"];
    const own = isProblem ? form["title"] : (form["type"] ?? form["name"]);
    const name = maskedMessage(message) ?? own;
    return {
      error: typeof name === "string" ? name.slice(0, 100) : undefined,
      message,
      trace: Array.isArray(form["trace"])
        ? form["trace"].filter(
            (entry): entry is string => typeof entry === "string" && isLine(entry),
          )
        : [],
    };
  } catch {
    return { trace: [] };
  }
}

/** A message as the console shows it; empty if it can't be read. */
export function messageOf(message: unknown): Pick<Failure, "message"> {
  if (typeof message !== "string" || message.trim() === "" || masked.test(message)) return {};
  return { message: message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message };
}

/** The message of a masked error, which is only its id. */
function maskedMessage(message: unknown): string | undefined {
  return typeof message === "string" && masked.test(message) ? message : undefined;
}
