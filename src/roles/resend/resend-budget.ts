// Limits how often a call, and how many calls, may be sent again. Without a limit, services that fail because they
// are overloaded would get even more calls.

import type { AbortNotice, Clock } from "../../base/ports.ts";
import { thirdTryMs } from "../common/times.ts";
import { budgetSeconds, smallestBudget } from "../common/limits.ts";

/** Resolves a moment later. Rejects if the caller has left in the meantime. */
export async function backOff(clock: Clock, caller: AbortNotice | undefined): Promise<void> {
  const { shortest, longest } = thirdTryMs;
  const ms = shortest + Math.random() * (longest - shortest);
  await new Promise<void>((resolve) => void clock.after(ms, resolve));
  caller?.throwIfAborted();
}

/** The share of a resend that each call adds to the budget. */
const perCall = 0.2;

/** A bucket of tokens. It starts full; each call adds to it, and each call sent again takes one. */
export class ResendBudget {
  readonly #mostInFlight: () => number;
  #tokens = Infinity;
  /** Calls of each of the last seconds. */
  readonly #calls = Array.from({ length: budgetSeconds }, () => 0);
  #second = 0;

  /** `mostInFlight` returns the number of calls in flight at the busiest service. */
  constructor(mostInFlight: () => number) {
    this.#mostInFlight = mostInFlight;
  }

  /** A call came, at a time in milliseconds. */
  called(now: number): void {
    this.#tokens += perCall;
    this.#turnTo(now);
    this.#calls[this.#second % budgetSeconds]! += 1;
  }

  /** Whether a call may be sent again, at a time in milliseconds. */
  take(now: number): boolean {
    this.#turnTo(now);
    const calls = this.#calls.reduce((sum, count) => sum + count, 0);
    const most = Math.max(smallestBudget, perCall * calls + this.#mostInFlight());
    this.#tokens = Math.min(this.#tokens, most);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #turnTo(now: number): void {
    const second = Math.floor(now / 1000);
    for (let passed = Math.min(second - this.#second, budgetSeconds); passed > 0; passed--)
      this.#calls[(second - passed + 1) % budgetSeconds] = 0;
    this.#second = Math.max(second, this.#second);
  }
}
