// A stream that can be broken off while its reader waits for a chunk.

import { discard, stopReading } from "./bodies.ts";

export interface BreakableEvents {
  /** Its reader asks for a chunk, or has got one. */
  onMove?(): void;
  /** It is complete, broken off, given up by its reader, or its source has failed with `error`. */
  onEnd?(error?: unknown): void;
}

/** Has one reader. The source isn't asked for a chunk before the reader asks. */
export class BreakableBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #events: BreakableEvents;
  #reader: AsyncIterator<Uint8Array> | undefined;
  #broken: { readonly error: unknown } | undefined;
  #isOver = false;
  #reject: ((error: unknown) => void) | undefined;

  constructor(source: AsyncIterable<Uint8Array>, events: BreakableEvents) {
    this.#source = source;
    this.#events = events;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#broken !== undefined) throw this.#broken.error;
    if (this.#isOver) return { done: true, value: undefined };
    this.#events.onMove?.();
    try {
      const result = await this.#read();
      this.#events.onMove?.();
      if (result.done !== true) return result;
      this.#end();
      return { done: true, value: undefined };
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Its reader gives it up. The source may still be waiting for a chunk, and isn't waited for. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Its reader gets `error` next, whatever the source does. */
  breakOff(error: unknown): void {
    if (this.#isOver) return;
    this.#broken = { error };
    this.#reject?.(error);
    this.#stop();
  }

  #read(): Promise<IteratorResult<Uint8Array>> {
    const reader = (this.#reader ??= this.#source[Symbol.asyncIterator]());
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      reader.next().then(resolve, reject);
    });
  }

  #stop(): void {
    if (this.#isOver) return;
    if (this.#reader === undefined) discard(this.#source);
    else stopReading(this.#reader);
    this.#end();
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.onEnd?.(error);
  }
}
