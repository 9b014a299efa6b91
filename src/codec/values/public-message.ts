// What callers outside the deployment may read of an error.

import { errorOf } from "../../base/trace.ts";

/** Replaces a message that isn't for outsiders. */
export const internal = "Internal error";

/** An error's `name` or `message` as text: applications may put anything there. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : errorOf(value).message;
}

// Errors from other services, which have said so. The members that would show it may not travel.
const internalErrors = new WeakSet<object>();

/** Notes that the message of an error from another service isn't for outsiders. */
export function noteInternal(error: Error): void {
  internalErrors.add(error);
}

/**
 * Whether the message of an error isn't for outsiders. Messages of system and transport errors
 * contain paths and addresses. A transport error is recognised by its name, because one from
 * another node is not an instance of our class.
 */
export function isInternal(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return (
    // The message of a failed command contains its command line, passwords included.
    ["syscall", "cmd", "stderr"].some((key) => key in error) ||
    error.name === "TransportError" ||
    // Quotes lines of the application's files.
    error.name === "Problems" ||
    (typeof code === "string" && code.endsWith("MODULE_NOT_FOUND")) ||
    isAmong(internalErrors, error)
  );
}

/** The message of an error as outsiders may read it. */
export function publicMessage(error: Error): string {
  return isInternal(error) ? internal : textOf(error.message);
}

/** Whether a set has an error, or the one that it stands in for and inherits from. */
export function isAmong(errors: WeakSet<object>, error: Error): boolean {
  for (
    let value: object | null = error;
    value !== null;
    value = Object.getPrototypeOf(value) as object | null
  )
    if (errors.has(value)) return true;
  return false;
}
