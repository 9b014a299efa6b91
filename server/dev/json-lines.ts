// Shows a development session to a program: one JSON object per line on standard output, and
// nothing else.

import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "../base/terminal.ts";
import { stackOf } from "../base/stacks.ts";
import { traceOf } from "../../src/base/trace.ts";
import type { DevEvent, DevSession } from "./session.ts";
import type { Shows } from "./show-in-terminal.ts";

/** Shows a session to a program. The application's own output goes to standard error. */
export function showAsJson(terminal: Terminal, { version }: { readonly version: string }): Shows {
  const { stdout, stderr } = terminal;
  const write = stdout.write;
  stdout.write = (...data: Parameters<typeof write>) => stderr.write(...data);
  const put = (line: { readonly event: string } & Readonly<Record<string, unknown>>): void => {
    write.call(stdout, `${JSON.stringify(line, withoutColours)}\n`);
  };
  const log = (level: string) => (text: string) => put({ event: "log", level, text });
  const logError = (text: string, cause?: unknown): void =>
    put({
      event: "log",
      level: "error",
      text,
      ...(cause === undefined ? {} : { error: errorForm(cause) }),
    });
  let unsubscribe: (() => void) | undefined;
  return {
    log: { info: log("info"), warn: log("warn"), error: logError },
    start(session, { ms }) {
      put({ event: "ready", version, ms: Math.round(ms), ...stateOf(session) });
      unsubscribe = session.on((event) => put(eventForm(event)));
    },
    close() {
      unsubscribe?.();
      put({ event: "stopped" });
      stdout.write = write;
    },
  };
}

// Messages from elsewhere, such as Vite's compiler, have colours.
function withoutColours(_: string, value: unknown): unknown {
  return typeof value === "string" ? stripVTControlCharacters(value) : value;
}

function stateOf(session: DevSession): Readonly<Record<string, unknown>> {
  return {
    url: session.url,
    console: session.consoleUrl(),
    watched: session.watched,
    nodes: session.nodes(),
    procedures: session.procedures(),
  };
}

function eventForm({
  kind,
  ...event
}: DevEvent): { event: string } & Readonly<Record<string, unknown>> {
  return "error" in event
    ? { event: kind, ...event, error: errorForm(event.error) }
    : { event: kind, ...event };
}

function errorForm(thrown: unknown): Readonly<Record<string, unknown>> {
  if (!(thrown instanceof Error)) return { message: stackOf(thrown) };
  return {
    name: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    trace: traceOf(thrown),
  };
}
