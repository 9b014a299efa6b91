// Editors save a file by emptying it and writing it again. Between the two it looks as if all its
// exports were gone.

import { setTimeout as sleep } from "node:timers/promises";

import { statOf } from "./watched-paths.ts";

/**
 * How often a file that is empty is looked at again: it may still be written. Looks are counted and
 * not the time, in which this process may have stood still.
 */
const looks = 10;
const lookMs = 10;

/** Resolves when none of these files is empty, or when those that are have been so for a while. */
export async function written(files: Iterable<string>): Promise<void> {
  let empty = [...files].filter(isEmpty);
  for (let look = 0; empty.length > 0 && look < looks; look++) {
    await sleep(lookMs);
    empty = empty.filter(isEmpty);
  }
}

function isEmpty(path: string): boolean {
  const found = statOf(path);
  return found?.isFile() === true && found.size === 0;
}
