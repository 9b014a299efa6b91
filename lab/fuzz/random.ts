// Pseudo-random choices that a seed repeats.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, `bound` (mulberry32). */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * bound);
  }

  /** True once in `rounds` times. */
  once(rounds: number): boolean {
    return this.below(rounds) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Small numbers most often, and at most `most`. */
  few(most: number): number {
    return this.below(this.below(most + 1) + 1);
  }

  list<T>(most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.few(most) }, (_, index) => make(index));
  }
}

/** The seed of one input of a target, so that it can be made again without those before it. */
export function seedOf(seed: number, target: string, index: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  for (let at = 0; at < target.length; at++)
    hash = Math.imul(hash ^ target.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
