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
  const left = createLeft(most);
  return {
    add(one, names) {
      for (const name of names) {
        const turn = turns.get(name) ?? new Turn<T>();
        turns.set(name, turn);
        turn.add(one);
        left.forget(name);
      }
    },
    remove(one, names) {
      for (const name of names) {
        const turn = turns.get(name);
        turn?.remove(one);
        if (turn?.size !== 0) continue;
        turns.delete(name);
        left.remember(name);
      }
    },
    of: (name) => turns.get(name),
    hasLeft(name) {
      if (!left.forget(name)) return false;
      left.remember(name);
      return true;
    },
  };
}

/**
 * Names in two generations of half the bound each: when the younger one is full, the older one is dropped. What callers ask for becomes
 * young again: that is what the application has.
 */
function createLeft({ names, characters }: Memory): {
  remember(name: string): void;
  forget(name: string): boolean;
} {
  let young = new Set<string>();
  let old = new Set<string>();
  let length = 0;
  return {
    remember(name) {
      if (length + name.length > characters / 2 || young.size + 1 > names / 2) {
        old = young;
        young = new Set();
        length = 0;
      }
      young.add(name);
      length += name.length;
    },
    forget(name) {
      if (young.delete(name)) {
        length -= name.length;
        return true;
      }
      return old.delete(name);
    },
  };
}
