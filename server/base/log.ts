// The log of a service: lines on the terminal.

import type { Log } from "../../src/base/ports.ts";
import { createPaint, type TextOutput, wantsColour } from "./paint.ts";

/** The least important level that is written; `none` writes nothing. */
export type LogLevel = "info" | "warn" | "error" | "none";

export interface LogOptions {
  readonly level?: LogLevel;
  /** Prefix of each line, to tell the lines of several roles in one terminal apart. */
  readonly name?: string;
  readonly out?: TextOutput;
  readonly err?: TextOutput;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const ranks: Readonly<Record<LogLevel, number>> = { info: 0, warn: 1, error: 2, none: 3 };

/** Writes information to standard output, warnings and errors to standard error. */
export function createLog(options: LogOptions = {}): Log {
  const { level = "info", out = process.stdout, err = process.stderr, env = process.env } = options;
  const rank = ranks[level];
  const prefix = options.name === undefined ? "" : `[${options.name}] `;
  const writeError = (colour: "yellow" | "red", text: string): void => {
    const paint = createPaint(wantsColour(err, env));
    err.write(`${paint(colour, `${prefix}${text}`)}\n`);
  };
  return {
    info: (line) => rank <= ranks.info && out.write(`${prefix}${line}\n`),
    warn: (line) => rank <= ranks.warn && writeError("yellow", `warning: ${line}`),
    error: (line, cause) =>
      rank <= ranks.error &&
      writeError("red", `error: ${line}${cause === undefined ? "" : `\n${stackOf(cause)}`}`),
  };
}

// Causes of one error may form a circle.
const maxCauses = 8;

/** The stack of what was thrown, and those of its causes. */
export function stackOf(thrown: unknown, causes = 0): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const text = thrown.stack ?? `${thrown.name}: ${thrown.message}`;
    return thrown.cause === undefined || causes === maxCauses
      ? text
      : `${text}\ncaused by ${stackOf(thrown.cause, causes + 1)}`;
  } catch {
    // A getter or a proxy threw. Logging must never fail: somebody waits for the answer that
    // follows.
    return "what was thrown can't be read";
  }
}
