// The terminal that commands read from and write to.

import type { TextOutput } from "./paint.ts";

/** The part of `process` that commands use. */
export interface Terminal {
  readonly stdout: TerminalOutput;
  readonly stderr: TerminalOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The source of keys. */
  readonly stdin?: TerminalInput;
}

export interface TerminalOutput extends TextOutput {
  /** Only a terminal has a width. */
  readonly columns?: number;
}

export interface TerminalInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
}
