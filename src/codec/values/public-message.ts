// What callers outside the deployment may read of an error.

import { errorOf } from "../../base/trace.ts";

/** Replaces a message that isn't for outsiders. */
export const internal = "Internal error";

/** An error's `name` or `message` as text: applications may put anything there. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : errorOf(value).message;
}

/** Whether the platform threw an error. It puts its own arguments on such errors. */
export function isOfPlatform(error: Error): boolean {
  return String((error as { code?: unknown }).code).startsWith("ERR_");
}

/**
 * The message of an error as outsiders may read it. Messages of system and transport errors contain
 * paths and addresses. A transport error is recognised by its name, because one from another node
 * is not an instance of our class.
 */
export function publicMessage(error: Error): string {
  const { code } = error as { code?: unknown };
  const hidden =
    // The message of a failed command contains its command line, passwords included.
    ["syscall", "cmd", "stderr"].some((key) => key in error) ||
    error.name === "TransportError" ||
    // Quotes lines of the application's files.
    error.name === "Problems" ||
    (typeof code === "string" && code.endsWith("MODULE_NOT_FOUND"));
  return hidden ? internal : textOf(error.message);
}
