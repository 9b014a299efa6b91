// Lines of a log about what may happen thousands of times a second.

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

  /** It has happened again: how often it did since the last line, or `undefined` if it's too early for one. */
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
