// How a command fails: the errors that decide the exit code, and the message on the terminal.

import { stripVTControlCharacters } from "node:util";
import { Problems } from "../../src/base/problem.ts";
import { createLog, logFormat } from "../base/log.ts";
import { createPaint, wantsColour } from "../base/paint.ts";
import { printable } from "../base/printable.ts";
import type { Terminal } from "../base/terminal.ts";

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command has reported its failure itself; only exit code 1 is left to do. */
export class AlreadyReported extends Error {
  override readonly name: string = "AlreadyReported";
}

/** Reports a failure, unless that has happened, and gives the exit code. */
export function exitCodeOf(error: unknown, terminal: Terminal): 1 | 2 {
  if (!(error instanceof AlreadyReported)) reportFailure(error, terminal);
  return error instanceof UsageError ? 2 : 1;
}

/** Prints one message; with DEBUG=seamline also the stacks. */
export function reportFailure(error: unknown, { stderr, env }: Terminal): void {
  const head = createPaint(wantsColour(stderr, env))("red", "error:");
  stderr.write(`${head} ${printable(stripVTControlCharacters(textOf(error)))}\n`);
  if (!wantsStacks(env)) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    stderr.write(`\n${printable(cause.stack ?? cause.message)}\n`);
}

/**
 * Reports why a service didn't start, and gives the error to throw: where its log would be JSON, a
 * program reads this too.
 */
export function failedStart(
  error: unknown,
  { stdout, stderr, env }: Pick<Terminal, "stdout" | "stderr" | "env">,
): unknown {
  if (!isJson(stdout, env)) return error;
  const log = createLog({ format: "json", err: stderr });
  log.error(textOf(error), wantsStacks(env) ? error : undefined);
  return new AlreadyReported();
}

function isJson(out: Terminal["stdout"], env: Terminal["env"]): boolean {
  try {
    return logFormat(out, env) === "json";
  } catch {
    // An unknown format is why the start has failed.
    return false;
  }
}

function textOf(error: unknown): string {
  const count =
    error instanceof Problems && error.problems.length > 1
      ? `${error.problems.length} problems\n\n`
      : "";
  return `${count}${error instanceof Error ? error.message : String(error)}`;
}

function wantsStacks(env: Terminal["env"]): boolean {
  return /(?:^|[\s,])(?:seamline|\*)(?:$|[\s,])/.test(env["DEBUG"] ?? "");
}
