// Editors save a file by emptying it and writing it again. Between the two it looks as if all its
// exports were gone.

import { setTimeout as sleep } from "node:timers/promises";

import { statOf } from "./watched-paths.ts";

/** A file that is empty may still be written, so it is looked at again after this long. */
const lookMs = 10;
/** Looks are counted, and not the time, in which this process may have stood still. */
const maxLooks = 10;

/** Resolves when none of these files is empty, or when those that are have been so for a while. */
export async function written(files: Iterable<string>): Promise<void> {
  let empty = [...files].filter(isEmpty);
  for (let look = 0; empty.length > 0 && look < maxLooks; look++) {
    await sleep(lookMs);
    empty = empty.filter(isEmpty);
  }
}

function isEmpty(path: string): boolean {
  const found = statOf(path);
  return found?.isFile() === true && found.size === 0;
}
