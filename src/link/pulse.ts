// Detects that the other end of a link is gone. It is sent a ping when it is silent while calls are in flight, and
// now and then when there are none. Silence is counted in turns and not by a clock, and each turn is due only after the one
// before: an event loop that was blocked for seconds has had one turn, in which the other end wasn't late.

import type { Clock } from "../base/ports.ts";
import { kinds } from "./frames.ts";
import type { Outbox } from "./outbox.ts";
import { idleMs, turnMs } from "./times.ts";

/** Turns of silence until each step. */
const turns = {
  ping: 300 / turnMs,
  silent: 600 / turnMs,
  again: 1000 / turnMs,
  out: 2000 / turnMs,
};

/**
 * An end that only runs calls for the other one waits longer: ending them because their caller was busy for two
 * seconds would be worse than finding out late that the caller has gone.
 */
const outOfRunning = 15_000 / turnMs;

export class Pulse {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #isDialer: boolean;
  readonly #idleMs: number;
  readonly #onOut: (cause: Error) => void;
  /** Whether something came since the last turn, and whether a call was in flight. */
  #isHeard = false;
  #wasUsed = false;
  /** Bytes that had left, and that waited, at the last turn. */
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
    // It gets calls again at once.
    if (this.#silence >= turns.silent) this.#silence = 0;
  }

  /** A call waits for the other end. */
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
    // Its host accepts waiting bytes, so it isn't gone.
    const isTaken = this.#queued > 0 && left > this.#left;
    this.#silence = this.#isHeard || isTaken ? 0 : this.#silence + 1;
    this.#left = left;
    this.#queued = queued;
    this.#isHeard = false;
    // With calls one after the other, the next turn is soon enough to notice that there are no more.
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
