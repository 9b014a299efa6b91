// The texts that a type takes. Each test takes linear time for any text.

import { parsedUrl } from "../../src/base/url.ts";
import type { TextFormat, TextRules, Type } from "./model.ts";

/** The rule that a text breaks, in the words of "expected …"; `undefined` if it breaks none. */
export function brokenRule(rules: TextRules, text: string): string | undefined {
  const { minLength = 0, maxLength = Infinity, format, pattern } = rules;
  // A text has at least half as many code points as it has units, so most texts aren't counted.
  const isCounted = (minLength > 0 && text.length < 2 * minLength) || text.length > maxLength;
  const length = isCounted ? codePoints(text) : text.length;
  if (length < minLength) return `at least ${characters(minLength)}`;
  if (length > maxLength) return `at most ${characters(maxLength)}`;
  if (rules.case !== undefined && !caseTests[rules.case](text)) return caseNames[rules.case];
  if (format !== undefined && !formats[format](text)) return formatNames[format];
  if (pattern !== undefined && !regExp(pattern).test(text)) return `a text that matches ${pattern}`;
  return undefined;
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++)
    if (isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))) count--;
  return count;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

const patterns = new Map<string, RegExp>();

function regExp(source: string): RegExp {
  const known = patterns.get(source) ?? new RegExp(source, "u");
  patterns.set(source, known);
  return known;
}

const caseTests: Readonly<Record<NonNullable<TextRules["case"]>, (text: string) => boolean>> = {
  upper: (text) => text === text.toUpperCase(),
  lower: (text) => text === text.toLowerCase(),
  capitalized: (text) => text.charAt(0) === text.charAt(0).toUpperCase(),
  uncapitalized: (text) => text.charAt(0) === text.charAt(0).toLowerCase(),
};

const caseNames: Readonly<Record<NonNullable<TextRules["case"]>, string>> = {
  upper: "text in upper case",
  lower: "text in lower case",
  capitalized: "text that begins in upper case",
  uncapitalized: "text that begins in lower case",
};

const formatNames: Readonly<Record<TextFormat, string>> = {
  date: "a date (YYYY-MM-DD)",
  "date-time": "a date and time (RFC 3339)",
  email: "an email address",
  uri: "a URL",
  uuid: "a UUID",
};

const formats: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  date: (text) => text.length === 10 && dateOf(text) !== undefined,
  "date-time": (text) => text.includes("T") && dateOf(text) !== undefined,
  // The form that browsers check (HTML, "valid email address"), within the lengths of RFC 5321.
  email: (text) =>
    text.length <= 254 &&
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i.test(
      text,
    ),
  uri: (text) => parsedUrl(text) !== undefined,
  uuid: (text) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text),
};

/** ISO 8601 with a zone, or a date alone, which is midnight UTC. Other forms differ by engine or place. */
export function dateOf(text: string): Date | undefined {
  const parts =
    text.length > 40
      ? null
      : /^(?:\d{4}|[+-]\d{6})-\d\d-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(
          text,
        );
  if (parts === null) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return undefined;
  // Engines turn 30 February into a day in March.
  const day = new Date(
    `${text.slice(0, text.indexOf("T") < 0 ? undefined : text.indexOf("T"))}T00:00:00Z`,
  );
  return day.getUTCDate() === Number(parts[1]) ? date : undefined;
}

/** How many digits a whole number has; `undefined` for any other text. */
export function digitsOf(text: string): number | undefined {
  return /^-?\d+$/.test(text) ? text.length - (text.startsWith("-") ? 1 : 0) : undefined;
}

/**
 * Whether a text is one of a template. As in the compiler, a hole takes as little as possible up to the
 * next text, and one before another hole takes one character: no backtracking.
 */
export function fitsTemplate(parts: readonly (string | Type)[], text: string): boolean {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (let index = 1; index < parts.length; index += 2) {
    const hole = parts[index] as Type;
    const next = parts[index + 1] as string;
    let stop = end;
    if (index + 2 < parts.length) {
      // An empty text between two holes: the first one takes a character.
      stop = next === "" ? at + 1 : text.indexOf(next, at);
      if (stop < 0 || stop + next.length > end) return false;
    }
    if (!fitsHole(hole, text.slice(at, stop))) return false;
    at = stop + next.length;
  }
  return true;
}

function fitsHole(hole: Type, text: string): boolean {
  switch (hole.kind) {
    case "string":
      return brokenRule(hole, text) === undefined;
    case "number":
      return text !== "" && text.trim() === text && Number.isFinite(Number(text));
    case "bigint":
      return /^-?(?:0|[1-9]\d*)$/.test(text);
    case "template":
      return fitsTemplate(hole.parts, text) && brokenRule(hole, text) === undefined;
    case "unknown":
      return true;
    default:
      return false;
  }
}

/** Whether an index signature takes a key. */
export function takesKey(keys: Type, key: string): boolean {
  switch (keys.kind) {
    case "string":
      return brokenRule(keys, key) === undefined;
    case "number":
      return String(Number(key)) === key;
    case "template":
      return fitsTemplate(keys.parts, key) && brokenRule(keys, key) === undefined;
    default:
      return false;
  }
}
