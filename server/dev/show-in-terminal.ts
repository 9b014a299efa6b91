// Shows a development session to a person: a line for each event, and a few keys.

import { stripVTControlCharacters } from "node:util";

import type { Log } from "../../src/base/ports.ts";
import { createPaint, wantsColour } from "../base/paint.ts";
import type { Terminal } from "../base/terminal.ts";
import type { DevSession } from "./session.ts";
import { type Key, type Keyboard, readKeys } from "./keyboard.ts";
import { createDevLog } from "./terminal-lines.ts";
import { openPage } from "./open-page.ts";
import { helpLines, overview } from "./overview.ts";

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
  const hasColours = wantsColour(terminal.stdout, terminal.env);
  const paint = createPaint(hasColours);
  // Messages from elsewhere, such as Vite's compiler, have colours.
  const print = (text: string): void =>
    void terminal.stdout.write(`${hasColours ? text : stripVTControlCharacters(text)}\n`);
  let hasRun = false;
  const { event: printEvent, ...log } = createDevLog(
    { root, paint, hasRun: () => hasRun },
    (_, text) => print(text),
  );

  const openOrPrint = async (what: string, url: string): Promise<void> => {
    try {
      await open(url, terminal.env);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      print(`Can't open the ${what} from here (${reason}): ${url}`);
    }
  };

  const openConsole = (session: DevSession): void => {
    const url = session.consoleUrl();
    if (url === undefined && hasRun) print("This build of Seamline has no console.");
    else if (url === undefined) print("There is no console yet: nothing runs.");
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

  const noteRun = (session: DevSession): void => {
    const nodes = session.nodes();
    hasRun ||=
      nodes.length === 0
        ? session.procedures().length > 0
        : nodes.some((node) => node.state === "ready");
  };

  let unsubscribe: (() => void) | undefined;
  return {
    log,
    start(session, { ms }) {
      keyboard = readKeys(terminal.stdin, (key) => press(session, key));
      print(overview(session, { root, version, ms, paint, keys: keyboard !== undefined }));
      // Subscribing replays earlier events, but the overview already shows the ready nodes.
      let isSubscribed = false;
      unsubscribe = session.on((event) => {
        noteRun(session);
        if (isSubscribed || event.kind !== "node" || event.state !== "ready") printEvent(event);
      });
      isSubscribed = true;
    },
    close() {
      unsubscribe?.();
      keyboard?.close();
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
