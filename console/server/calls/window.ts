// Counts calls of the last minute in little memory: six slots of ten seconds, 64 duration buckets.

import { firstBucketMs, slotMs } from "../base/times.ts";

/** Figures of one minute. */
export interface WindowFigures {
  readonly calls: number;
  readonly failures: number;
  /** Milliseconds; 0 if nothing was called. */
  readonly p50: number;
  readonly p95: number;
}

interface Slot {
  /** Which ten seconds since the clock's zero it covers. */
  epoch: number;
  calls: number;
  failures: number;
  readonly durations: Uint32Array;
}

const slots = 6;

const growth = 1.25;
const buckets = 64;

const bucketOf = (ms: number): number =>
  ms <= firstBucketMs
    ? 0
    : Math.min(buckets - 1, Math.floor(Math.log(ms / firstBucketMs) / Math.log(growth)));
const middleOf = (bucket: number): number =>
  Number((firstBucketMs * growth ** (bucket + 0.5)).toPrecision(3));

/** Calls, failures and durations of the last minute. */
export class Window {
  // Allocated on demand, since most procedures are called rarely.
  readonly #slots: (Slot | undefined)[] = [];

  add(now: number, ms: number, failed: boolean): void {
    const epoch = Math.floor(now / slotMs);
    let slot = this.#slots[epoch % slots];
    if (slot === undefined)
      slot = this.#slots[epoch % slots] = {
        epoch,
        calls: 0,
        failures: 0,
        durations: new Uint32Array(buckets),
      };
    if (slot.epoch !== epoch) {
      slot.epoch = epoch;
      slot.calls = slot.failures = 0;
      slot.durations.fill(0);
    }
    slot.calls++;
    if (failed) slot.failures++;
    slot.durations[bucketOf(ms)]!++;
  }

  read(now: number): WindowFigures {
    const current = Math.floor(now / slotMs);
    const counts = new Uint32Array(buckets);
    let calls = 0;
    let failures = 0;
    for (const slot of this.#slots) {
      if (slot === undefined || slot.epoch <= current - slots || slot.epoch > current) continue;
      calls += slot.calls;
      failures += slot.failures;
      for (let bucket = 0; bucket < buckets; bucket++) counts[bucket]! += slot.durations[bucket]!;
    }
    return {
      calls,
      failures,
      p50: quantile(counts, calls, 0.5),
      p95: quantile(counts, calls, 0.95),
    };
  }

  /** Seconds that {@link read} covers if counting began at `since`. */
  static seconds(now: number, since: number): number {
    const from = Math.max(since, (Math.floor(now / slotMs) - slots + 1) * slotMs);
    return Math.max(1, (now - from) / 1000);
  }
}

function quantile(counts: Uint32Array, total: number, fraction: number): number {
  if (total === 0) return 0;
  let left = Math.max(1, Math.ceil(total * fraction));
  for (let bucket = 0; bucket < buckets; bucket++) {
    left -= counts[bucket]!;
    if (left <= 0) return middleOf(bucket);
  }
  return middleOf(buckets - 1);
}

/** Calls and failures of each of the last sixty seconds. */
export class Seconds {
  readonly #calls = new Uint32Array(60);
  readonly #failures = new Uint32Array(60);
  #last = 0;

  constructor(now: number) {
    this.#last = Math.floor(now / 1000);
  }

  add(now: number, failed: boolean): void {
    this.#advanceTo(now);
    this.#calls[this.#last % 60]!++;
    if (failed) this.#failures[this.#last % 60]!++;
  }

  read(now: number): [number, number][] {
    this.#advanceTo(now);
    return Array.from({ length: 60 }, (_, at) => {
      const slot = (this.#last + 1 + at) % 60;
      return [this.#calls[slot]!, this.#failures[slot]!];
    });
  }

  #advanceTo(now: number): void {
    const second = Math.floor(now / 1000);
    for (let at = Math.max(this.#last + 1, second - 59); at <= second; at++)
      this.#calls[at % 60] = this.#failures[at % 60] = 0;
    this.#last = Math.max(this.#last, second);
  }
}
