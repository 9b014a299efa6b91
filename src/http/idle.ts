// Notices that bodies stand still.

import type { Clock } from "../base/ports.ts";

/** Calls `onIdle` once nothing has moved for as long as the limit. One timer, which looks again when it is due. */
export class Idle {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  /** When something moved last. */
  #moved: number;
  #limitMs = Infinity;
  #cancel: (() => void) | undefined;

  /** It begins with {@link limit}. */
  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
    this.#moved = clock.now();
  }

  moved(): void {
    this.#moved = this.#clock.now();
  }

  /** Sets the longest time without a movement, in milliseconds. The time since the last movement counts. */
  limit(ms: number): void {
    if (ms === this.#limitMs) return;
    this.stop();
    this.#limitMs = ms;
    this.#check();
  }

  /** Counts anew, with the same limit: when nothing has moved, and that is all right. */
  again(): void {
    const limitMs = this.#limitMs;
    this.stop();
    this.moved();
    this.limit(limitMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#limitMs = Infinity;
  }

  #check(): void {
    const left = this.#moved + this.#limitMs - this.#clock.now();
    if (left > 0) this.#cancel = this.#clock.after(left, () => this.#check());
    else this.#onIdle();
  }
}
