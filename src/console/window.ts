// Counts of the last minute in little memory: six slots of ten seconds, durations in 64 classes.

/** Of one minute. */
export interface WindowFigures {
  readonly calls: number;
  readonly failures: number;
  /** Milliseconds; 0 where nothing was called. */
  readonly p50: number;
  readonly p95: number;
}

interface Slot {
  /** Which ten seconds since the clock's beginning. */
  epoch: number;
  calls: number;
  failures: number;
  readonly durations: Uint32Array;
}

const slotTime = 10_000;
const slots = 6;

/** From 0.05 ms up, each class a quarter longer than the one before: the last begins at 64 s, and a figure is off by 12 % at most. */
const shortest = 0.05;
const step = 1.25;
const classes = 64;

const classOf = (ms: number): number =>
  ms <= shortest ? 0 : Math.min(classes - 1, Math.floor(Math.log(ms / shortest) / Math.log(step)));
const middleOf = (at: number): number => Number((shortest * step ** (at + 0.5)).toPrecision(3));

/** Calls, failures and durations of the last minute. */
export class Window {
  // Made when they are needed: most procedures are called now and then.
  readonly #slots: (Slot | undefined)[] = [];

  add(now: number, ms: number, failed: boolean): void {
    const epoch = Math.floor(now / slotTime);
    let slot = this.#slots[epoch % slots];
    if (slot === undefined)
      slot = this.#slots[epoch % slots] = {
        epoch,
        calls: 0,
        failures: 0,
        durations: new Uint32Array(classes),
      };
    if (slot.epoch !== epoch) {
      slot.epoch = epoch;
      slot.calls = slot.failures = 0;
      slot.durations.fill(0);
    }
    slot.calls++;
    if (failed) slot.failures++;
    slot.durations[classOf(ms)]!++;
  }

  read(now: number): WindowFigures {
    const current = Math.floor(now / slotTime);
    const counts = new Uint32Array(classes);
    let calls = 0;
    let failures = 0;
    for (const slot of this.#slots) {
      if (slot === undefined || slot.epoch <= current - slots || slot.epoch > current) continue;
      calls += slot.calls;
      failures += slot.failures;
      for (let at = 0; at < classes; at++) counts[at]! += slot.durations[at]!;
    }
    return {
      calls,
      failures,
      p50: quantile(counts, calls, 0.5),
      p95: quantile(counts, calls, 0.95),
    };
  }

  /** Seconds that {@link read} speaks of, when counting began at `since`. */
  static seconds(now: number, since: number): number {
    const from = Math.max(since, (Math.floor(now / slotTime) - slots + 1) * slotTime);
    return Math.max(1, (now - from) / 1000);
  }
}

function quantile(counts: Uint32Array, all: number, part: number): number {
  if (all === 0) return 0;
  let left = Math.max(1, Math.ceil(all * part));
  for (let at = 0; at < classes; at++) {
    left -= counts[at]!;
    if (left <= 0) return middleOf(at);
  }
  return middleOf(classes - 1);
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
    this.#to(now);
    this.#calls[this.#last % 60]!++;
    if (failed) this.#failures[this.#last % 60]!++;
  }

  read(now: number): [number, number][] {
    this.#to(now);
    return Array.from({ length: 60 }, (_, at) => {
      const slot = (this.#last + 1 + at) % 60;
      return [this.#calls[slot]!, this.#failures[slot]!];
    });
  }

  #to(now: number): void {
    const second = Math.floor(now / 1000);
    for (let at = Math.max(this.#last + 1, second - 59); at <= second; at++)
      this.#calls[at % 60] = this.#failures[at % 60] = 0;
    this.#last = Math.max(this.#last, second);
  }
}
