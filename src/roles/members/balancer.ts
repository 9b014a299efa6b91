// Round robin by name. The gateway doesn't know versions.

/** The holders of one procedure, in turn. */
export class Rotation<T> {
  #all: readonly T[];
  #next = 0;

  constructor(first: T) {
    this.#all = [first];
  }

  get size(): number {
    return this.#all.length;
  }

  /** A holder that names a procedure twice is one. */
  add(holder: T): void {
    // A new list, as there are many of them, and one that grows has room for seventeen.
    if (this.#all.at(-1) !== holder) this.#all = [...this.#all, holder];
  }

  remove(holder: T): void {
    const at = this.#all.indexOf(holder);
    if (at < 0) return;
    this.#all = this.#all.toSpliced(at, 1);
    // Keep the turn of the next holder.
    if (at < this.#next) this.#next--;
  }

  /** How many of the holders that count are in `part`, from 0 to 1. */
  share(counts: (holder: T) => boolean, part: ReadonlySet<T>): number {
    let [all, inPart] = [0, 0];
    for (const holder of this.#all) {
      if (!counts(holder)) continue;
      all++;
      if (part.has(holder)) inPart++;
    }
    return inPart / Math.max(1, all);
  }

  /** The next holder that may be called, if any. */
  next(mayCall: (holder: T) => boolean): T | undefined {
    for (let tries = this.#all.length; tries > 0; tries--) {
      if (this.#next >= this.#all.length) this.#next = 0;
      const holder = this.#all[this.#next++];
      if (holder !== undefined && mayCall(holder)) return holder;
    }
    return undefined;
  }
}

export interface Balancer<T> {
  add(holder: T, names: readonly string[]): void;
  remove(holder: T, names: readonly string[]): void;
  /** The current holders of a name, if there are any. */
  of(name: string): Rotation<T> | undefined;
  /** Whether the name had a holder, which is 503. A name that never had one is 404. */
  hasLeft(name: string): boolean;
}

/** Limits of the memory for names without holders. */
export interface Memory {
  readonly names: number;
  readonly characters: number;
}

/**
 * More than applications have. Without a limit, members that join with ever new names fill the
 * memory.
 */
const memory: Memory = { names: 200_000, characters: 8 * 1024 * 1024 };

export function createBalancer<T>(most: Memory = memory): Balancer<T> {
  const rotations = new Map<string, Rotation<T>>();
  const left = createLeft(most);
  return {
    add(holder, names) {
      for (const name of names) {
        const rotation = rotations.get(name);
        if (rotation === undefined) rotations.set(name, new Rotation(holder));
        else rotation.add(holder);
        left.forget(name);
      }
    },
    remove(holder, names) {
      for (const name of names) {
        const rotation = rotations.get(name);
        rotation?.remove(holder);
        if (rotation?.size !== 0) continue;
        rotations.delete(name);
        left.remember(name);
      }
    },
    of: (name) => rotations.get(name),
    hasLeft(name) {
      if (!left.forget(name)) return false;
      left.remember(name);
      return true;
    },
  };
}

/**
 * Names in two generations of half the limit each: once the young one is full, the old one is
 * dropped. A name that callers ask for becomes young again.
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
