// How a command fails: the errors that decide the exit code, and the message on the terminal.

import { Problems } from "../../../src/base/problem.ts";
import { createPaint, wantsColour } from "../../base/paint.ts";
import type { Terminal } from "../../base/terminal.ts";

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
  const count =
    error instanceof Problems && error.problems.length > 1
      ? `${error.problems.length} problems\n\n`
      : "";
  stderr.write(`${head} ${count}${error instanceof Error ? error.message : String(error)}\n`);
  if (!/(?:^|[\s,])(?:seamline|\*)(?:$|[\s,])/.test(env["DEBUG"] ?? "")) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    stderr.write(`\n${cause.stack ?? cause.message}\n`);
}
