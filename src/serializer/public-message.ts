// What outsiders read of errors (reliability, rule 1).

import { errorOf } from "../trace.ts";

/** What outsiders read of an error whose message isn't for them. */
export const internal = "Internal error";

/** Applications may put anything under an error's `name` and `message`. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : errorOf(value).message;
}

/** Whether the platform threw an error and put what it was given on it. */
export function isOfPlatform(error: Error): boolean {
  return String((error as { code?: unknown }).code).startsWith("ERR_");
}

/**
 * The message of an error as outsiders may read it: those that the system and the transport throw tell of files and addresses
 * (reliability, rule 1). A transport's error is known by its name, as one that came from another node is of no class here.
 */
export function publicMessage(error: Error): string {
  const { code } = error as { code?: unknown };
  const hidden =
    // A command that failed has its whole line in the message, passwords too.
    ["syscall", "cmd", "stderr"].some((key) => key in error) ||
    error.name === "TransportError" ||
    // Mistakes in an application's files, with lines of them.
    error.name === "Problems" ||
    (typeof code === "string" && code.endsWith("MODULE_NOT_FOUND"));
  return hidden ? internal : textOf(error.message);
}
