// Round robin by name, for members that share lists of names. The gateway doesn't know versions.
// A name costs the same with one holder as with a thousand: names that are in the same lists share
// the holders of those lists.

/** A participant in a rotation. */
export interface Holder {
  /** Ascends with the joining of holders, so that each keeps its place in all rotations. */
  readonly order: number;
}

/** A list, and its holders. */
interface Part<T extends Holder> {
  readonly id: number;
  readonly holders: T[];
  /** All groups of names that are in this list. */
  readonly groups: Set<Group<T>>;
}

/** The names that are in exactly these lists. */
class Group<T extends Holder> {
  readonly key: string;
  readonly parts: readonly Part<T>[];
  /** Of all its lists, in the order of their joining. */
  readonly holders: T[];
  /** The number of names. */
  names = 0;

  constructor(key: string, parts: readonly Part<T>[]) {
    this.key = key;
    this.parts = parts;
    this.holders = parts
      .flatMap(({ holders }) => holders)
      .toSorted((left, right) => left.order - right.order);
  }
}

/** The holders of one name, in turn. */
export class Rotation<T extends Holder> {
  /** Its lists, and thereby its holders. */
  group: Group<T>;
  /** The order of the holder that had the last turn, so that a leaving holder doesn't change whose turn is next. */
  #last = -1;
  /** The place after it, unless a holder has left meanwhile. */
  #next = 0;

  constructor(group: Group<T>) {
    this.group = group;
  }

  /** The next holder that may be called, if any. */
  next(mayCall: (holder: T) => boolean): T | undefined {
    const { holders } = this.group;
    const isThere = this.#next > 0 && holders[this.#next - 1]?.order === this.#last;
    let at = isThere ? this.#next : placeAfter(holders, this.#last);
    for (let tries = holders.length; tries > 0; tries--) {
      if (at === holders.length) at = 0;
      const holder = holders[at++];
      if (holder === undefined || !mayCall(holder)) continue;
      this.#last = holder.order;
      this.#next = at;
      return holder;
    }
    return undefined;
  }
}

/** The place of the first holder that joined later than the one with this order. */
function placeAfter(holders: readonly Holder[], order: number): number {
  let [low, high] = [0, holders.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((holders[middle]?.order ?? Infinity) > order) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Removes a holder from a list in the order of joining. */
function removeFrom<T extends Holder>(holders: T[], { order }: T): void {
  const at = placeAfter(holders, order) - 1;
  if (holders[at]?.order === order) holders.splice(at, 1);
}

/** `names` are asked for only with the first holder of a list, and with the last. */
export interface Balancer<T extends Holder> {
  /** Returns whether the list is new. Later holders have a higher order. */
  add(holder: T, list: object, names: () => readonly string[]): boolean;
  /** Returns whether the list has no holder any more. */
  remove(holder: T, list: object, names: () => readonly string[]): boolean;
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

export function createBalancer<T extends Holder>(most: Memory = memory): Balancer<T> {
  const rotations = new Map<string, Rotation<T>>();
  const parts = new Map<object, Part<T>>();
  const groups = new Map<string, Group<T>>();
  const left = createLeft(most);
  let ids = 0;

  const groupOf = (lists: readonly Part<T>[]): Group<T> => {
    const key = lists.map(({ id }) => id).join(" ");
    let group = groups.get(key);
    if (group === undefined) {
      group = new Group(key, lists);
      groups.set(key, group);
      for (const part of lists) part.groups.add(group);
    }
    return group;
  };

  const leaveGroup = (group: Group<T>): void => {
    if (--group.names > 0) return;
    groups.delete(group.key);
    for (const part of group.parts) part.groups.delete(group);
  };

  const addNames = (part: Part<T>, names: readonly string[]): void => {
    /** Names that were in the same lists still are. */
    const next = new Map<Group<T> | undefined, Group<T>>();
    for (const name of names) {
      const rotation = rotations.get(name);
      const previous = rotation?.group;
      // A list may name something twice.
      if (previous?.parts.at(-1) === part) continue;
      let group = next.get(previous);
      if (group === undefined)
        next.set(previous, (group = groupOf([...(previous?.parts ?? []), part])));
      group.names++;
      if (rotation === undefined) {
        rotations.set(name, new Rotation(group));
        left.forget(name);
      } else {
        rotation.group = group;
        if (previous !== undefined) leaveGroup(previous);
      }
    }
  };

  const removeNames = (part: Part<T>, names: readonly string[]): void => {
    const next = new Map<Group<T>, Group<T> | undefined>();
    for (const name of names) {
      const rotation = rotations.get(name);
      const previous = rotation?.group;
      if (rotation === undefined || previous === undefined) continue;
      if (!next.has(previous)) {
        if (!previous.parts.includes(part)) continue;
        const others = previous.parts.filter((entry) => entry !== part);
        next.set(previous, others.length === 0 ? undefined : groupOf(others));
      }
      const group = next.get(previous);
      if (group === undefined) {
        rotations.delete(name);
        left.remember(name);
      } else {
        group.names++;
        rotation.group = group;
      }
      leaveGroup(previous);
    }
  };

  return {
    add(holder, list, names) {
      let part = parts.get(list);
      const isNew = part === undefined;
      if (part === undefined) {
        part = { id: ++ids, holders: [], groups: new Set() };
        parts.set(list, part);
        addNames(part, names());
      }
      part.holders.push(holder);
      for (const group of part.groups) group.holders.push(holder);
      return isNew;
    },
    remove(holder, list, names) {
      const part = parts.get(list);
      if (part === undefined) return false;
      removeFrom(part.holders, holder);
      for (const group of part.groups) removeFrom(group.holders, holder);
      if (part.holders.length > 0) return false;
      parts.delete(list);
      removeNames(part, names());
      return true;
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
