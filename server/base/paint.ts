// Colours and plurals in the lines that people read at a terminal.

import { styleText } from "node:util";

/** An output for lines. */
export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Bytes that wait for the reader. */
  readonly writableLength?: number;
  once?(event: "drain", act: () => void): unknown;
}

/** Whether `output` is a terminal whose user wants colours (https://no-color.org). */
export function wantsColour(
  output: TextOutput,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return output.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** Colours a text, or returns it as it is when colours are off. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

// styleText would check the process's streams, not this output.
export function createPaint(colours: boolean): Paint {
  return (format, text) => (colours ? styleText(format, text, { validateStream: false }) : text);
}

/** `2,000`. Without `toLocaleString`, whose first call takes 20 ms. */
export function thousands(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `3 nodes`, `1 node`, `2,000 procedures`. */
export function count(number: number, noun: string): string {
  return `${thousands(number)} ${noun}${number === 1 ? "" : "s"}`;
}
