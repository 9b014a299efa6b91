// Writes lines to the terminal. Repeated lines are counted instead of printed again.

import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "../../base/terminal.ts";
import { wantsColour } from "../../base/paint.ts";
import { count, createPaint, type Paint, widthOf } from "./text.ts";

export interface Screen {
  /** Columns to write in; 80 if the terminal doesn't say. */
  readonly width: () => number;
  readonly paint: Paint;
  /** Writes lines. Lines with an equal `same` [the text] count as repeats. */
  print(text: string, same?: string): void;
  /** Writes pending counts and restores the streams. */
  close(): void;
}

type Stream = Terminal["stdout"];
type Printer = Pick<Screen, "print" | "close">;

export function createScreen(terminal: Terminal): Screen {
  const { stdout } = terminal;
  const hasColours = wantsColour(stdout, terminal.env);
  const paint = createPaint(hasColours);
  const width = (): number => Math.max(20, sizeOf(stdout.columns, 80));
  const { print, close } =
    stdout.isTTY === true ? printToTerminal(terminal, width, paint) : printToPipe(stdout);
  return {
    width,
    paint,
    close,
    // Messages from elsewhere, such as Vite's compiler, have colours.
    print: hasColours ? print : (text, same) => print(stripVTControlCharacters(text), same),
  };
}

/** Some terminals report a width of 0. */
function sizeOf(size: number | undefined, fallback: number): number {
  return size === undefined || size === 0 ? fallback : size;
}

/** A pipe can't be rewritten, so the count comes before the next different line. */
function printToPipe(stdout: Stream): Printer {
  let last: string | undefined;
  let repeats = 0;
  const writeCount = (): void => {
    if (repeats > 0)
      stdout.write(`  (and the same ${repeats === 1 ? "once" : count(repeats, "time")} more)\n`);
    repeats = 0;
  };
  return {
    print(text, same = text) {
      if (same === last) return void repeats++;
      writeCount();
      last = same;
      stdout.write(`${text}\n`);
    },
    close: writeCount,
  };
}

/** Moves up to the first column, and erases everything below. */
const eraseRows = (rows: number): string => `\u001B[${rows}A\r\u001B[J`;

/** Rewrites a repeated line with its count, unless something else was printed in between. */
function printToTerminal(terminal: Terminal, width: () => number, paint: Paint): Printer {
  const { stdout } = terminal;
  const streams = [...new Set([stdout, terminal.stderr])].filter(({ isTTY }) => isTTY === true);
  let last: { same: string; rows: number; times: number } | undefined;
  let isAtLineStart = true;

  const originals = streams.map((stream) => {
    const { write } = stream;
    stream.write = (...data: Parameters<Stream["write"]>) => {
      last = undefined;
      isAtLineStart = endsLine(data[0], isAtLineStart);
      return write.apply(stream, data);
    };
    return write;
  });

  return {
    print(text, same = text) {
      const times = last?.same === same ? last.times + 1 : 1;
      const lines = times === 1 ? text : withCount(text, paint("dim", `×${times}`));
      // Lines that have scrolled away can't be erased.
      const isOnScreen = last !== undefined && last.rows + 1 < sizeOf(stdout.rows, 24);
      const erase = times > 1 && last !== undefined && isOnScreen ? eraseRows(last.rows) : "";
      originals[0]?.call(stdout, `${isAtLineStart ? "" : "\n"}${erase}${lines}\n`);
      isAtLineStart = true;
      last = { same, rows: rowsOf(lines, width()), times };
    },
    close() {
      for (const [index, stream] of streams.entries()) stream.write = originals[index]!;
    },
  };
}

function endsLine(data: unknown, wasAtStart: boolean): boolean {
  if (typeof data === "string") return data === "" ? wasAtStart : data.endsWith("\n");
  return data instanceof Uint8Array ? (data.length === 0 ? wasAtStart : data.at(-1) === 10) : false;
}

/** Appends the count to the first line, so that the lines below keep their columns. */
function withCount(text: string, times: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? `${text} ${times}` : `${text.slice(0, end)} ${times}${text.slice(end)}`;
}

function rowsOf(text: string, width: number): number {
  return text
    .split("\n")
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
}
