// Whether the other end of a link is there: it is asked when it is silent while calls are in flight, and
// now and then when there are none. Its silence is counted in turns and not by a clock, and each turn is due only after the
// one before: an event loop that was blocked for seconds has had one, in which nobody else was late.

import type { Clock } from "../base/ports.ts";
import { kinds } from "./frames.ts";
import type { Outbox } from "./outbox.ts";
import { idleMs, turnMs } from "./times.ts";

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

export class Pulse {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #isDialer: boolean;
  readonly #idleMs: number;
  readonly #onOut: (cause: Error) => void;
  /** Since its last turn something came, or a call was in flight. */
  #isHeard = false;
  #wasUsed = false;
  /** What had left, and what waited, at the last turn. */
  #left = 0;
  #queued = 0;
  /** Turns without a sign of the other end. */
  #silence = 0;
  #isActive = false;
  #isOver = false;
  #cancel = (): void => {};

  constructor(
    outbox: Outbox,
    { clock, isDialer }: { readonly clock: Clock; readonly isDialer: boolean },
    onOut: (cause: Error) => void,
  ) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#isDialer = isDialer;
    this.#idleMs = isDialer ? idleMs.dialer : idleMs.acceptor;
    this.#onOut = onOut;
    this.#next(false);
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
    if (!this.#isActive) this.#next(true);
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel();
  }

  /** Each turn from now on, or only now and then. */
  #next(isActive: boolean): void {
    this.#cancel();
    if (this.#isOver) return;
    this.#isActive = isActive;
    this.#cancel = isActive
      ? this.#clock.after(turnMs, () => this.#next(this.#turn()))
      : this.#clock.after(this.#idleMs, () => this.#next(this.#idleTurn()));
  }

  /** Returns whether it wants the next one too. */
  #turn(): boolean {
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

  /** Returns whether it wants each turn from now on. */
  #idleTurn(): boolean {
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
