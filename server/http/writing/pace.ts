import { turnBytes, turnRefusals } from "../connection/limits.ts";
// Limits the work of one turn of the event loop for callers that take large answers. A turn accepts one connection,
// so a new caller waits for as many turns as there are callers before it. If a turn filled the system's buffers of
// hundreds of connections, that would take seconds.

interface Waiting {
  readonly size: number;
  readonly go: () => void;
}

/** Lets this much happen in a turn of the event loop, first come, first served. */
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

  /** Resolves when it is the turn of something of this size; `undefined` if that is now. */
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
