// Detects that the other end of a link is gone. It is sent a ping when it is silent while calls are in flight, and
// now and then when there are none.

import { kinds } from "./frames.ts";
import type { Outbox } from "./outbox.ts";
import { turnMs } from "./times.ts";
import { Watched, type Wheel } from "./wheel.ts";

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

export class Pulse extends Watched {
  readonly #outbox: Outbox;
  readonly #wheel: Wheel;
  readonly #isDialer: boolean;
  readonly #onOut: (cause: Error) => void;
  /** Whether something came since the last turn, and whether a call was in flight. */
  #isHeard = false;
  #wasUsed = false;
  /** Bytes that had left, and that waited, at the last turn. */
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
    // It gets calls again at once.
    if (this.#silence >= turns.silent) this.#silence = 0;
  }

  /** A call waits for the other end. */
  used(): void {
    this.#wasUsed = true;
    this.#wheel.wake(this);
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  override turn(): boolean {
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
