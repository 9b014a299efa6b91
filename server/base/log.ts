// The log of a service: lines that a person reads on a terminal, or that a program collects.

import type { Log } from "../../src/base/ports.ts";
import type { LogFields } from "../../src/base/ports/telemetry.ts";
import { boundedOutput } from "./bounded-output.ts";
import { oneEntry, printable } from "./printable.ts";
import { createPaint, type Paint, type TextOutput, wantsColour } from "./paint.ts";
import { stackOf } from "./stacks.ts";

/** The least important level that is written; `none` writes nothing. */
export type LogLevel = "info" | "warn" | "error" | "none";

/** One JSON object a line, or text. */
export type LogFormat = "json" | "text";

type Environment = Readonly<Record<string, string | undefined>>;

export interface LogOptions {
  readonly level?: LogLevel;
  /** @default "text" */
  readonly format?: LogFormat;
  /** The role of the service, for programs. */
  readonly role?: string;
  /** The configured name of the service, for programs. */
  readonly node?: string | undefined;
  /** Prefix of each line of text, to tell the lines of several roles in one terminal apart. */
  readonly name?: string;
  readonly out?: TextOutput;
  readonly err?: TextOutput;
  readonly env?: Environment;
  readonly now?: () => Date;
}

/** Chooses the format of a service's log; without it, terminals get text and programs JSON. */
export const formatVariable = "SEAMLINE_LOG";

/** How a service writes its log. Throws if the environment asks for another format. */
export function logFormat(out: TextOutput, env: Environment): LogFormat {
  const wanted = env[formatVariable] ?? "";
  if (wanted === "json" || wanted === "text") return wanted;
  if (wanted === "") return out.isTTY === true ? "text" : "json";
  throw new Error(
    `The environment variable ${formatVariable} is "${wanted}"; expected "json" or "text"`,
  );
}

const ranks: Readonly<Record<LogLevel, number>> = { info: 0, warn: 1, error: 2, none: 3 };

/** Writes information to standard output, warnings and errors to standard error. */
export function createLog(options: LogOptions = {}): Log {
  const { level = "info", out = process.stdout, err = process.stderr } = options;
  const write = options.format === "json" ? jsonLines(options) : textLines(options);
  const rank = ranks[level];
  const missing = (count: number): string =>
    write(
      "warn",
      `${count === 1 ? "a line is" : `${count} lines are`} missing here: the log wasn't being read`,
      undefined,
      undefined,
    );
  const toOut = boundedOutput(out, missing);
  const toErr = boundedOutput(err, missing);
  return {
    info(line, about) {
      if (rank <= ranks.info) toOut(write("info", line, undefined, about));
    },
    warn(line, about) {
      if (rank <= ranks.warn) toErr(write("warn", line, undefined, about));
    },
    error(line, cause, about) {
      if (rank <= ranks.error) toErr(write("error", line, cause, about));
    },
  };
}

type WriteLine = (
  level: Exclude<LogLevel, "none">,
  line: string,
  cause: unknown,
  about: LogFields | undefined,
) => string;

function jsonLines({ role, node, now = () => new Date() }: LogOptions): WriteLine {
  return (level, message, cause, about) =>
    `${printable(
      JSON.stringify({
        time: now().toISOString(),
        level,
        role,
        node,
        message,
        ...about,
        ...(cause !== undefined && { error: stackOf(cause) }),
      }),
    )}\n`;
}

function textLines(options: LogOptions): WriteLine {
  const { out = process.stdout, err = process.stderr, env = process.env } = options;
  const { role, node, now = () => new Date() } = options;
  const prefix = options.name === undefined ? "" : `[${options.name}] `;
  const service = [role, node].filter((part) => part !== undefined).join(" ");
  // Collectors of text add the time and the service themselves.
  const head = (stream: TextOutput, paint: Paint): string =>
    stream.isTTY === true && role !== undefined
      ? `${paint("dim", `${now().toTimeString().slice(0, 8)} ${service}`)} `
      : prefix;
  const painted = (stream: TextOutput, text: string, colour?: "yellow" | "red"): string => {
    const paint = createPaint(wantsColour(stream, env));
    return `${head(stream, paint)}${colour === undefined ? text : paint(colour, text)}\n`;
  };
  return (level, line, cause, about) => {
    const text = oneEntry(`${line}${idsOf(about)}`);
    if (level === "info") return painted(out, text);
    if (level === "warn") return painted(err, `warning: ${text}`, "yellow");
    const stack = cause === undefined ? "" : oneEntry(`\n${stackOf(cause)}`);
    return painted(err, `error: ${text}${stack}`, "red");
  };
}

/** Ids that lead a reader to related lines. The line itself has the rest. */
function idsOf(about: LogFields | undefined): string {
  const ids = [
    ...(about?.request === undefined ? [] : [`request ${about.request}`]),
    ...(about?.trace === undefined ? [] : [`trace ${about.trace}`]),
  ];
  return ids.length === 0 ? "" : ` (${ids.join(", ")})`;
}
