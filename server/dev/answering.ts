// The requests of a development session that are being answered.

import { setTimeout as pause } from "node:timers/promises";

/** Longer than this nobody waits for calls in old code. */
const longestMs = 1_000;

export class Answering {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts a request until it is answered. */
  async track<T>(answer: Promise<T>): Promise<T> {
    this.#running.add(answer);
    try {
      return await answer;
    } finally {
      this.#running.delete(answer);
    }
  }

  /** Resolves when the requests have been answered that are running now, or after a second. */
  async ended(): Promise<void> {
    if (this.#running.size === 0) return;
    await Promise.race([
      Promise.allSettled(this.#running),
      pause(longestMs, undefined, { ref: false }),
    ]);
  }
}
