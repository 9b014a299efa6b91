// Random numbers from a seed, so that a run can be repeated with the seed that it printed.

export interface Random {
  readonly seed: number;
  /** From 0 to 1. */
  next(): number;
  between(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The generator "mulberry32". */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    next,
    between: (low, high) => low + next() * (high - low),
    pick: (list) => list[Math.floor(next() * list.length)]!,
  };
}
