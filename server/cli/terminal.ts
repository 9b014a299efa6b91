// What a command writes to, and how it says that it failed.

import { styleText } from "node:util";
import { Problems } from "../../src/problem.ts";
import { wantsColour } from "../log.ts";

/** The part of `process` that commands use. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where keys come from. */
  readonly stdin?: Input;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Of a terminal. */
  readonly columns?: number;
  readonly rows?: number;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export interface Input extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
}

/** The command line asks for what can't be: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command has told its failure itself: only the exit code 1 is left. */
export class AlreadyTold extends Error {
  override readonly name: string = "AlreadyTold";
}

/** One message for a person; with DEBUG=seamline the stacks as well. */
export function reportFailure(error: unknown, { stderr, env }: Terminal): void {
  const head = wantsColour(stderr, env)
    ? styleText("red", "error:", { validateStream: false })
    : "error:";
  const count =
    error instanceof Problems && error.problems.length > 1
      ? `${error.problems.length} problems\n\n`
      : "";
  stderr.write(`${head} ${count}${error instanceof Error ? error.message : String(error)}\n`);
  if (!/(?:^|[\s,])(?:seamline|\*)(?:$|[\s,])/.test(env["DEBUG"] ?? "")) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    stderr.write(`\n${cause.stack ?? cause.message}\n`);
}
