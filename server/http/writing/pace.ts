// How much one turn of the event loop does for callers who take all they can get. A turn accepts one
// connection, so a new caller waits for as many turns as there are callers before it: with a turn that
// fills the system's buffers of hundreds of connections, it would wait for seconds.

/**
 * Two pieces, which keep the loop for about a millisecond. Fewer turns would hardly be faster: what a
 * turn costs by itself is a few per cent of this.
 */
export const turnBytes = 131_072;

/** As many connections whose requests for a link were refused twice go on with the next one. */
export const turnRefusals = 1;

interface Waiting {
  readonly size: number;
  readonly go: () => void;
}

/** Lets so much happen in a turn of the event loop, what came first before the rest. */
export class Pace {
  readonly #most: number;
  readonly #turn: (next: () => void) => void;
  readonly #waiting: Waiting[] = [];
  #left: number;
  #isTurning = false;

  constructor(most: number, turn: (next: () => void) => void = setImmediate) {
    this.#most = most;
    this.#left = most;
    this.#turn = turn;
  }

  /** Resolves when it is the turn of something of this size. Undefined: now. */
  piece(size: number): Promise<void> | undefined {
    if (!this.#isTurning) {
      this.#isTurning = true;
      this.#turn(this.#next);
    }
    if (this.#waiting.length === 0 && this.#left > 0) {
      this.#left -= size;
      return undefined;
    }
    return new Promise((go) => this.#waiting.push({ size, go }));
  }

  readonly #next = (): void => {
    this.#isTurning = this.#waiting.length > 0 || this.#left < this.#most;
    this.#left = this.#most;
    let count = 0;
    for (const { size, go } of this.#waiting) {
      if (this.#left <= 0) break;
      this.#left -= size;
      count++;
      go();
    }
    this.#waiting.splice(0, count);
    if (this.#isTurning) this.#turn(this.#next);
  };
}

// All services of a process share its event loop.
export const answerPace: Pace = new Pace(turnBytes);
export const refusalPace: Pace = new Pace(turnRefusals);
