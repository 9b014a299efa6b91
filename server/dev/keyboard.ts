// Reads single keys, decoded by Node's readline.

import { emitKeypressEvents } from "node:readline";
import type { TerminalInput } from "../base/terminal.ts";

export interface Key {
  /** `return`, `up`, `a`. Absent for characters without a key name. */
  readonly name?: string | undefined;
  readonly ctrl: boolean;
  /** The typed character; empty for keys such as `up`. */
  readonly text: string;
}

export interface Keyboard {
  /** Lets the terminal edit lines again, until {@link Keyboard.resume}. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Passes every key to `press`. Returns `undefined` without a keyboard, such as in a pipe. */
export function readKeys(
  input: TerminalInput | undefined,
  press: (key: Key) => void,
): Keyboard | undefined {
  if (input?.isTTY !== true || input.setRawMode === undefined) return undefined;
  const listener = (
    text: string | undefined,
    { name, ctrl = false, meta = false }: { name?: string; ctrl?: boolean; meta?: boolean },
  ): void => press({ name, ctrl, text: ctrl || meta ? "" : (text ?? "") });
  const resume = (): void => {
    input.setRawMode?.(true);
    input.resume();
  };
  const pause = (): void => {
    input.setRawMode?.(false);
    input.pause();
  };
  emitKeypressEvents(input);
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
