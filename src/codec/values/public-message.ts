// The message of an error that callers outside the deployment may read.

import { errorOf } from "../../base/trace.ts";

/** Replaces a message that isn't for outsiders. */
export const internal = "Internal error";

/** An error's `name` or `message` as text: applications may put anything there. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : errorOf(value).message;
}

// Errors that other services marked as internal. The members that would show it may not travel.
const internalErrors = new WeakMap<object, unknown>();

/**
 * Notes that the message of an error from another service isn't for outsiders. `outside` is the id
 * under which that service's log has it, if it has.
 */
export function noteInternal(error: Error, outside: unknown): void {
  internalErrors.set(error, outside);
}

/** The id under which another service's log has an error, or the error that it stands in for. */
export function idOfInternal(error: Error): string | undefined {
  const noted = ownerIn(internalErrors, error);
  const id = noted && internalErrors.get(noted);
  return typeof id === "string" && /^[0-9a-f]{16}$/.test(id) ? id : undefined;
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

type Errors = Pick<WeakSet<object>, "has">;

/** Whether a set has an error, or the error that it stands in for and inherits from. */
export function isAmong(errors: Errors, error: Error): boolean {
  return ownerIn(errors, error) !== undefined;
}

function ownerIn(errors: Errors, error: Error): object | undefined {
  for (
    let value: object | null = error;
    value !== null;
    value = Object.getPrototypeOf(value) as object | null
  )
    if (errors.has(value)) return value;
  return undefined;
}
