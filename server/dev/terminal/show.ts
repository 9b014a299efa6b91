// Shows a development session to a person: a line for each event, and a few keys.

import type { Terminal } from "../../base/terminal.ts";
import type { Log } from "../../../src/base/ports.ts";
import { formatProblem } from "../../../src/base/problem.ts";
import type { DevEvent, DevSession } from "../session/session.ts";
import { eventLines } from "./event-lines.ts";
import { failureLines, reasonOf } from "./failure-lines.ts";
import { firstScreen, helpLines } from "./first-screen.ts";
import { type Key, type Keyboard, readKeys } from "./keyboard.ts";
import { openPage } from "./open-page.ts";
import { createScreen } from "./screen.ts";

/** Shows a session, as text or as JSON. */
export interface Shows {
  /** The log of the session, usable before it has started. */
  readonly log: Log;
  /** Shows a started session and its events. */
  start(session: DevSession, ready: { readonly ms: number }): void;
  /** Ends the display and restores the terminal. */
  close(): void;
}

export interface ShowOptions {
  readonly root: string;
  readonly version: string;
  /** Called when the user quits with `q` or Ctrl-C. */
  readonly stop: () => void;
  readonly open?: typeof openPage;
}

/** Keys work if the terminal has a keyboard. */
export function showInTerminal(terminal: Terminal, options: ShowOptions): Shows {
  const { root, version, stop, open = openPage } = options;
  const screen = createScreen(terminal);
  const { paint, print } = screen;
  const log: Log = {
    info: (line) => print(line),
    warn: (line) => print(`${paint("yellow", "warning:")} ${line}`),
    error(line, cause) {
      if (cause === undefined) print(`${paint("red", "error:")} ${line}`);
      else print(failureLines(cause, { root, paint, head: `error: ${line}` }).text);
    },
  };

  const openOrPrint = async (what: string, url: string): Promise<void> => {
    try {
      await open(url, terminal.env);
    } catch (error) {
      print(`Can't open the ${what} from here (${reasonOf(error)}): ${url}`);
    }
  };

  const openConsole = (session: DevSession): void => {
    const url = session.consoleUrl();
    if (url === undefined) print("There is no console yet: nothing runs.");
    else void openOrPrint("console", url);
  };

  let keyboard: Keyboard | undefined;
  const press = (session: DevSession, { name, ctrl, text }: Key): void => {
    if (ctrl && name === "z") suspend(keyboard);
    else if (ctrl ? name === "c" || name === "d" : text === "q") stop();
    else if (text === "o") void openOrPrint("page", session.url);
    else if (text === "c") openConsole(session);
    else if (text === "h" || text === "?") print(helpLines(session, paint));
  };

  let hasRun = false;
  const warned = new Set<string>();
  const context = {
    root,
    paint,
    get width() {
      return screen.width();
    },
    hasRun: () => hasRun,
  };
  const noteRun = (session: DevSession): void => {
    const nodes = session.nodes();
    hasRun ||=
      nodes.length === 0
        ? session.procedures().length > 0
        : nodes.some((node) => node.state === "ready");
  };
  const showEvent = (event: DevEvent): void => {
    if (event.kind === "warning") {
      const text = formatProblem(event.problem);
      if (warned.has(text)) return;
      warned.add(text);
    }
    for (const { text, same } of eventLines(event, context)) print(text, same);
  };

  let unsubscribe: (() => void) | undefined;
  return {
    log,
    start(session, { ms }) {
      keyboard = readKeys(terminal.stdin, (key) => press(session, key));
      const keys = keyboard !== undefined;
      print(firstScreen(session, { root, version, ms, width: screen.width(), paint, keys }));
      // Subscribing replays earlier events, but the first screen already shows the ready nodes.
      let isSubscribed = false;
      unsubscribe = session.on((event) => {
        noteRun(session);
        if (isSubscribed || event.kind !== "node" || event.state !== "ready") showEvent(event);
      });
      isSubscribed = true;
    },
    close() {
      unsubscribe?.();
      keyboard?.close();
      screen.close();
    },
  };
}

/** Ctrl-Z: restores the terminal for the shell. `fg` brings the keys back. */
function suspend(keyboard: Keyboard | undefined): void {
  if (process.platform === "win32") return;
  keyboard?.pause();
  process.once("SIGCONT", () => keyboard?.resume());
  process.kill(process.pid, "SIGTSTP");
}
