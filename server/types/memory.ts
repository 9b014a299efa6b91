// What was found of one message's objects: each is compared with each type once, also if the message
// refers to it from many places, or from inside itself.

/** Comparisons of one object: with a union, its arms, and what they are part of. */
const maxComparisons = 100;

const [no, yes, open] = [0, 1, 2] as const;

/** What is known of one object. Most have one comparison, and need no map. */
class Known {
  count = 0;
  #type: unknown;
  #result: number | undefined;
  #others: Map<unknown, number> | undefined;

  get(type: unknown): number | undefined {
    return type === this.#type ? this.#result : this.#others?.get(type);
  }

  /** A result; one of `open` and above belongs to a comparison that hasn't ended. */
  set(type: unknown, result: number | undefined): void {
    this.#type ??= type;
    if (type === this.#type) this.#result = result;
    else if (result !== undefined) (this.#others ??= new Map()).set(type, result);
    else this.#others?.delete(type);
  }
}

export class Memory {
  readonly #known = new Map<object, Known>();
  /** What was found to be right, in that order: an object, and after it the type. */
  readonly #found: unknown[] = [];
  #depth = 0;
  /** The outermost comparison whose result was taken before it ended. */
  #assumed = Infinity;

  /** Whether an object had too many comparisons, so that it was refused. */
  exhausted = false;

  /** The result of a comparison, made now if it wasn't before. */
  compare<Context>(
    value: object,
    type: unknown,
    test: (value: object, context: Context) => boolean,
    context: Context,
  ): boolean {
    let known = this.#known.get(value);
    if (known === undefined) this.#known.set(value, (known = new Known()));
    const before = known.get(type);
    if (before !== undefined) {
      // A value that contains itself has the type unless something else contradicts it.
      if (before >= open) this.#assumed = Math.min(this.#assumed, before - open);
      return before !== no;
    }
    if (++known.count > maxComparisons) {
      this.exhausted = true;
      return false;
    }
    const depth = this.#depth++;
    known.set(type, open + depth);
    const start = this.#found.length;
    const assumedBefore = this.#assumed;
    this.#assumed = Infinity;
    const fits = test(value, context);
    known.set(type, fits ? yes : no);
    this.#depth--;
    if (fits) this.#found.push(value, type);
    // What was right only because this was assumed to be right isn't known.
    else if (this.#assumed <= depth) this.#forget(start);
    const isOpen = fits && this.#assumed < depth;
    this.#assumed = isOpen ? Math.min(assumedBefore, this.#assumed) : assumedBefore;
    return fits;
  }

  #forget(start: number): void {
    const later = this.#found.splice(start);
    for (let at = 0; at < later.length; at += 2)
      this.#known.get(later[at] as object)?.set(later[at + 1], undefined);
  }
}
