// The body of a request that is read as a stream.

import type { IncomingMessage } from "node:http";
import { DeadlineExceeded, memoryExhausted, RequestTimeout } from "../../src/base/errors.ts";
import { ChunkQueue } from "../../src/http/chunk-queue.ts";
import type { CallerConnection, Leaver } from "./connection/caller-connection.ts";
import { chunkBytes } from "../host/held-memory.ts";
import { fewWaiting, mostWaiting } from "./connection/limits.ts";

export class BodyReader implements AsyncIterator<Uint8Array, undefined>, Leaver {
  place = -1;
  readonly #message: IncomingMessage;
  readonly #connection: CallerConnection;
  readonly #gone: () => Error;
  readonly #queue: ChunkQueue;
  readonly #unwatch: () => void;
  #isReceiving = true;
  #held = chunkBytes;

  constructor(message: IncomingMessage, connection: CallerConnection, gone: () => Error) {
    this.#message = message;
    this.#connection = connection;
    this.#gone = gone;
    this.#queue = new ChunkQueue(this);
    connection.holder.take(this.#held);
    this.#unwatch = connection.holder.watch(connection.idleMs, this.#idle);
    // A destroyed message has no more events.
    if (message.destroyed) this.#ended();
    else {
      message.on("data", this.#take);
      message.once("end", this.#end);
      connection.leavers.add(this);
    }
  }

  /** The body hasn't arrived completely. */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** Ends the stream; the reader gets `error` next. */
  fail(error: unknown): void {
    this.#stop();
    this.#queue.fail(error);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return this.#queue.next();
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    return this.#queue.return();
  }

  /** The reader has taken a part. */
  onTaken(bytes: number): void {
    this.#connection.holder.give(bytes);
    this.#held -= bytes;
    if (!this.#isReceiving) this.#release();
    else if (this.#queue.size <= fewWaiting && this.#message.isPaused()) this.#message.resume();
  }

  /** The reader has stopped. */
  onStop(): void {
    this.#stop();
  }

  readonly #take = (chunk: Buffer): void => {
    const { memory, holder } = this.#connection;
    if (!memory.fits(chunk.length)) return this.fail(memoryExhausted());
    holder.take(chunk.length);
    this.#held += chunk.length;
    this.#queue.add(chunk);
    if (this.#queue.size > mostWaiting) this.#message.pause();
  };

  readonly #end = (): void => {
    this.#stop();
    this.#queue.close();
  };

  readonly #idle = (): void => {
    const inTime = `in limits.idleTimeoutMs (${this.#connection.idleMs} ms)`;
    this.fail(
      this.#message.isPaused()
        ? new DeadlineExceeded(`Nothing of the request's body was read ${inTime}`)
        : new RequestTimeout(`Nothing more of the request's body arrived ${inTime}`),
    );
  };

  #ended(): void {
    if (this.#message.complete) this.#end();
    else this.leave();
  }

  // The caller is gone. The error isn't sent, but it ends the code that waits for the body.
  leave(): void {
    this.fail(this.#gone());
  }

  /** Stops reading. The sender has to wait then. */
  #stop(): void {
    if (!this.#isReceiving) return;
    this.#isReceiving = false;
    this.#unwatch();
    this.#message.off("data", this.#take);
    this.#message.off("end", this.#end);
    this.#message.pause();
    this.#connection.leavers.remove(this);
    this.#release();
  }

  /** Gives the memory back if nothing waits for the reader and nothing more will come. */
  #release(): void {
    if (this.#queue.size > 0) return;
    this.#connection.holder.give(this.#held);
    this.#held = 0;
  }
}
