// A collection of current items, for items that come and go with every call.

/** An item of a bag. It can be in one bag at a time. */
export interface Bagged {
  /** Where in its bag it is; -1 in none. Only the bag writes it. */
  place: number;
}

/**
 * Unordered items. Not a `Set`: each time one has seen a few additions and removals, V8 makes it a new table, and
 * the old one keeps its contents and points to the new one. Once a table is in old space, all later ones, with the
 * calls that were ever in them, live until the next full collection.
 */
export class Bag<T extends Bagged> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    if (item.place >= 0) return;
    item.place = this.#items.length;
    this.#items.push(item);
  }

  remove(item: T): void {
    const { place } = item;
    if (this.#items[place] !== item) return;
    const last = this.#items.pop()!;
    item.place = -1;
    if (last === item) return;
    this.#items[place] = last;
    last.place = place;
  }

  /** All of them now: the list doesn't change with the bag. */
  all(): T[] {
    return [...this.#items];
  }
}
