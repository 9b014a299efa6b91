// Whether the other end of a link is there: it is asked when it is silent while calls are in flight, and
// now and then when there are none.

import { kinds } from "./frames.ts";
import type { Outbox } from "./outbox.ts";
import { turnMs } from "./times.ts";
import { Watched, type Wheel } from "./wheel.ts";

/** How long the other end may be silent until each of these. */
const turns = {
  ping: 300 / turnMs,
  silent: 600 / turnMs,
  again: 1000 / turnMs,
  out: 2000 / turnMs,
};

/**
 * Who only runs calls of the other end gives it more time: to end them because it was busy for two seconds
 * would be worse than to find out late that nobody waits for them.
 */
const outOfRunning = 15_000 / turnMs;

export class Pulse extends Watched {
  readonly #outbox: Outbox;
  readonly #wheel: Wheel;
  readonly #isDialer: boolean;
  readonly #onOut: (cause: Error) => void;
  /** Since its last turn something came, or a call was in flight. */
  #isHeard = false;
  #wasUsed = false;
  /** What had left, and what waited, at the last turn. */
  #left = 0;
  #queued = 0;
  /** Turns without a sign of the other end. */
  #silence = 0;

  constructor(
    outbox: Outbox,
    { wheel, isDialer }: { readonly wheel: Wheel; readonly isDialer: boolean },
    onOut: (cause: Error) => void,
  ) {
    super();
    this.#outbox = outbox;
    this.#wheel = wheel;
    this.#isDialer = isDialer;
    this.#onOut = onOut;
    wheel.add(this);
  }

  /** A ping has had no answer for 300 ms. */
  get isSilent(): boolean {
    return this.#silence >= turns.silent;
  }

  heard(): void {
    this.#isHeard = true;
    // It may take calls again at once.
    if (this.#silence >= turns.silent) this.#silence = 0;
  }

  /** Something waits for the other end. */
  used(): void {
    this.#wasUsed = true;
    this.#wheel.wake(this);
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  override turn(): boolean {
    const { left, queued } = this.#outbox;
    // Its host takes what waits, so it isn't gone.
    const isTaken = this.#queued > 0 && left > this.#left;
    this.#silence = this.#isHeard || isTaken ? 0 : this.#silence + 1;
    this.#left = left;
    this.#queued = queued;
    this.#isHeard = false;
    // Calls that come one by one: the next turn is soon enough to find out that there are no more.
    const { asked, inFlight } = this.#outbox;
    const isUsed = this.#wasUsed || asked > 0;
    this.#wasUsed = false;
    if (!isUsed && this.#silence < turns.ping) {
      this.#silence = 0;
      return false;
    }
    if (this.#silence === turns.ping || this.#silence === turns.again) this.#ping();
    const out = asked === 0 && inFlight > 0 ? outOfRunning : turns.out;
    if (this.#silence < out) return true;
    this.#onOut(new Error(`The other end is silent for ${out * turnMs} ms`));
    return false;
  }

  override idleTurn(): boolean {
    const isHeard = this.#isHeard;
    this.#isHeard = false;
    // The pings of the dialer show the same.
    if (isHeard && !this.#isDialer) return false;
    this.#silence = turns.ping;
    this.#ping();
    return true;
  }

  #ping(): void {
    this.#outbox.control().addNumber(kinds.ping, 0);
    this.#outbox.flush();
  }
}
