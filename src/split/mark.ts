// Places in a source, as people read them: line, column, and the lines around.

import type { Problem } from "../problem.ts";
import type { ParseError } from "./tree.ts";

export interface Source {
  /** As problems and maps name it. */
  readonly file: string;
  readonly source: string;
}

/** One-based line and column of an offset. */
export function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** A problem at an offset, with its code frame. */
export function problemAt(
  { file, source }: Source,
  offset: number,
  message: string,
  hint?: string,
): Problem {
  const { line, column } = placeOf(source, offset);
  return {
    file,
    line,
    column,
    message,
    ...(hint === undefined ? {} : { hint }),
    frame: frameOf(source, line, column),
  };
}

/** What the parser could not read, as problems. */
export function parseProblems(source: Source, errors: readonly ParseError[]): Problem[] {
  return errors.map((error) => problemAt(source, error.labels?.[0]?.start ?? 0, error.message));
}

/** The lines of a source around a place, with a marker below the place. */
export function frameOf(source: string, line: number, column: number): string {
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const shown: string[] = [];
  for (let at = Math.max(1, line - 2); at <= last; at++) {
    const text = lines[at - 1] ?? "";
    shown.push(`${at === line ? ">" : " "} ${String(at).padStart(width)} | ${text}`.trimEnd());
    // Tabs stay tabs, or the marker would stand under another letter.
    if (at === line)
      shown.push(`  ${" ".repeat(width)} | ${text.slice(0, column - 1).replace(/[^\t]/g, " ")}^`);
  }
  return shown.join("\n");
}
