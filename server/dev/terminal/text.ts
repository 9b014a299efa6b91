// Text that fits a terminal: widths, lists, tables.

import widthWithin from "fast-string-truncated-width";

import { thousands } from "../../base/paint.ts";

export { count, createPaint, thousands, type Paint } from "../../base/paint.ts";

/** Columns that a text takes, without escape sequences. */
export function widthOf(text: string): number {
  return widthWithin(text).width;
}

/** Shortens a plain text to `columns` by cutting its middle, since names differ at their ends. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 2) return "…".slice(0, Math.max(0, columns));
  const end = lastColumns(text, Math.floor((columns - 1) / 2));
  return `${firstColumns(text, columns - 1 - widthOf(end))}…${end}`;
}

/** As much of the beginning as fits in `columns`. */
export function firstColumns(text: string, columns: number): string {
  return text.slice(0, widthWithin(text, { limit: columns }).index);
}

function lastColumns(text: string, columns: number): string {
  const letters = lettersOf(text);
  let taken = 0;
  let from = letters.length;
  while (from > 0 && taken + widthOf(letters[from - 1] ?? "") <= columns)
    taken += widthOf(letters[--from] ?? "");
  return letters.slice(from).join("");
}

const segmenter = new Intl.Segmenter();

/** Splits into graphemes, each of which a reader sees as one letter. */
function lettersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Pads with spaces to `columns`, on the right or the left. */
export function pad(text: string, columns: number, side: "left" | "right" = "right"): string {
  const blanks = " ".repeat(Math.max(0, columns - widthOf(text)));
  return side === "right" ? text + blanks : blanks + text;
}

/** `a`, `a and b`, `a, b and c`. */
export function join(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** As many names as fit in `columns`, and how many more there are: `a, b and 12 more`. */
export function some(names: readonly string[], columns: number): string {
  const all = names.join(", ");
  if (widthOf(all) <= columns) return all;
  const rest = (shown: number): string => ` and ${thousands(names.length - shown)} more`;
  let text = "";
  let shown = 0;
  for (const name of names) {
    const next = text === "" ? name : `${text}, ${name}`;
    if (widthOf(next + rest(shown + 1)) > columns) break;
    text = next;
    shown++;
  }
  if (shown > 0) return text + rest(shown);
  const first = names[0] ?? "";
  return names.length === 1
    ? fit(first, columns)
    : fit(first, Math.max(8, columns - rest(1).length)) + rest(1);
}
