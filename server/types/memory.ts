// The notes of tests on one message. Each of its objects is compared with each type once, also if the message
// refers to it from many places, or from inside itself.

/** A generated test of a value. `made` means that there is no earlier result for it. */
export type Test = (value: unknown, context: TestContext, made?: 1) => boolean;

/** Notes that generated tests make while they run. */
export interface TestContext {
  /** Whether an object is an instance of the class with this key, or of one that extends it. */
  readonly isInstance: (key: string, value: object) => boolean;
  /** An object has members that its type doesn't name. */
  extra: boolean;
  /** Absent if no object can come twice. */
  readonly memory: Memory | undefined;
  /** For unions whose arms test the same parts, if there is no `memory`. */
  unions: Memory | undefined;
}

export function testContext(isInstance: TestContext["isInstance"], isTree: boolean): TestContext {
  return { isInstance, extra: false, memory: isTree ? undefined : new Memory(), unions: undefined };
}

/** The result of a test, for a context with a memory. */
export function testOnce(value: unknown, test: Test, context: TestContext): boolean {
  return typeof value !== "object" || value === null || context.memory === undefined
    ? test(value, context, 1)
    : context.memory.compare(value, test, context);
}

/** The result of a test that would take exponential time if it met the same parts again. */
export function testArms(value: unknown, test: Test, context: TestContext): boolean {
  if (typeof value !== "object" || value === null) return test(value, context, 1);
  const memory = context.memory ?? (context.unions ??= new Memory());
  return memory.compare(value, test, context);
}

/** The most comparisons of one object: with a union, its arms, and the types around it. */
const maxComparisons = 100;

const [no, yes, open] = [0, 1, 2] as const;

/** The known results for one object. Most have one comparison, and need no map. */
class Known {
  count = 0;
  #test: unknown;
  #result: number | undefined;
  #others: Map<unknown, number> | undefined;

  get(test: unknown): number | undefined {
    return test === this.#test ? this.#result : this.#others?.get(test);
  }

  /** A result; one of `open` and above belongs to a comparison that hasn't ended. */
  set(test: unknown, result: number | undefined): void {
    this.#test ??= test;
    if (test === this.#test) this.#result = result;
    else if (result !== undefined) (this.#others ??= new Map()).set(test, result);
    else this.#others?.delete(test);
  }
}

export class Memory {
  readonly #known = new Map<object, Known>();
  /** Successful comparisons in their order: an object, and after it the test. */
  readonly #found: unknown[] = [];
  #depth = 0;
  /** The outermost comparison whose result was taken before it ended. */
  #assumed = Infinity;

  /** Whether an object had too many comparisons, so that it was refused. */
  exhausted = false;

  /** The result of a test, made now if it wasn't before. */
  compare(value: object, test: Test, context: TestContext): boolean {
    let known = this.#known.get(value);
    if (known === undefined) this.#known.set(value, (known = new Known()));
    const before = known.get(test);
    if (before !== undefined) {
      // A cyclic value has the type unless another part contradicts it.
      if (before >= open) this.#assumed = Math.min(this.#assumed, before - open);
      return before !== no;
    }
    if (++known.count > maxComparisons) {
      this.exhausted = true;
      return false;
    }
    const depth = this.#depth++;
    known.set(test, open + depth);
    const start = this.#found.length;
    const assumedBefore = this.#assumed;
    this.#assumed = Infinity;
    const fits = test(value, context, 1);
    known.set(test, fits ? yes : no);
    this.#depth--;
    if (fits) this.#found.push(value, test);
    // Results that relied on this one are open again.
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
