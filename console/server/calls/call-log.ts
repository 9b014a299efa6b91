// A ring buffer of the last calls.

import type { Caller, Flow, SeenCall } from "../../console-state.ts";

/** A reader further behind misses calls. */
const capacity = 512;
/** Calls in one message. */
const maxListed = 100;

export class CallLog {
  readonly #ring: SeenCall[] = [];
  #last = 0;

  /** Number of the last call. */
  get last(): number {
    return this.#last;
  }

  add(facts: Omit<SeenCall, "number">): void {
    const call = { ...facts, number: ++this.#last };
    this.#ring[call.number % capacity] = call;
  }

  /**
   * The last calls after `number`, oldest first, and the flows of all of them still in the ring.
   */
  after(number: number): { calls: readonly SeenCall[]; flows: readonly Flow[] } {
    const flows = new Map<string, { from: Caller; to?: string; calls: number; failures: number }>();
    const calls: SeenCall[] = [];
    for (let at = Math.max(number, this.#last - capacity) + 1; at <= this.#last; at++) {
      const call = this.#ring[at % capacity]!;
      if (at > this.#last - maxListed) calls.push(call);
      const { from, to } = call;
      const key = `${from} ${to}`;
      const flow = flows.get(key) ?? {
        from,
        ...(to !== undefined && { to }),
        calls: 0,
        failures: 0,
      };
      flows.set(key, flow);
      flow.calls++;
      if (hasFailed(call)) flow.failures++;
    }
    return { calls, flows: [...flows.values()] };
  }
}

export function hasFailed({ status, error }: Pick<SeenCall, "status" | "error">): boolean {
  return status === undefined ? error !== undefined : status >= 400;
}
