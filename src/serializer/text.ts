import { BadRequest } from "../errors.ts";
import type { ValueLimits } from "./limits.ts";

/** Parses JSON that came from outside, once it is known to be neither too deep nor too long for the walks that follow. Throws BadRequest. */
export function parseText(text: string, limits: ValueLimits): unknown {
  measure(text, limits);
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says of it quotes the text, and is worded by the platform.
    throw new BadRequest("The text is no JSON");
  }
}

/**
 * On the text, because `JSON.parse` takes a million levels, and a recursive walk of them ends the process.
 * Text that is no JSON may be counted wrongly: the parser refuses it afterwards.
 */
function measure(text: string, limits: ValueLimits): void {
  let level = 0;
  let values = 1;
  if (text.length <= Math.min(limits.depth, limits.values)) return;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++level > limits.depth)
          throw new BadRequest(`More than ${limits.depth} levels of nesting (limit 'depth')`);
        // A comma stands for one value more, what opens a list or an object for the first in it; but not before ] or }.
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
  if (values > limits.values)
    throw new BadRequest(`More than ${limits.values} values (limit 'values')`);
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
