// Problems in an application's files, with the lines of source around them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatProblem, type Problem } from "../../../src/base/problem.ts";
import { frameOf } from "../../../src/split/read/code-frame.ts";
import { count, firstColumns, type Paint, widthOf } from "./text.ts";

/** One broken file may cause hundreds, and the first ones need fixing first. */
const maxProblems = 8;

/** A text for each problem as builds print it, plus a source frame if the build has none. */
export function problemLines(
  problems: readonly Problem[],
  { root, width, paint }: { root: string; width: number; paint: Paint },
): readonly string[] {
  const shown = problems.slice(0, maxProblems).map((problem) => {
    const frame = problem.frame ?? frameFrom(root, problem);
    const [head = "", ...rest] = formatProblem(
      frame === undefined ? problem : { ...problem, frame: fitFrame(frame, width) },
    ).split("\n");
    return [
      head,
      ...rest.map((line) =>
        line.startsWith("> ") || line.startsWith("  →") ? line : paint("dim", line),
      ),
    ].join("\n");
  });
  return problems.length > shown.length
    ? [...shown, count(problems.length - shown.length, "more problem")]
    : shown;
}

/** Reads the current file: the problem was found a moment ago. */
function frameFrom(root: string, { file, line, column }: Problem): string | undefined {
  if (line === undefined) return undefined;
  try {
    return frameOf(readFileSync(join(root, file), "utf8"), line, column ?? 1);
  } catch {
    // Not a file, or gone. The text still has the position.
    return undefined;
  }
}

/** Shortens lines that are wider than the terminal, far from the marker. */
export function fitFrame(frame: string, width: number): string {
  const lines = frame.split("\n");
  if (lines.every((line) => widthOf(line) < width)) return frame;
  const marker = lines.find((line) => /\|\s*\^$/.test(line)) ?? "";
  const edge = marker.indexOf("| ") + 2;
  const room = width - edge - 2;
  // Centre the marker unless the line's beginning fits.
  const from = marker.length - edge < room ? 0 : marker.length - edge - Math.floor(room / 2);
  return lines
    .map((line) => {
      const text = line.slice(edge + from);
      const cut = widthOf(text) > room ? `${firstColumns(text, room)}…` : text;
      return `${line.slice(0, edge)}${from > 0 && cut !== "" && line !== marker ? "…" : from > 0 ? " " : ""}${cut}`.trimEnd();
    })
    .join("\n");
}
