// Limits log lines about events that may happen thousands of times a second.

import type { Clock } from "../../base/ports.ts";
import { everyMs } from "./times.ts";

/** Lets one line a second through. */
export class RareLines {
  readonly #clock: Pick<Clock, "now">;
  #loggedAt = -Infinity;
  #unlogged = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Counts an event. Returns the number of events since the last line, or `undefined` if it is too early for a line. */
  next(): number | undefined {
    const now = this.#clock.now();
    if (now - this.#loggedAt < everyMs.line) {
      this.#unlogged++;
      return undefined;
    }
    const unlogged = this.#unlogged;
    this.#loggedAt = now;
    this.#unlogged = 0;
    return unlogged;
  }
}
