// Changes to texts, bytes and trees that keep most of their structure, so that inputs get past the
// first check.

import type { Random } from "./random.ts";

/** Inputs that trip up parsers of any kind. */
export const oddTexts: readonly string[] = [
  "",
  " ",
  "\0",
  "\n",
  "\r\n",
  "\r\n\r\n",
  "\t",
  '"',
  "\\",
  "'",
  "/",
  "//",
  "..",
  "/../",
  "%",
  "%00",
  "%2F",
  "%2e%2e",
  "%E0%A4%A",
  "%ff",
  "?",
  "#",
  "&",
  "=",
  ";",
  ":",
  ",",
  "*",
  "@",
  "{",
  "}",
  "[",
  "]",
  "[]",
  "{}",
  "null",
  "true",
  "-0",
  "1e999",
  "9007199254740993",
  "NaN",
  "Infinity",
  "0x10",
  "1.2.3.4",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "length",
  "hasOwnProperty",
  "serialized",
  "\ud800",
  "\udfff",
  "\ufeff",
  "\u2028",
  "é",
  "日本",
  "\u{1f600}",
  "a".repeat(300),
];

/** Inserts, replaces, removes, repeats and moves pieces of a text. */
export function mutateText(
  random: Random,
  text: string,
  dictionary: readonly string[] = oddTexts,
): string {
  let changed = text;
  for (let count = 1 + random.few(3); count > 0; count--) {
    const at = random.below(changed.length + 1);
    const piece = random.once(4) ? random.pick(oddTexts) : random.pick(dictionary);
    const from = random.below(changed.length + 1);
    const slice = changed.slice(from, from + random.below(40));
    switch (random.below(7)) {
      case 0:
        changed = changed.slice(0, at) + piece + changed.slice(at);
        break;
      case 1:
        changed = changed.slice(0, at) + piece + changed.slice(at + piece.length);
        break;
      case 2:
        changed = changed.slice(0, at) + changed.slice(at + 1 + random.few(20));
        break;
      case 3:
        changed = changed.slice(0, at) + slice + changed.slice(at);
        break;
      case 4:
        changed = changed.slice(0, at) + piece.repeat(random.few(200)) + changed.slice(at);
        break;
      case 5:
        changed =
          changed.slice(0, at) +
          String.fromCharCode(random.below(random.once(3) ? 0x1_0000 : 0x80)) +
          changed.slice(at + 1);
        break;
      default:
        if (random.once(6)) changed = changed.slice(0, at);
    }
  }
  return changed;
}

/** The same for bytes. */
export function mutateBytes(
  random: Random,
  bytes: Uint8Array,
  dictionary: readonly string[] = oddTexts,
): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  return Buffer.from(mutateText(random, text, dictionary), "latin1");
}

type Tree = Record<string, unknown> | unknown[];

/** Changes some members of a tree of plain data: their values, their names, or whether they are there. */
export function mutateTree(
  random: Random,
  tree: unknown,
  leaf: (random: Random) => unknown,
): unknown {
  const copy: unknown = structuredClone(tree);
  for (let count = 1 + random.few(3); count > 0; count--) {
    const places = placesOf(copy);
    if (places.length === 0) return leaf(random);
    const [parent, key] = random.pick(places);
    const value = Array.isArray(parent) ? parent[Number(key)] : parent[key];
    switch (random.below(6)) {
      case 0:
        set(parent, key, leaf(random));
        break;
      case 1:
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else delete parent[key];
        break;
      case 2: {
        const [from, at] = random.pick(places);
        set(parent, key, structuredClone(Array.isArray(from) ? from[Number(at)] : from[at]));
        break;
      }
      case 3:
        set(parent, random.pick(oddTexts), value);
        break;
      case 4:
        set(parent, key, random.once(2) ? [value] : { [random.pick(oddTexts)]: value });
        break;
      default:
        if (typeof value === "string") set(parent, key, mutateText(random, value));
        else if (Array.isArray(value))
          set(
            parent,
            key,
            Array.from({ length: random.few(40) }, () => value[0] as unknown),
          );
        else set(parent, key, leaf(random));
    }
  }
  return copy;
}

function placesOf(tree: unknown): (readonly [Tree, string])[] {
  const places: (readonly [Tree, string])[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || places.length > 2_000) return;
    for (const [key, value] of Object.entries(node)) {
      places.push([node as Tree, key]);
      visit(value);
    }
  };
  visit(tree);
  return places;
}

// As JSON.parse does, `__proto__` becomes a member of its own.
function set(parent: Tree, key: string, value: unknown): void {
  Object.defineProperty(parent, Array.isArray(parent) && !/^\d+$/.test(key) ? "0" : key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
