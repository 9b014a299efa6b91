// Who writes to the terminal: lines above, and at the bottom what is being asked. Nothing that arrives meanwhile is lost or torn.

import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "../../cli/terminal.ts";
import { wantsColour } from "../../log.ts";
import { count, createPaint, type Paint, widthOf } from "./text.ts";

/** The bottom of the screen: lines that fit the width, and where among them the cursor stands. */
export interface Bottom {
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export interface Screen {
  /** Columns to write in; 80 where nobody says. */
  readonly width: () => number;
  readonly colours: boolean;
  readonly paint: Paint;
  /** Writes lines. One that comes again right after itself is counted; `same` says what counts as itself [the text]. */
  print(text: string, same?: string): void;
  /** Draws the bottom anew, or takes it away. At a terminal only. */
  ask(bottom: Bottom | undefined): void;
  /** Tells what was only counted, and gives the streams back. */
  close(): void;
}

type Output = Terminal["stdout"];
type Write = Output["write"];

/** Takes over `stdout` and `stderr` where they are a terminal: what the application itself prints goes past the bottom too. */
export function createScreen(terminal: Terminal): Screen {
  const { stdout } = terminal;
  const colours = wantsColour(stdout, terminal.env);
  const looks = {
    colours,
    paint: createPaint(colours),
    width: () => Math.max(20, sizeOf(stdout.columns, 80)),
  };
  const writes = stdout.isTTY === true ? onTerminal(terminal, looks) : onPipe(stdout);
  if (colours) return { ...looks, ...writes };
  // Messages of others, Vite's compiler for one, bring colours of their own.
  return {
    ...looks,
    ...writes,
    print: (text, same) => writes.print(stripVTControlCharacters(text), same),
  };
}

// A terminal that nobody has told its size says 0.
function sizeOf(given: number | undefined, usual: number): number {
  return given === undefined || given === 0 ? usual : given;
}

type Writes = Pick<Screen, "print" | "ask" | "close">;

function onPipe(stdout: Output): Writes {
  let last: string | undefined;
  let again = 0;
  // What is written can't be taken back here, so the count comes when something else does.
  const tell = (): void => {
    if (again > 0)
      stdout.write(`  (and the same ${again === 1 ? "once" : count(again, "time")} more)\n`);
    again = 0;
  };
  return {
    print(text, same = text) {
      if (same === last) return void again++;
      tell();
      last = same;
      stdout.write(`${text}\n`);
    },
    ask() {},
    close: tell,
  };
}

const up = (rows: number): string => (rows > 0 ? `\u001B[${rows}A` : "");
// To the first column, and all from there to the end of the screen.
const clear = "\r\u001B[J";

function onTerminal(terminal: Terminal, { paint, width }: Pick<Screen, "paint" | "width">): Writes {
  const { stdout } = terminal;
  const taken = [...new Set([terminal.stdout, terminal.stderr])].filter(
    (stream) => stream.isTTY === true,
  );
  const originals = taken.map((stream) => stream.write);
  const write = (text: string): void => void originals[0]?.call(stdout, text);
  let bottom: Bottom | undefined;
  let last: { same: string; rows: number; times: number } | undefined;
  let atLineStart = true;

  const erase = (): void => {
    if (bottom !== undefined) write(up(bottom.cursor.row) + clear);
  };
  const draw = (): void => {
    if (bottom === undefined) return;
    const { lines, cursor } = bottom;
    const right = cursor.column > 0 ? `\u001B[${cursor.column}C` : "";
    write(`${lines.join("\n")}${up(lines.length - 1 - cursor.row)}\r${right}`);
  };
  /** Writes something that ends where it likes, with the bottom out of its way. */
  const above = (text: unknown, put: () => unknown): unknown => {
    erase();
    const result = put();
    atLineStart = endsLine(text, atLineStart);
    if (bottom !== undefined && !atLineStart) {
      write("\n");
      atLineStart = true;
    }
    draw();
    return result;
  };

  taken.forEach((stream, index) => {
    const original = originals[index] ?? stream.write;
    stream.write = (...given: Parameters<Write>) => {
      // Its line is the last one now, so there is nothing to count on.
      last = undefined;
      return above(given[0], () => original.apply(stream, given));
    };
  });
  const resized = (): void => {
    erase();
    draw();
  };
  stdout.on?.("resize", resized);

  return {
    print(text, same = text) {
      const times = last?.same === same ? last.times + 1 : 1;
      const shown = times === 1 ? text : withCount(text, paint("dim", `×${times}`));
      const rows = rowsOf(shown, width());
      // Lines that have left the screen can't be taken back.
      const back =
        times > 1 &&
        last !== undefined &&
        last.rows + (bottom?.lines.length ?? 1) < sizeOf(stdout.rows, 24)
          ? last.rows
          : 0;
      const start = atLineStart ? "" : "\n";
      above("\n", () => write(`${start}${back > 0 ? up(back) + clear : ""}${shown}\n`));
      last = { same, rows, times };
    },
    ask(next) {
      erase();
      if (bottom === undefined && next !== undefined && !atLineStart) {
        write("\n");
        atLineStart = true;
      }
      bottom = next;
      draw();
    },
    close() {
      erase();
      bottom = undefined;
      taken.forEach((stream, index) => (stream.write = originals[index] as Write));
      stdout.off?.("resize", resized);
    },
  };
}

function endsLine(text: unknown, before: boolean): boolean {
  if (typeof text === "string") return text === "" ? before : text.endsWith("\n");
  return text instanceof Uint8Array ? (text.length === 0 ? before : text.at(-1) === 10) : before;
}

/** Behind the first line: a problem's frame stays in its place. */
function withCount(text: string, times: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? `${text} ${times}` : `${text.slice(0, end)} ${times}${text.slice(end)}`;
}

function rowsOf(text: string, width: number): number {
  return text
    .split("\n")
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
}
