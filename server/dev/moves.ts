// What is told of moves. A procedure that leaves one segment file and comes into another is saved twice: where it comes first, it is for a
// moment in both places. It is there at once; only the word of it waits, so that the two are told as the one move that was meant.

import type { Move } from "./session.ts";

/** An editor takes less to save the second of two files, in ms. */
export const secondSave = 150;

interface Held {
  readonly move: Move;
  readonly timer: NodeJS.Timeout;
}

export class Moves {
  readonly #tell: (moves: readonly Move[], ms: number) => void;
  readonly #settled: () => Promise<void>;
  #held: readonly Held[] = [];

  /** `settled` resolves when all changes that were seen so far are live. */
  constructor(tell: (moves: readonly Move[], ms: number) => void, settled: () => Promise<void>) {
    this.#tell = tell;
    this.#settled = settled;
  }

  /** Tells these moves: those that may be the first half of another one in a moment, the others now. */
  add(moves: readonly Move[], ms: number): void {
    const now: Move[] = [];
    for (const move of moves) {
      const first = this.#take(move);
      if (first !== undefined && !isSame(first.from, move.to))
        now.push({ ...move, from: first.from });
      else if (first !== undefined) now.push(first, move);
      else if (isHalf(move)) this.#hold(move, ms);
      else now.push(move);
    }
    if (now.length > 0) this.#tell(now, ms);
  }

  close(): void {
    for (const { timer } of this.#held) clearTimeout(timer);
    this.#held = [];
  }

  #hold(move: Move, ms: number): void {
    const end = async (): Promise<void> => {
      await this.#settled();
      if (!this.#held.includes(held)) return;
      this.#held = this.#held.filter((one) => one !== held);
      this.#tell([move], ms);
    };
    const held: Held = { move, timer: setTimeout(() => void end(), secondSave) };
    this.#held = [...this.#held, held];
  }

  /** The half that this one goes on from; it is held no longer. */
  #take({ fqn, from }: Move): Move | undefined {
    const found = this.#held.find(({ move }) => move.fqn === fqn && isSame(move.to, from));
    clearTimeout(found?.timer);
    this.#held = this.#held.filter((one) => one !== found);
    return found?.move;
  }
}

/** It is where it was, and in another place too. */
function isHalf({ from, to }: Move): boolean {
  return from.length > 0 && to.length > from.length && from.every((place) => to.includes(place));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}
