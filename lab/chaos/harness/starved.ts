// How long processes waited for a processor: on a machine with too much to do, figures say more
// about the machine than about what is measured.

import { readFileSync } from "node:fs";

/** Above this share of the time a run says nothing. */
export const tooStarved = 0.25;

/** Nanoseconds for which a process could have run and didn't. Zero where the system doesn't say. */
function waited(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    // It has ended, or this isn't Linux.
    return 0;
  }
}

/** Gives the share of the time since then, of the process that waited most. */
export function watchStarving(pids: readonly number[]): () => number {
  const begun = performance.now();
  const before = pids.map((pid) => [pid, waited(pid)] as const);
  return () => {
    const ms = performance.now() - begun;
    const most = before.reduce((sum, [pid, from]) => Math.max(sum, waited(pid) - from), 0);
    return most / 1e6 / ms;
  };
}
