import { Context, type ContextParts } from "../base/context.ts";
import type { Clock } from "../base/ports.ts";

/** The latest time that a Date can be. */
const latest = 8.64e15;

/** The context of a call that may have a deadline. /svc/client.js makes calls without one only. */
export class TimedContext extends Context {
  readonly #clock: Clock;
  #deadline: Date | undefined;

  constructor(parts: ContextParts, clock: Clock) {
    super(parts);
    this.#clock = clock;
  }

  /** Made once: two readings must give the same time. */
  override get deadline(): Date | undefined {
    if (this.endsAt === undefined) return undefined;
    const time = Date.now() + this.endsAt - this.#clock.now();
    return (this.#deadline ??= new Date(Math.min(time, latest)));
  }

  override timeLeft(): number {
    return this.endsAt === undefined ? Infinity : Math.max(0, this.endsAt - this.#clock.now());
  }
}
