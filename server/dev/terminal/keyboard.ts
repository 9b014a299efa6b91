// Keys as they are pressed, decoded by Node's own readline.

import { emitKeypressEvents, type Interface } from "node:readline";
import type { Input } from "../../cli/terminal.ts";

export interface Key {
  /** `return`, `up`, `a`; a letter with its modifiers apart. Absent for a character that no key has a name for. */
  readonly name?: string | undefined;
  readonly ctrl: boolean;
  readonly meta: boolean;
  /** What it writes, if it does. */
  readonly text: string;
}

// Control characters, among them the escape that function keys begin with.
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

// After so many ms an escape is the key, and not the beginning of another one's sequence. Node waits half a second, which feels like a
// key that doesn't work. Of an interface, nothing else is read.
const timing = { escapeCodeTimeout: 50 };

export interface Keyboard {
  /** Gives the terminal back its own way with lines, until {@link Keyboard.resume}. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Hands every key to `press`. `undefined` where there is no keyboard: in a pipe, or in the background of a script. */
export function readKeys(
  input: Input | undefined,
  press: (key: Key) => void,
): Keyboard | undefined {
  if (input?.isTTY !== true || input.setRawMode === undefined) return undefined;
  const listener = (
    text: string | undefined,
    key: { name?: string; ctrl?: boolean; meta?: boolean },
  ): void => {
    const written =
      text === undefined || control.test(text) || key.ctrl === true || key.meta === true
        ? ""
        : text;
    press({ name: key.name, ctrl: key.ctrl === true, meta: key.meta === true, text: written });
  };
  const resume = (): void => {
    input.setRawMode?.(true);
    input.resume();
  };
  const pause = (): void => {
    input.setRawMode?.(false);
    input.pause();
  };
  emitKeypressEvents(input, timing as unknown as Interface);
  input.on("keypress", listener);
  resume();
  return {
    pause,
    resume,
    close() {
      input.off("keypress", listener);
      pause();
    },
  };
}
