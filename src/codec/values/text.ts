import { BadRequest } from "../../base/errors.ts";
import type { ValueLimits } from "./limits.ts";

/**
 * Parses JSON from outside, after checking that it's neither too deep nor too long for the walks
 * that follow. Throws BadRequest.
 */
export function parseText(text: string, limits: ValueLimits): unknown {
  measure(text, limits);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and differs between platforms.
    throw new BadRequest("The text is not JSON");
  }
}

/**
 * Counts on the text, because `JSON.parse` accepts a million levels, and a recursive walk of those
 * ends the process. Counts may be wrong for text that isn't JSON; the parser refuses it afterwards.
 */
function measure(text: string, limits: ValueLimits): void {
  let level = 0;
  let values = 1;
  if (text.length <= Math.min(limits.maxDepth, limits.maxValues)) return;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++level > limits.maxDepth)
          throw new BadRequest(`More than ${limits.maxDepth} levels of nesting (limit 'maxDepth')`);
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
