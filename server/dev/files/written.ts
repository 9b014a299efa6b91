// Editors save a file by emptying it and writing it again. Between the two it looks as if all its
// exports were gone.

import { setTimeout as sleep } from "node:timers/promises";

import { statOf } from "./watched-paths.ts";

/** How long a file that is empty may still be written. One that stays empty waits this long. */
const writeMs = 100;
const lookMs = 10;

/** Resolves when none of these files is empty, or when those that are have been so for a while. */
export async function written(files: Iterable<string>): Promise<void> {
  const deadline = performance.now() + writeMs;
  let empty = [...files].filter(isEmpty);
  while (empty.length > 0 && performance.now() < deadline) {
    await sleep(lookMs);
    empty = empty.filter(isEmpty);
  }
}

function isEmpty(path: string): boolean {
  const found = statOf(path);
  return found?.isFile() === true && found.size === 0;
}
