// The clock of this process. Every call has a time limit, and nearly none reaches it. A timer of Node for each costs a
// call between services some 3 % more, so long times that end close together share one.

import { AsyncResource } from "node:async_hooks";

import type { Clock } from "../../src/base/ports.ts";
import { Bag, type Bagged } from "./bag.ts";
import { longMs, tickMs } from "./times.ts";

class Due implements Bagged {
  place = -1;
  readonly at: number;
  readonly run: () => void;

  constructor(at: number, run: () => void) {
    this.at = at;
    this.run = run;
  }
}

/** By the number of the tick that ends them. */
const ticks = new Map<number, Bag<Due>>();

/** The call that is the first to need a tick mustn't lend it its context. */
const outside = new AsyncResource("SeamlineClock");

/**
 * Monotonic, so changes of the wall clock don't matter. Timers don't keep the process alive, and never ring early: those
 * of Node count whole milliseconds, so one in ten is early by a part of one. Long times may end a tick late.
 */
export const nodeClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const at = performance.now() + ms;
    if (ms < longMs) return ringAt(at, run);
    const tick = Math.ceil(at / tickMs);
    const bag = ticks.get(tick) ?? newTick(tick);
    const due = new Due(at, run);
    bag.add(due);
    return () => bag.remove(due);
  },
};

function newTick(tick: number): Bag<Due> {
  const bag = new Bag<Due>();
  const end = (): void => {
    ticks.delete(tick);
    // Each may throw, or cancel others.
    for (const due of bag.all().sort((one, other) => one.at - other.at))
      queueMicrotask(() => due.place >= 0 && due.run());
  };
  ticks.set(tick, bag);
  outside.runInAsyncScope(() => ringAt(tick * tickMs, end));
  return bag;
}

function ringAt(at: number, run: () => void): () => void {
  const ring = (): void => {
    const left = at - performance.now();
    if (left <= 0) run();
    else timer = setTimeout(ring, Math.ceil(left)).unref();
  };
  let timer = setTimeout(ring, Math.ceil(at - performance.now())).unref();
  return () => clearTimeout(timer);
}
