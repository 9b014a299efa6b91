// How late the event loop of this process is.

import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

import type { EventLoop } from "../../src/base/ports.ts";

const resolutionMs = 20;

/** Costs a timer of Node's own while somebody watches. */
export function createEventLoop(): EventLoop {
  let histogram: IntervalHistogram | undefined;
  return {
    watch() {
      histogram ??= monitorEventLoopDelay({ resolution: resolutionMs });
      histogram.reset();
      histogram.enable();
    },
    unwatch() {
      histogram?.disable();
    },
    delay() {
      if (histogram === undefined || histogram.count === 0) return 0;
      // It measures from tick to tick.
      const late = histogram.percentile(90) / 1e6 - resolutionMs;
      histogram.reset();
      return Math.max(0, late);
    },
  };
}
