// The terminal of a development session, for a person: what happens goes up, what is asked stands at the bottom.

import type { Terminal } from "../../cli/terminal.ts";
import type { Log } from "../../../src/ports.ts";
import { formatProblem } from "../../../src/problem.ts";
import type { DevSession } from "../session.ts";
import { type Act, callDialog, type Dialog, killDialog, moveDialog } from "./dialogs.ts";
import { eventLines } from "./event-lines.ts";
import { failureLines, reasonOf } from "./failure-lines.ts";
import { firstScreen, helpLines } from "./first-screen.ts";
import { type Key, type Keyboard, readKeys } from "./keyboard.ts";
import { openPage } from "./open-page.ts";
import type { Prompt } from "./prompts.ts";
import { createScreen } from "./screen.ts";

/** What shows a session, in words or as JSON. */
export interface Shows {
  /** Where the lines of the session go, from before it is there. */
  readonly log: Log;
  /** Shows a session that has started, and what happens in it. */
  start(session: DevSession, ready: { readonly ms: number }): void;
  /** Says that it ends, and gives the terminal back. */
  close(): void;
}

export interface ShowOptions {
  readonly root: string;
  readonly version: string;
  /** The person wants to stop: `q`, Ctrl-C. */
  readonly stop: () => void;
  readonly open?: typeof openPage;
}

/** Shows a session to a person. Keys work where there is a keyboard. */
export function showInTerminal(terminal: Terminal, options: ShowOptions): Shows {
  const { root, version, stop, open = openPage } = options;
  const screen = createScreen(terminal);
  const { colours, paint, print } = screen;
  const context = {
    root,
    paint,
    get width() {
      return screen.width();
    },
    hasRun: () => hasRun,
  };
  let hasRun = false;
  const warned = new Set<string>();
  let keyboard: Keyboard | undefined;
  let unsubscribe: (() => void) | undefined;
  let asking: Asking | undefined;

  const log: Log = {
    info: (line) => print(line),
    warn: (line) => print(`${paint("yellow", "warning:")} ${line}`),
    error(line, cause) {
      if (cause === undefined) print(`${paint("red", "error:")} ${line}`);
      else print(failureLines(cause, { root, paint, head: `error: ${line}` }).text);
    },
  };

  const draw = (): void => screen.ask(asking?.prompt.draw(screen.width(), paint));
  const answered = (answer: unknown): void => {
    const former = asking;
    asking = undefined;
    draw();
    former?.answer(answer);
  };
  const ask: Dialog["ask"] = async (prompt) =>
    await new Promise((resolve) => {
      asking = { prompt, answer: resolve as (answer: unknown) => void };
      draw();
      for (const key of early.splice(0)) pressInDialog(key);
    });

  // Between two questions of one dialog a turn of the event loop may bring more keys: a paste comes all at once.
  const early: Key[] = [];
  let inDialog = false;
  function pressInDialog(key: Key): void {
    if (asking === undefined) return void early.push(key);
    if (key.name === "escape") return answered(undefined);
    const done = asking.prompt.press(key);
    if (done === undefined) draw();
    else answered(done.answer);
  }
  async function converse(
    dialog: (dialog: Dialog) => Promise<Act | undefined>,
    session: DevSession,
  ): Promise<void> {
    try {
      inDialog = true;
      const act = await dialog({ session, ask, print, paint, colours, root, answers });
      inDialog = false;
      // What was pasted behind the last answer is no command.
      early.length = 0;
      await act?.();
    } catch (error) {
      inDialog = false;
      log.error("that didn't work", error);
    }
  }

  const dialogs: ReadonlyMap<string, (dialog: Dialog) => Promise<Act | undefined>> = new Map([
    ["c", callDialog],
    ["k", killDialog],
    ["m", moveDialog],
  ]);
  const answers = new Map<string, string>();
  const press = (session: DevSession, key: Key): void => {
    if (key.ctrl && key.name === "c") return stop();
    if (key.ctrl && key.name === "z") return suspend();
    if (inDialog) return pressInDialog(key);
    const dialog = dialogs.get(key.text);
    if (dialog !== undefined) void converse(dialog, session);
    else if (key.text === "o") void openPolitely(session.url);
    else if (key.text === "h" || key.text === "?") print(helpLines(session, paint));
    else if (key.text === "q" || (key.ctrl && key.name === "d")) stop();
  };

  async function openPolitely(url: string): Promise<void> {
    try {
      await open(url, terminal.env);
    } catch (error) {
      print(`The page can't be opened from here (${reasonOf(error)}): ${url}`);
    }
  }

  // A shell's Ctrl-Z: the shell wants its terminal as it was, and the keys come back with `fg`.
  function suspend(): void {
    if (process.platform === "win32") return;
    screen.ask(undefined);
    keyboard?.pause();
    process.once("SIGCONT", () => {
      keyboard?.resume();
      draw();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  return {
    log,
    start(session, { ms }) {
      keyboard = readKeys(terminal.stdin, (key) => press(session, key));
      print(
        firstScreen(session, {
          root,
          version,
          ms,
          width: screen.width(),
          paint,
          keys: keyboard !== undefined,
        }),
      );
      // What came before anybody listened comes now, and that nodes are ready has just been said.
      let isNow = false;
      unsubscribe = session.on((event) => {
        const nodes = session.nodes();
        hasRun ||=
          nodes.length === 0
            ? session.procedures().length > 0
            : nodes.some((node) => node.state === "ready");
        if (!isNow && event.kind === "node" && event.state === "ready") return;
        if (event.kind === "warning") {
          const known = formatProblem(event.problem);
          if (warned.has(known)) return;
          warned.add(known);
        }
        for (const { text, same } of eventLines(event, context)) print(text, same);
      });
      isNow = true;
    },
    close() {
      unsubscribe?.();
      keyboard?.close();
      asking?.answer(undefined);
      asking = undefined;
      screen.close();
    },
  };
}

interface Asking {
  readonly prompt: Prompt<unknown>;
  readonly answer: (answer: unknown) => void;
}
