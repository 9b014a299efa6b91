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
// Entries of one AggregateError, each with its causes.
const maxEntries = 8;

/** The stack of what was thrown, and those of its causes and of the entries of an AggregateError. */
export function stackOf(thrown: unknown, causes = 0): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const text = thrown.stack ?? `${thrown.name}: ${thrown.message}`;
    if (causes === maxCauses) return text;
    const entries: readonly unknown[] =
      thrown instanceof AggregateError && Array.isArray(thrown.errors) ? thrown.errors : [];
    const more = entries.length - maxEntries;
    return [
      text,
      // Those of entries aren't followed as far: each may have entries itself.
      ...entries.slice(0, maxEntries).map((entry) => `with ${stackOf(entry, maxCauses - 1)}`),
      ...(more > 0 ? [`with ${more} more`] : []),
      ...(thrown.cause === undefined ? [] : [`caused by ${stackOf(thrown.cause, causes + 1)}`]),
    ].join("\n");
  } catch {
    // A getter or a proxy threw. Logging must never fail: somebody waits for the answer that
    // follows.
    return "what was thrown can't be read";
  }
}
