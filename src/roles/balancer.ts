// Round robin by name (§9, load balancing): the gateway is version unaware.

/** Those who hold one procedure, in turn. */
export class Turn<T> {
  readonly #all: T[] = [];
  #next = 0;

  get size(): number {
    return this.#all.length;
  }

  add(one: T): void {
    this.#all.push(one);
  }

  remove(one: T): void {
    const at = this.#all.indexOf(one);
    if (at < 0) return;
    this.#all.splice(at, 1);
    // Whoever was next stays next.
    if (at < this.#next) this.#next--;
  }

  /** The next one that may be called, or nobody. */
  next(may: (one: T) => boolean): T | undefined {
    for (let tries = this.#all.length; tries > 0; tries--) {
      if (this.#next >= this.#all.length) this.#next = 0;
      const one = this.#all[this.#next++];
      if (one !== undefined && may(one)) return one;
    }
    return undefined;
  }
}

export interface Balancer<T> {
  add(one: T, names: readonly string[]): void;
  remove(one: T, names: readonly string[]): void;
  /** `undefined` for a name that nobody ever held: that is 404, and not 503 (decisions §6). */
  of(name: string): Turn<T> | undefined;
}

export function createBalancer<T>(): Balancer<T> {
  const turns = new Map<string, Turn<T>>();
  return {
    add(one, names) {
      for (const name of names) {
        const turn = turns.get(name) ?? new Turn<T>();
        turns.set(name, turn);
        turn.add(one);
      }
    },
    remove(one, names) {
      for (const name of names) turns.get(name)?.remove(one);
    },
    of: (name) => turns.get(name),
  };
}
