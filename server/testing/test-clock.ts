// A clock that a test controls.

// Imported because a test may fake the global timers.
import { setImmediate } from "node:timers";

import type { Clock } from "../../src/base/ports.ts";
import { maxWorkMs } from "./times.ts";

/** A clock that starts at 0 and advances only by {@link TestClock.pass}. */
export class TestClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  /** Loads in progress, with their start in real time. */
  readonly #work = new Map<Promise<unknown>, number>();

  now(): number {
    return this.#now;
  }

  /** The number of pending timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  after(ms: number, run: () => void): () => void {
    // Node would warn and use one millisecond.
    if (!(ms >= 0))
      throw new RangeError(`A timer takes a number of milliseconds from 0 up, not ${String(ms)}`);
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((candidate) => candidate !== timer);
    };
  }

  /** Resolves when `ms` have passed on this clock. Useful for slow fakes. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.after(ms, resolve));
  }

  /** Advances by `ms`, runs due timers in order, and waits for the promises that they start. */
  async pass(ms: number): Promise<void> {
    if (!(ms >= 0))
      throw new RangeError(
        `Time passes forwards: pass(${String(ms)}) takes a number of milliseconds from 0 up`,
      );
    // Running work may be about to set timers.
    await this.settle();
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await this.settle();
    }
    this.#now = end;
    await this.settle();
  }

  /** Runs ready promises to their end without advancing. */
  async settle(): Promise<void> {
    await settle();
    while (this.#work.size > 0) {
      const now = performance.now();
      for (const [work, begun] of this.#work) if (now - begun > maxWorkMs) this.#work.delete(work);
      await settle();
    }
  }

  /**
   * Makes {@link TestClock.settle} wait for work that takes real time, such as loading a module.
   */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.set(work, performance.now());
    // The caller handles failures.
    void work.catch(() => {}).finally(() => this.#work.delete(work));
    return work;
  }
}

/** Lets ready promises run to their end. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
