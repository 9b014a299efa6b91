// How many calls a service runs at once. A service that has more to do than it can answers ever later,
// until nobody waits for its answers any more. So it refuses what is too much, at once.

import type { Clock, EventLoop } from "../base/ports.ts";

/** Fewer than these are never refused. */
const fewest = 16;
/** How often the number is adjusted. */
const intervalMs = 1_000;
/** Above this delay of the event loop, fewer calls may run. */
const lateMs = 100;
const fewer = 0.8;
/** Below this delay, more may. */
const promptMs = 20;
const more = 1.05;

export class Admission {
  readonly #clock: Clock;
  readonly #loop: EventLoop;
  readonly #most: number;
  #limit: number;
  #running = 0;
  /** Whether a call came since the last adjustment. */
  #isUsed = false;
  #isWatching = false;

  /** `most` calls run at once, fewer if the event loop is late. */
  constructor({ clock, loop }: { clock: Clock; loop: EventLoop }, most: number) {
    this.#clock = clock;
    this.#loop = loop;
    this.#most = most;
    this.#limit = most;
  }

  /** Whether a call may begin. Then {@link leave} must be called when it is over. */
  enter(): boolean {
    if (!this.#isWatching) this.#watch();
    this.#isUsed = true;
    if (this.#running >= this.#limit) return false;
    this.#running++;
    return true;
  }

  /** Counts a call that has begun before, and left while it waited for its caller. */
  add(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
  }

  #watch(): void {
    this.#isWatching = true;
    this.#loop.watch();
    this.#clock.after(intervalMs, () => this.#adjust());
  }

  #adjust(): void {
    const delay = this.#loop.delay();
    // Not a fifth of those that run: the event loop may be late for a moment with few of them, and
    // then a burst would be refused for long.
    if (delay > lateMs)
      this.#limit = Math.max(Math.min(fewest, this.#most), Math.floor(this.#limit * fewer));
    else if (delay < promptMs) this.#limit = Math.min(this.#most, Math.ceil(this.#limit * more));
    const isNeeded = this.#isUsed || this.#running > 0 || this.#limit < this.#most;
    this.#isUsed = false;
    if (isNeeded) return void this.#clock.after(intervalMs, () => this.#adjust());
    this.#isWatching = false;
    this.#loop.unwatch();
  }
}
