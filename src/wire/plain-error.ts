// The error of a plain answer. Only services that pass calls on read such answers.

import { nearestError } from "../codec/error-form.ts";
import { setTrace } from "../base/trace.ts";
import type { ErrorClass } from "./decode-answer.ts";

/**
 * The error in the text of a plain answer: its message, then trace lines. `type` is the class that
 * the answer names; without one, the status decides.
 */
export function errorOfText(text: string, status: number, type: ErrorClass | undefined): Error {
  const lines = text.split("\n");
  let end = lines.length;
  while (end > 1 && /^(\[\S+ \| v[\d.]+\]|… \d+ more)$/.test(lines[end - 1] ?? "")) end--;
  const message = lines.slice(0, end).join("\n");
  const error = nearestError(status, message, type);
  setTrace(error, lines.slice(end));
  return error;
}
