// The clock of this process.

import type { Clock } from "../../src/base/ports.ts";

/**
 * Monotonic, so changes of the wall clock don't matter. Timers don't keep the process alive, and never ring early: those
 * of Node count whole milliseconds, so one in ten is early by a part of one.
 */
export const nodeClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const at = performance.now() + ms;
    const ring = (): void => {
      const left = at - performance.now();
      if (left <= 0) run();
      else timer = setTimeout(ring, Math.ceil(left)).unref();
    };
    let timer = setTimeout(ring, Math.ceil(ms)).unref();
    return () => clearTimeout(timer);
  },
};
