// Time that passes when a test says so.

// Taken here, as a test may put timers of its own in the place of the global ones.
import { setImmediate } from "node:timers";

import type { Clock } from "../../src/ports.ts";

/** Real ms. */
const mostWork = 2000;

/** A clock whose time passes by {@link TestClock.pass} only. It begins at 0. */
export class TestClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  readonly #work = new Set<Promise<unknown>>();

  now(): number {
    return this.#now;
  }

  /** Timers that are set. */
  get waiting(): number {
    return this.#timers.length;
  }

  after(ms: number, run: () => void): () => void {
    // Node would warn, and run it in a millisecond.
    if (!(ms >= 0))
      throw new RangeError(`A timer takes a number of milliseconds from 0 up, not ${String(ms)}`);
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** Resolves when `ms` have passed: for a fake that takes its time. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.after(ms, resolve));
  }

  /** Lets `ms` pass, runs what is due in its order, and lets what that began come to rest. */
  async pass(ms: number): Promise<void> {
    if (!(ms >= 0))
      throw new RangeError(
        `Time passes forwards: pass(${String(ms)}) takes a number of milliseconds from 0 up`,
      );
    // What was begun before may have timers to set yet.
    await this.settle();
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers
        .filter((one) => one.at <= end)
        .toSorted((one, other) => one.at - other.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await this.settle();
    }
    this.#now = end;
    await this.settle();
  }

  /** Lets promises that are ready come to their end, no time passes. */
  async settle(): Promise<void> {
    const begun = performance.now();
    await settle();
    // What reads files is waited for, but not for ever: it may itself wait for this clock.
    while (this.#work.size > 0 && performance.now() - begun < mostWork) await settle();
  }

  /** Has {@link TestClock.settle} wait for work that takes real time, as loading a module does. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    // Who began it hears how it ended.
    void work.catch(() => {}).finally(() => this.#work.delete(work));
    return work;
  }
}

/** Lets promises that are ready come to their end. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
