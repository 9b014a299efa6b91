import { BadRequest } from "../../base/errors.ts";
import { isForbidden } from "./fault.ts";
import type { ValueLimits } from "../../base/limits.ts";
import { isPolluted } from "./walk.ts";

/** A parsed message, with flags for parts that may need decoding. */
export interface Parsed {
  readonly tree: unknown;
  /** Without a member `serialized`, there are no forms. */
  readonly hasForms: boolean;
  /** It may have a key that could reach a prototype. */
  readonly hasForbiddenKeys: boolean;
}

/**
 * Parses JSON from outside, and checks that it's neither too deep nor too long for the walks that
 * follow. Throws BadRequest.
 */
export function parseText(text: string, limits: ValueLimits): Parsed {
  // A value takes a character, and a separator another: a text of twice `maxValues` characters can't have more.
  // Longer texts are counted before they're parsed.
  if (text.length > 2 * limits.maxValues) measure(text, limits);
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and differs between platforms.
    throw new BadRequest("The text is not JSON");
  }
  return survey(tree, limits);
}

/**
 * Looks through a tree that `JSON.parse` made. Throws BadRequest if it's too deep. Goes level by
 * level, as a recursive walk of a million levels would end the process, and `JSON.parse` accepts that many.
 */
function survey(tree: unknown, { maxDepth }: Pick<ValueLimits, "maxDepth">): Parsed {
  let hasForms = false;
  let hasForbiddenKeys = false;
  const inherits = isPolluted();
  let level: object[] = isObject(tree) ? [tree] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw tooDeep(maxDepth);
    const next: object[] = [];
    for (const object of level)
      if (Array.isArray(object)) {
        for (const item of object as unknown[]) if (isObject(item)) next.push(item);
      } else {
        const before = next.length;
        for (const key in object) {
          if (inherits && !Object.hasOwn(object, key)) continue;
          if (key === "serialized") {
            hasForms = true;
            if (next.length === before && isInstance(object)) {
              // Listing indexes takes longer than everything else, so the keys of arrays aren't checked.
              hasForbiddenKeys = true;
              next.push(object.fields, Object.values(object.args));
              break;
            }
          } else if (isForbidden(key)) hasForbiddenKeys = true;
          const member = (object as Readonly<Record<string, unknown>>)[key];
          if (isObject(member)) next.push(member);
        }
      }
    level = next;
  }
  return { tree, hasForms, hasForbiddenKeys };
}

/** Whether it's a complete form of an instance. */
function isInstance(object: object): object is { readonly args: object; readonly fields: object } {
  const { key, name, args, fields } = object as Readonly<Record<string, unknown>>;
  return (
    name === "class" &&
    typeof key === "string" &&
    isObject(args) &&
    isObject(fields) &&
    Object.keys(object).length === 5
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const tooDeep = (maxDepth: number): BadRequest =>
  new BadRequest(`More than ${maxDepth} levels of nesting (limit 'maxDepth')`);

/**
 * Checks both limits on a long text before it's parsed: its levels could take fifty times the
 * memory. Counts may be wrong for text that isn't JSON; the parser refuses it afterwards.
 */
function measure(text: string, limits: ValueLimits): void {
  let level = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++level > limits.maxDepth) throw tooDeep(limits.maxDepth);
        // Each comma adds a value, and so does each bracket, unless the list or object is empty.
        if ((text.charCodeAt(index + 1) | 0x20) !== 0x7d) values++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level--;
        break;
      case 0x2c: // ,
        values++;
        break;
      default:
    }
  }
  if (values > limits.maxValues)
    throw new BadRequest(`More than ${limits.maxValues} values (limit 'maxValues')`);
}

function endOfString(text: string, start: number): number {
  for (let end = start; ;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end;
  }
}
