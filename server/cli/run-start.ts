// `seamline start` without the program: its failures look the same, and have the same exit code.

import type { Terminal } from "../base/terminal.ts";
import { exitCodeOf } from "./failure.ts";
import { start, type StartOptions } from "./start.ts";

/** Starts the service. Gives `undefined` if that goes on running, and the exit code if not. */
export async function runStart(
  options: StartOptions,
  terminal: Terminal = process,
): Promise<number | undefined> {
  try {
    return (await start(options, terminal)) ? undefined : 0;
  } catch (error) {
    return exitCodeOf(error, terminal);
  }
}
