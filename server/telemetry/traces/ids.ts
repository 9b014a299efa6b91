// Random ids of traces and spans.

import { randomFillSync } from "node:crypto";

/** Asking for a few bytes costs as much as asking for many. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Lower-case hex digits, never only zeros. */
export function randomId(bytes: 8 | 16): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString("hex", used, (used += bytes));
  return /[^0]/.test(id) ? id : randomId(bytes);
}
