// Lines for the person at the terminal.

import { styleText } from "node:util";
import type { Log } from "../src/ports.ts";

/** From which level on lines are written; `none` writes nothing. */
export type LogLevel = "info" | "warn" | "error" | "none";

export interface LogOptions {
  readonly level?: LogLevel;
  /** Stands before each line, so that the lines of several roles in one terminal can be told apart. */
  readonly name?: string;
  readonly out?: Output;
  readonly err?: Output;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

const ranks: Readonly<Record<LogLevel, number>> = { info: 0, warn: 1, error: 2, none: 3 };

/** Information on standard output, warnings and errors on standard error; colours only at a terminal without NO_COLOR. */
export function createLog(options: LogOptions = {}): Log {
  const { level = "info", out = process.stdout, err = process.stderr, env = process.env } = options;
  const from = ranks[level];
  const before = options.name === undefined ? "" : `[${options.name}] `;
  const put = (output: Output, colour: "yellow" | "red" | undefined, text: string): void => {
    const line = `${before}${text}`;
    const coloured = colour !== undefined && wantsColour(output, env);
    // Our own check stands, not that of styleText, which looks at the process's streams.
    output.write(`${coloured ? styleText(colour, line, { validateStream: false }) : line}\n`);
  };
  return {
    info: (line) => from <= ranks.info && put(out, undefined, line),
    warn: (line) => from <= ranks.warn && put(err, "yellow", `warning: ${line}`),
    error: (line, cause) =>
      from <= ranks.error &&
      put(err, "red", `error: ${line}${cause === undefined ? "" : `\n${stackOf(cause)}`}`),
  };
}

/** Whether `output` is a terminal whose person wants colours (https://no-color.org). */
export function wantsColour(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return output.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

// Causes that are told of one error: they may go round in a circle.
const mostCauses = 8;

/** What was thrown, with its stack and its causes. */
export function stackOf(thrown: unknown, causes = 0): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const text = thrown.stack ?? `${thrown.name}: ${thrown.message}`;
    return thrown.cause === undefined || causes === mostCauses
      ? text
      : `${text}\ncaused by ${stackOf(thrown.cause, causes + 1)}`;
  } catch {
    // A getter or a proxy that throws: to write a line must not fail, as what comes after it is somebody's answer.
    return "what was thrown can't be read";
  }
}
