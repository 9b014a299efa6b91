// The clock of this process. Every call has a time limit, and nearly none reaches it: a timer of Node
// for each would cost a call more than its procedure may. So all of them share one.

import type { Clock } from "../../src/base/ports.ts";

/** Something that is due at a time, between others that are due earlier and later. */
class Due {
  readonly at: number;
  run: (() => void) | undefined;
  earlier: Due | undefined;
  later: Due | undefined;

  constructor(at: number, run: (() => void) | undefined) {
    this.at = at;
    this.run = run;
  }
}

/** Calls `run` of what is due, in order, with one timer for all. */
class Agenda {
  #first: Due | undefined;
  #last: Due | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer rings: at the time of the first or, if that was cancelled, earlier. */
  #rings = Infinity;

  add(ms: number, run: () => void): Due {
    const now = performance.now();
    const due = new Due(now + ms, run);
    this.#insert(due, now);
    if (due.at < this.#rings) this.#ringAt(due.at, now);
    return due;
  }

  remove(due: Due): void {
    if (due.run === undefined) return;
    due.run = undefined;
    const { earlier, later } = due;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    // What is over must not keep in memory what isn't.
    due.earlier = due.later = undefined;
  }

  /** Most have the same time limit, so they are last; the others are looked for from the nearer end. */
  #insert(due: Due, now: number): void {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined) {
      this.#first = this.#last = due;
      return;
    }
    let later: Due | undefined;
    let earlier: Due | undefined;
    if (due.at - now < (last.at - now) / 2) {
      later = first;
      while (later !== undefined && later.at <= due.at) later = later.later;
      earlier = later === undefined ? last : later.earlier;
    } else {
      earlier = last;
      while (earlier !== undefined && earlier.at > due.at) earlier = earlier.earlier;
      later = earlier === undefined ? first : earlier.later;
    }
    due.earlier = earlier;
    due.later = later;
    if (earlier === undefined) this.#first = due;
    else earlier.later = due;
    if (later === undefined) this.#last = due;
    else later.earlier = due;
  }

  #ringAt(at: number, now: number): void {
    clearTimeout(this.#timer);
    this.#rings = at;
    this.#timer = setTimeout(this.#ring, Math.ceil(at - now)).unref();
  }

  readonly #ring = (): void => {
    this.#rings = Infinity;
    const now = performance.now();
    try {
      for (let due = this.#first; due !== undefined && due.at <= now; due = this.#first) {
        const { run } = due;
        this.remove(due);
        run?.();
      }
    } finally {
      const first = this.#first;
      if (first !== undefined && first.at < this.#rings) this.#ringAt(first.at, performance.now());
    }
  };
}

const agenda = new Agenda();

/** Monotonic, so changes of the wall clock don't matter. Timers don't keep the process alive. */
export const nodeClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const due = agenda.add(ms, run);
    return () => agenda.remove(due);
  },
};
