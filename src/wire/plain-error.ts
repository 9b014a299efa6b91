// Errors of calls that asked for no encoding: only services that pass calls on read such answers.

import { nearestError } from "../serializer/error-form.ts";
import { setTrace } from "../trace.ts";
import type { ErrorClass } from "./decode-answer.ts";

/** The error of a plain answer: the message, then the trace lines; the class as it is named, else by its status. */
export function errorOfText(text: string, status: number, known: ErrorClass | undefined): Error {
  const lines = text.split("\n");
  let end = lines.length;
  while (end > 1 && /^(\[\S+ \| v[\d.]+\]|… \d+ more)$/.test(lines[end - 1] ?? "")) end--;
  const message = lines.slice(0, end).join("\n");
  const error = known ? new known(message) : nearestError(status, message);
  setTrace(error, lines.slice(end));
  return error;
}
