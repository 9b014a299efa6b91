// Two ways to ask: for a text, with what it may become below it, and for one of several things by number. Neither reads nor writes:
// a prompt takes keys and says what it looks like.

import type { Key } from "./keyboard.ts";
import type { Bottom } from "./screen.ts";
import { firstColumns, fit, lettersOf, type Paint, widthOf } from "./text.ts";

export interface Prompt<T> {
  draw(width: number, paint: Paint): Bottom;
  /** Gives the answer with the key that completes it. */
  press(key: Key): { readonly answer: T } | undefined;
}

export interface TextQuestion<T> {
  readonly question: string;
  /** Dim behind the question. */
  readonly note?: string;
  readonly initial?: string;
  /** What the text may become, the best first. */
  readonly suggest?: (text: string) => readonly string[];
  readonly read: (text: string) => { readonly value: T } | { readonly wrong: string };
}

// Rows below a question. A terminal that someone splits has hardly twenty.
const mostRows = 8;

/** Asks for a text. Tab completes, arrows choose among what is suggested, Enter answers. */
export function askText<T>({
  question,
  note,
  initial = "",
  suggest = () => [],
  read,
}: TextQuestion<T>): Prompt<T> {
  let letters = lettersOf(initial);
  let at = letters.length;
  let chosen = 0;
  let wrong: string | undefined;
  const text = (): string => letters.join("");
  const set = (next: string): void => {
    letters = lettersOf(next);
    at = letters.length;
  };
  return {
    draw(width, paint) {
      const behind = note === undefined ? "" : ` ${note}`;
      const head = fit(`${question}${behind}`, Math.max(8, width - 20));
      const room = width - widthOf(head) - 3;
      const { shown, column } = windowAround(letters, at, room);
      const first = `${paint("cyan", head.slice(0, question.length))}${paint("dim", head.slice(question.length))}: ${shown}`;
      const found = suggest(text());
      const rows =
        found.length === 0 ? [] : listed(found, Math.min(chosen, found.length - 1), width, paint);
      if (wrong !== undefined) rows.unshift(paint("red", fit(`  ${wrong}`, width - 1)));
      return { lines: [first, ...rows], cursor: { row: 0, column: widthOf(head) + 2 + column } };
    },
    press(key) {
      wrong = undefined;
      const found = suggest(text());
      if (key.name === "up" || key.name === "down") {
        const step = key.name === "up" ? -1 : 1;
        chosen =
          found.length === 0
            ? 0
            : (Math.min(chosen, found.length - 1) + step + found.length) % found.length;
        return undefined;
      }
      if (key.name === "return" || key.name === "enter") {
        const given =
          found.length === 0 || found.includes(text())
            ? text()
            : (found[Math.min(chosen, found.length - 1)] ?? text());
        const result = read(given);
        if ("value" in result) return { answer: result.value };
        ({ wrong } = result);
        return undefined;
      }
      if (key.name === "tab") {
        const common = commonStart(found);
        if (found.length > 0)
          set(
            common.length > text().length
              ? common
              : (found[Math.min(chosen, found.length - 1)] ?? text()),
          );
      } else [letters, at] = edit(letters, at, key);
      chosen = 0;
      return undefined;
    },
  };
}

/** Asks for one of several things: its number, or arrows and Enter. */
export function askChoice<T>(
  question: string,
  choices: readonly { readonly label: string; readonly value: T }[],
): Prompt<T> {
  let chosen = 0;
  let digits = "";
  const answer = (index: number): { answer: T } | undefined => {
    const choice = choices[index];
    return choice === undefined ? undefined : { answer: choice.value };
  };
  return {
    draw(width, paint) {
      const labels = choices.map(
        ({ label }, index) =>
          `${String(index + 1).padStart(String(choices.length).length)}  ${label}`,
      );
      const head = fit(question, width - 12);
      const first = `${paint("cyan", head)}: ${digits}`;
      return {
        lines: [first, ...listed(labels, chosen, width, paint)],
        cursor: { row: 0, column: widthOf(head) + 2 + digits.length },
      };
    },
    press(key) {
      if (key.name === "up" || key.name === "down") {
        digits = "";
        chosen = (chosen + (key.name === "up" ? -1 : 1) + choices.length) % choices.length;
      } else if (key.name === "return" || key.name === "enter")
        return answer(digits === "" ? chosen : Number(digits) - 1);
      else if (key.name === "backspace") digits = digits.slice(0, -1);
      else if (/^\d$/.test(key.text)) {
        const next = Number(digits + key.text);
        if (next < 1 || next > choices.length) return undefined;
        digits = String(next);
        chosen = next - 1;
        // No longer number begins with it.
        if (next * 10 > choices.length) return answer(chosen);
      }
      return undefined;
    },
  };
}

/** The rows around the chosen one, and how many there are above and below. */
function listed(items: readonly string[], chosen: number, width: number, paint: Paint): string[] {
  const from = Math.max(0, Math.min(chosen - Math.floor(mostRows / 2), items.length - mostRows));
  const rows = items.slice(from, from + mostRows).map((item, index) => {
    const row = fit(item, width - 4);
    return from + index === chosen ? `${paint("cyan", "›")} ${paint("bold", row)}` : `  ${row}`;
  });
  const hidden = items.length - rows.length;
  return hidden > 0 ? [...rows, paint("dim", `  ${hidden.toLocaleString("en")} more`)] : rows;
}

/** Letters and keys as in a shell: what does not belong to it changes nothing. */
function edit(letters: readonly string[], at: number, key: Key): [string[], number] {
  const before = letters.slice(0, at);
  const after = letters.slice(at);
  const name = key.ctrl ? `ctrl-${key.name}` : (key.name ?? "");
  switch (name) {
    case "left":
    case "ctrl-b":
      return [[...letters], Math.max(0, at - 1)];
    case "right":
    case "ctrl-f":
      return [[...letters], Math.min(letters.length, at + 1)];
    case "home":
    case "ctrl-a":
      return [[...letters], 0];
    case "end":
    case "ctrl-e":
      return [[...letters], letters.length];
    case "backspace":
    case "ctrl-h":
      return [[...before.slice(0, -1), ...after], Math.max(0, at - 1)];
    case "delete":
      return [[...before, ...after.slice(1)], at];
    case "ctrl-u":
      return [after, 0];
    case "ctrl-k":
      return [before, at];
    case "ctrl-w": {
      const kept = lettersOf(before.join("").replace(/\S*\s*$/, ""));
      return [[...kept, ...after], kept.length];
    }
    default:
      return [[...before, ...lettersOf(key.text), ...after], at + lettersOf(key.text).length];
  }
}

/** The part of a long text that has the cursor in it. */
function windowAround(
  letters: readonly string[],
  at: number,
  room: number,
): { shown: string; column: number } {
  let from = 0;
  while (from < at && widthOf(letters.slice(from, at).join("")) >= room) from++;
  return {
    shown: firstColumns(letters.slice(from).join(""), room),
    column: widthOf(letters.slice(from, at).join("")),
  };
}

function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let end = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, end))) end--;
  return first.slice(0, end);
}
