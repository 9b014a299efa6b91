// `seamline start` without the program: its failures look the same, and have the same exit code.

import type { Terminal } from "../base/terminal.ts";
import { exitCodeOf } from "./commands/failure.ts";
import { start, type StartOptions } from "./commands/start.ts";

/** Starts the service and gives the exit code; the service goes on running after it. */
export async function runStart(
  options: StartOptions,
  terminal: Terminal = process,
): Promise<number> {
  try {
    await start(options, terminal);
    return 0;
  } catch (error) {
    return exitCodeOf(error, terminal);
  }
}
