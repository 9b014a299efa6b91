// Large answers of a procedure are made one in a turn of the event loop. Many calls may get their results at
// the same moment, as when all of them wait for one query: to encode it for each, one after the other, would
// keep the loop for seconds, whether its callers read the answers or not.

import { memoryExhausted } from "../base/errors.ts";
import type { EventLoop, Holding, MemoryBudget } from "../base/ports.ts";

/** Encoding an answer of this size keeps the loop for about a millisecond. */
export const largeBytes = 131_072;

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
  readonly fail: (reason: Error) => void;
}

/** The results of one procedure that wait, while its answers are large. */
interface Line {
  /** The size of the last answer. */
  bytes: number;
  waiting: Waiting[];
  holding: Holding | undefined;
}

export class LargeAnswers {
  readonly #loop: Pick<EventLoop, "turn">;
  readonly #memory: MemoryBudget;
  readonly #lines = new Map<string, Line>();
  #turns = 0;

  constructor({
    loop,
    memory,
  }: {
    readonly loop: Pick<EventLoop, "turn">;
    readonly memory: MemoryBudget;
  }) {
    this.#loop = loop;
    this.#memory = memory;
  }

  /**
   * Resolves when the answer to a call of `name` may be made. Returns `undefined` if it may at once. Its size isn't
   * known yet, so while its result waits it counts as large as the last one; throws if there is no room for that.
   */
  turn(name: string): Promise<void> | undefined {
    const line = this.#lines.get(name);
    if (line === undefined) return undefined;
    const { bytes } = line;
    line.holding ??= this.#memory.holding?.({
      progress: () => this.#turns,
      isUntaken: () => false,
      cut: () => {
        for (const { fail } of line.waiting.splice(0)) fail(memoryExhausted());
      },
    });
    if (line.holding?.takeAnswer(bytes) === false) throw memoryExhausted();
    return new Promise((go, fail) => line.waiting.push({ bytes, go, fail }));
  }

  /** The answer to a call of `name` was made. */
  made(name: string, bytes: number): void {
    const line = this.#lines.get(name);
    if (line !== undefined) line.bytes = bytes;
    else if (bytes > largeBytes) {
      this.#lines.set(name, { bytes, waiting: [], holding: undefined });
      this.#loop.turn(() => this.#next(name));
    }
  }

  #next(name: string): void {
    this.#turns++;
    const line = this.#lines.get(name)!;
    const first = line.waiting.shift();
    if (first === undefined) return void this.#lines.delete(name);
    line.holding?.give(first.bytes);
    first.go();
    this.#loop.turn(() => this.#next(name));
  }
}
