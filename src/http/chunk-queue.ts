// A queue between a connection and the code that reads a body from it.

/** Callbacks of a producer, for when its reader has moved on. */
export interface QueueEvents {
  /** The reader has taken this many bytes, or given them up. */
  onTaken(bytes: number): void;
  /** The reader stopped before the end. */
  onStop(): void;
}

/** Chunks from one producer to one reader. The producer keeps its `size` small. */
export class ChunkQueue implements AsyncIterator<Uint8Array, undefined> {
  readonly #chunks: Uint8Array[] = [];
  readonly #events: QueueEvents;
  #size = 0;
  #end: { readonly error?: unknown } | undefined;
  #waiting:
    | { resolve(result: IteratorResult<Uint8Array, undefined>): void; reject(error: unknown): void }
    | undefined;

  constructor(events: QueueEvents) {
    this.#events = events;
  }

  /** Bytes that wait for the reader. */
  get size(): number {
    return this.#size;
  }

  /** Takes no more chunks: the producer is done, or the reader has left. */
  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  add(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#deliver();
  }

  /** The producer is done. The reader still gets the queued chunks. */
  close(): void {
    this.#end ??= {};
    this.#deliver();
  }

  /** The reader gets an error next, in place of the queued chunks. */
  fail(error: unknown): void {
    if (this.#end !== undefined && "error" in this.#end) return;
    this.#end = { error };
    this.#clear();
    this.#deliver();
  }

  /** Everything that waits, at once. */
  takeAll(): Uint8Array[] {
    const all = this.#chunks.splice(0);
    this.#clear();
    return all;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const isEarly = this.#end === undefined;
    this.#end ??= {};
    this.#clear();
    this.#deliver();
    if (isEarly) this.#events.onStop();
    return Promise.resolve({ done: true, value: undefined });
  }

  #clear(): void {
    const size = this.#size;
    this.#chunks.length = 0;
    this.#size = 0;
    if (size > 0) this.#events.onTaken(size);
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const chunk = this.#chunks.shift();
    if (chunk === undefined && this.#end === undefined) return;
    this.#waiting = undefined;
    if (chunk !== undefined) {
      this.#size -= chunk.length;
      this.#events.onTaken(chunk.length);
      waiting.resolve({ done: false, value: chunk });
    } else if (this.#end !== undefined && "error" in this.#end) waiting.reject(this.#end.error);
    else waiting.resolve({ done: true, value: undefined });
  }
}
