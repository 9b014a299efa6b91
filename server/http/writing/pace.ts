// How many bytes of large answers one turn of the event loop moves. A turn accepts one connection, so a
// new caller waits for as many turns as there are callers before it: with a turn that fills the system's
// buffers of hundreds of connections, it would wait for seconds.

/**
 * Two pieces, which keep the loop for about a millisecond. Fewer turns would hardly be faster: what a
 * turn costs by itself is a few per cent of this.
 */
export const turnBytes = 131_072;

interface Waiting {
  readonly length: number;
  readonly go: () => void;
}

/** Lets pieces of answers leave, those that came first before the others. */
export class Pace {
  readonly #turn: (next: () => void) => void;
  readonly #waiting: Waiting[] = [];
  #left = turnBytes;
  #isTurning = false;

  constructor(turn: (next: () => void) => void = setImmediate) {
    this.#turn = turn;
  }

  /** Resolves when a piece of this length may be written. Undefined: now. */
  piece(length: number): Promise<void> | undefined {
    if (!this.#isTurning) {
      this.#isTurning = true;
      this.#turn(this.#next);
    }
    if (this.#waiting.length === 0 && this.#left > 0) {
      this.#left -= length;
      return undefined;
    }
    return new Promise((go) => this.#waiting.push({ length, go }));
  }

  readonly #next = (): void => {
    this.#isTurning = this.#waiting.length > 0 || this.#left < turnBytes;
    this.#left = turnBytes;
    let count = 0;
    for (const { length, go } of this.#waiting) {
      if (this.#left <= 0) break;
      this.#left -= length;
      count++;
      go();
    }
    this.#waiting.splice(0, count);
    if (this.#isTurning) this.#turn(this.#next);
  };
}

/** All services of a process share its event loop. */
export const pace: Pace = new Pace();
