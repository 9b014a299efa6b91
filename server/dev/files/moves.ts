// Reports moves. Moving a procedure saves two segment files, and if the new one is saved first, the
// procedure is in both for a moment. Both changes are live at once; only the report waits, so that
// they are reported as one move.

import type { Move } from "../session/session.ts";

/** Longer than an editor takes to save the second of two files. */
export const secondSaveMs = 150;

interface Held {
  readonly move: Move;
  readonly timer: NodeJS.Timeout;
}

export class Moves {
  readonly #report: (moves: readonly Move[], ms: number) => void;
  readonly #settled: () => Promise<void>;
  #held: readonly Held[] = [];

  /** `settled` resolves when all changes so far are live. */
  constructor(report: (moves: readonly Move[], ms: number) => void, settled: () => Promise<void>) {
    this.#report = report;
    this.#settled = settled;
  }

  /** Reports these moves now, except those that may be the first half of a move. */
  add(moves: readonly Move[], ms: number): void {
    const complete: Move[] = [];
    for (const move of moves) {
      const first = this.#take(move);
      if (first !== undefined && !isSame(first.from, move.to))
        complete.push({ ...move, from: first.from });
      else if (first !== undefined) complete.push(first, move);
      else if (isHalf(move)) this.#hold(move, ms);
      else complete.push(move);
    }
    if (complete.length > 0) this.#report(complete, ms);
  }

  close(): void {
    for (const { timer } of this.#held) clearTimeout(timer);
    this.#held = [];
  }

  #hold(move: Move, ms: number): void {
    const end = async (): Promise<void> => {
      await this.#settled();
      if (!this.#held.includes(held)) return;
      this.#held = this.#held.filter((entry) => entry !== held);
      this.#report([move], ms);
    };
    const held: Held = { move, timer: setTimeout(() => void end(), secondSaveMs) };
    this.#held = [...this.#held, held];
  }

  /** Removes and returns the first half of this move. */
  #take({ fqn, from }: Move): Move | undefined {
    const found = this.#held.find(({ move }) => move.fqn === fqn && isSame(move.to, from));
    clearTimeout(found?.timer);
    this.#held = this.#held.filter((entry) => entry !== found);
    return found?.move;
  }
}

/** The procedure is still where it was, and in another place too. */
function isHalf({ from, to }: Move): boolean {
  return (
    from.length > 0 && to.length > from.length && from.every((location) => to.includes(location))
  );
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.join() === b.join();
}
