// Reads JSON files that people write (segment files, configurations). Unlike `JSON.parse` it knows
// where each key is, and reports duplicate keys.

import type { Problem } from "./problem.ts";

/** One-based. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** A JSON file: its value, and the positions of its keys and items. */
export interface JsonText {
  readonly value: unknown;
  /** Duplicate keys, of which one would be lost silently. */
  readonly problems: readonly Problem[];
  placeOf(path: readonly (string | number)[]): SourcePosition | undefined;
}

const blanks = /[ \t\r\n]*/y;
// JSON forbids control characters in strings.
const token =
  // oxlint-disable-next-line no-control-regex
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

interface Frame {
  readonly isArray: boolean;
  readonly keys: Map<string, number>;
  /** Key or index of the next value. */
  at: string | number;
}

type Expected =
  | "a value"
  | "a value or ']'"
  | "a key"
  | "a key or '}'"
  | "':'"
  | "','"
  | "nothing more";

/**
 * Reads JSON text, with or without a byte order mark. Invalid JSON gives one problem, with
 * position.
 */
export function readJson(text: string, file: string): JsonText | { readonly broken: Problem } {
  // Editors on Windows may write a byte order mark, which JSON doesn't allow.
  const json = text.replace(/^\uFEFF/, "");
  const places = new Map<string, number>();
  const problems: Problem[] = [];
  const stack: Frame[] = [];
  let expected: Expected = "a value";
  let index = 0;
  const placeAt = (offset: number): SourcePosition => {
    const before = json.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  };
  const note = (offset: number): void => {
    // Skip deep levels: such files are flat, and the paths of deep nesting take quadratic memory.
    if (stack.length <= 4) places.set(keyOf(stack.map((frame) => frame.at)), offset);
  };
  for (;;) {
    index = skip(json, index);
    if (index === json.length && expected === "nothing more") break;
    token.lastIndex = index;
    const [word] = token.exec(json) ?? [];
    const next = word === undefined ? undefined : take(word);
    if (next === undefined)
      return { broken: brokenAt(json, index, expected, stack.at(-1), { file, ...placeAt(index) }) };
    expected = next;
    index += word?.length ?? 0;
  }
  return {
    value: JSON.parse(json) as unknown,
    problems,
    placeOf: (path) => {
      const offset = places.get(keyOf(path));
      return offset === undefined ? undefined : placeAt(offset);
    },
  };

  /** The tokens that may follow `word`; `undefined` if `word` isn't allowed here. */
  function take(word: string): Expected | undefined {
    const frame = stack.at(-1);
    if (expected === "':'") return word === ":" ? "a value" : undefined;
    if (expected === "nothing more") return undefined;
    if (word === "}" || word === "]") {
      const mayEnd =
        expected === "','" || expected === (word === "}" ? "a key or '}'" : "a value or ']'");
      if (!mayEnd || frame === undefined || frame.isArray !== (word === "]")) return undefined;
      stack.pop();
      return stack.length === 0 ? "nothing more" : "','";
    }
    if (expected === "','") {
      if (word !== "," || frame === undefined) return undefined;
      if (typeof frame.at === "number") frame.at++;
      return frame.isArray ? "a value" : "a key";
    }
    if (expected === "a key" || expected === "a key or '}'") {
      if (!word.startsWith('"') || frame === undefined) return undefined;
      const key = JSON.parse(word) as string;
      const first = frame.keys.get(key);
      frame.at = key;
      if (first === undefined) {
        frame.keys.set(key, index);
        note(index);
      } else
        problems.push({
          file,
          ...placeAt(index),
          message: `the key ${JSON.stringify(key)} is there twice, first in line ${placeAt(first).line}`,
          hint: "Only one of the two would count: bring them together.",
        });
      return "':'";
    }
    if (word === "," || word === ":") return undefined;
    if (frame?.isArray === true) note(index);
    if (word === "{" || word === "[") {
      const isArray = word === "[";
      stack.push({ isArray, keys: new Map(), at: isArray ? 0 : "" });
      return isArray ? "a value or ']'" : "a key or '}'";
    }
    return stack.length === 0 ? "nothing more" : "','";
  }
}

function skip(json: string, index: number): number {
  blanks.lastIndex = index;
  return index + (blanks.exec(json)?.[0].length ?? 0);
}

function keyOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path.map(String));
}

function brokenAt(
  json: string,
  index: number,
  expected: Expected,
  frame: Frame | undefined,
  at: Pick<Problem, "file"> & SourcePosition,
): Problem {
  const rest = json.slice(index);
  const [found] = /^(?:[\w$.+-]+|\/[/*]|["'][^\n]{0,20}|[^])/.exec(rest) ?? [];
  const options = expected === "','" ? `',' or '${frame?.isArray === true ? "]" : "}"}'` : expected;
  const message = `this is not JSON: expected ${options}, found ${found === undefined ? "the end of the text" : found}`;
  const hint = hintFor(rest, expected);
  return { ...at, message, ...(hint === undefined ? {} : { hint }) };
}

function hintFor(rest: string, expected: Expected): string | undefined {
  if (/^\/[/*]/.test(rest) || rest.startsWith("#")) return "JSON has no comments: take it out.";
  if (/^[}\]]/.test(rest) && (expected === "a key" || expected === "a value"))
    return "Take out the comma before it.";
  if (rest.startsWith("'") || (/^[\w$]/.test(rest) && expected.startsWith("a key")))
    return "Keys and texts stand in double quotes.";
  if (rest.startsWith('"') && expected === "','") return "Put a comma between the two.";
  return undefined;
}
