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
  /** Those who hold a name now; `undefined` when nobody does. */
  of(name: string): Turn<T> | undefined;
  /** Whether somebody held the name and has left: that is 503, and a name that nobody ever held is 404. */
  hasLeft(name: string): boolean;
}

/** How much is remembered of names that nobody holds any more. */
export interface Memory {
  readonly names: number;
  readonly characters: number;
}

/** More than applications have. Without a bound, members that come and go with ever new names would fill the memory. */
const memory: Memory = { names: 200_000, characters: 8 * 1024 * 1024 };

export function createBalancer<T>(most: Memory = memory): Balancer<T> {
  const turns = new Map<string, Turn<T>>();
  /** The one that was left, or asked for, longest ago comes first: what callers still want is what the application has. */
  const left = new Set<string>();
  let characters = 0;

  const forget = (name: string): boolean => {
    const wasThere = left.delete(name);
    if (wasThere) characters -= name.length;
    return wasThere;
  };

  const remember = (name: string): void => {
    left.add(name);
    characters += name.length;
    for (const oldest of left) {
      if (left.size <= most.names && characters <= most.characters) return;
      forget(oldest);
    }
  };

  return {
    add(one, names) {
      for (const name of names) {
        const turn = turns.get(name) ?? new Turn<T>();
        turns.set(name, turn);
        turn.add(one);
        forget(name);
      }
    },
    remove(one, names) {
      for (const name of names) {
        const turn = turns.get(name);
        turn?.remove(one);
        if (turn?.size !== 0) continue;
        turns.delete(name);
        remember(name);
      }
    },
    of: (name) => turns.get(name),
    hasLeft(name) {
      if (!forget(name)) return false;
      remember(name);
      return true;
    },
  };
}
