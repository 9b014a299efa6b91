// Positions in a source as people read them: line, column, and the lines around.

import type { Problem } from "../../base/problem.ts";
import type { ParseError } from "./tree.ts";

export interface SourceText {
  /** The name of the source in problems and source maps. */
  readonly file: string;
  readonly source: string;
}

const lineBreak = /\r\n|[\n\r\u2028\u2029]/;

/** One-based line and column of an offset. */
export function positionOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset).split(lineBreak);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** A problem at an offset, with its code frame. */
export function problemAt(
  { file, source }: SourceText,
  offset: number,
  message: string,
  hint?: string,
): Problem {
  const { line, column } = positionOf(source, offset);
  return {
    file,
    line,
    column,
    message,
    ...(hint === undefined ? {} : { hint }),
    frame: frameOf(source, line, column),
  };
}

/** Syntax errors as problems. */
export function parseProblems(source: SourceText, errors: readonly ParseError[]): Problem[] {
  return errors.map(({ labels, message }) => problemAt(source, labels?.[0]?.start ?? 0, message));
}

/** The lines around a position, with a marker below it. */
export function frameOf(source: string, line: number, column: number): string {
  const lines = source.split(lineBreak);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = Math.max(1, line - 2); number <= last; number++) {
    const text = lines[number - 1] ?? "";
    const marker = number === line ? ">" : " ";
    frame.push(`${marker} ${String(number).padStart(width)} | ${text}`.trimEnd());
    // Tabs stay tabs, or the marker would end up below another character.
    if (number === line)
      frame.push(`  ${" ".repeat(width)} | ${text.slice(0, column - 1).replace(/[^\t]/g, " ")}^`);
  }
  return frame.join("\n");
}
