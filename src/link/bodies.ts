// Bodies on a link, in parts. A sender sends what its receiver has room for, and no more than fits beside
// the calls that wait for the same channel.

import { memoryExhausted } from "../base/errors.ts";
import type { ByteStream, HeldFor, Holding, OutgoingRequest } from "../base/ports.ts";
import { alreadyRead, bytesOf, stopReading } from "../http/bodies.ts";
import { ChunkQueue } from "../http/chunk-queue.ts";
import type { FrameWriter } from "./frame-writer.ts";
import { chunkBytes, kinds } from "./frames.ts";
import type { Outbox, PartSource } from "./outbox.ts";
import { Window } from "./windows.ts";

/** A receiver has room for this many bytes of a body, until it has shown that it reads more in a round trip. */
export const windowBytes: number = 256 * 1024;
const mostWindowBytes = 4 * 1024 * 1024;
/** Room for one body while memory is short. */
const shortWindowBytes = chunkBytes;

/** A body that is here in one piece. */
export const wholeOf = (body: OutgoingRequest["body"]): Uint8Array | undefined =>
  typeof body === "string"
    ? new TextEncoder().encode(body)
    : body instanceof Uint8Array
      ? body
      : undefined;

/** A part takes at least this much of a window: many small ones cost more than their bytes. */
export const leastCost = 256;

/** What becomes of a body. */
export interface SendingBodyEvents {
  onSent(): void;
  /** Its source has failed, or its receiver left it untaken when memory was short. */
  onBroken(error: unknown): void;
}

/**
 * Sends a body. Nothing of a stream is asked for before its receiver wants some, so it may go elsewhere.
 * What is here in one piece can be sent again, so it needn't wait.
 */
export class SendingBody implements PartSource, HeldFor {
  readonly #source: AsyncIterable<Uint8Array> | undefined;
  readonly #stream: number;
  readonly #outbox: Outbox;
  readonly #events: SendingBodyEvents;
  #reader: AsyncIterator<Uint8Array, unknown> | undefined;
  #credit = 0;
  /** What was read and hasn't been sent. */
  #rest: Uint8Array | undefined;
  readonly #holding: Holding | undefined;
  /** A part of what was read keeps all of it. */
  #held = 0;
  #moved = 0;
  /** It reads, or waits for its turn. */
  #isBusy = false;
  #isOver = false;

  constructor(
    source: Uint8Array | AsyncIterable<Uint8Array>,
    stream: number,
    outbox: Outbox,
    events: SendingBodyEvents,
  ) {
    this.#stream = stream;
    this.#outbox = outbox;
    this.#events = events;
    this.#holding = outbox.holding(this);
    if (!(source instanceof Uint8Array)) this.#source = source;
    else this.#keep(source);
  }

  progress(): number {
    return this.#moved;
  }

  isUntaken(): boolean {
    return this.#rest !== undefined;
  }

  cut(): void {
    if (this.#isOver) return;
    this.stop();
    this.#events.onBroken(memoryExhausted());
  }

  /** The receiver takes this many bytes more. */
  grant(bytes: number): void {
    this.#credit += bytes;
    this.#go();
  }

  /** Nobody wants the rest. */
  stop(): void {
    if (this.#isOver) return;
    this.#end();
    if (this.#reader !== undefined) stopReading(this.#reader);
  }

  addPart(writer: FrameWriter): boolean {
    this.#isBusy = false;
    const rest = this.#rest;
    if (this.#isOver || rest === undefined) return false;
    const size = Math.min(chunkBytes, rest.length, Math.max(leastCost, this.#credit));
    writer.addBytes(kinds.chunk, this.#stream, size < rest.length ? rest.subarray(0, size) : rest);
    this.#credit -= Math.max(leastCost, size);
    this.#moved += size;
    if (size < rest.length) this.#rest = rest.subarray(size);
    else this.#drop();
    if (this.#rest !== undefined && this.#credit > 0) return (this.#isBusy = true);
    if (this.#rest === undefined && this.#source === undefined) this.#sent();
    else this.#go();
    return false;
  }

  #go(): void {
    if (this.#isBusy || this.#isOver || this.#credit <= 0) return;
    this.#isBusy = true;
    if (this.#rest === undefined) this.#read();
    else this.#outbox.ready(this);
  }

  #read(): void {
    try {
      this.#reader ??= this.#source![Symbol.asyncIterator]();
    } catch (error) {
      return this.#broke(error);
    }
    this.#reader.next().then(
      (result) => this.#got(result),
      (error: unknown) => this.#broke(error),
    );
  }

  #got({ done, value }: IteratorResult<Uint8Array, unknown>): void {
    this.#isBusy = false;
    if (this.#isOver) return;
    if (done === true) {
      this.#sent();
      return this.#outbox.flushSoon();
    }
    if (value.length > 0) this.#keep(value);
    this.#go();
  }

  #sent(): void {
    this.#end();
    this.#outbox.calls.addNumber(kinds.end, this.#stream);
    this.#events.onSent();
  }

  #broke(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#events.onBroken(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#drop();
  }

  #keep(bytes: Uint8Array): void {
    this.#rest = bytes;
    this.#held = bytes.length;
    this.#holding?.take(bytes.length);
  }

  #drop(): void {
    this.#rest = undefined;
    this.#holding?.give(this.#held);
    this.#held = 0;
  }
}

/** A body as it comes. Its reader decides how fast. */
export class ReceivedBody implements ByteStream {
  readonly #what: "request" | "answer";
  readonly #stream: number;
  readonly #outbox: Outbox;
  readonly #queue: ChunkQueue;
  #isRead = false;
  #isComplete = false;
  /** What has come and waits for the reader. */
  #held = 0;
  /** What the sender may still send. */
  #allowed = windowBytes;
  readonly #window: Window;
  /** An answer may begin at once, and what is longer than this of a request when it is read. */
  #isAccepted: boolean;

  /** `onStop`: the reader stopped before the end. */
  constructor(what: "request" | "answer", stream: number, outbox: Outbox, onStop: () => void) {
    this.#what = what;
    this.#isAccepted = what === "answer";
    this.#stream = stream;
    this.#outbox = outbox;
    this.#window = new Window(outbox.trips, windowBytes, mostWindowBytes);
    this.#queue = new ChunkQueue({ onTaken: (bytes) => this.#took(bytes), onStop });
  }

  /** The last part has come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * A part came, which may be kept as it is or copied, and takes at least this much of the window. Returns
   * `more` if the sender wasn't allowed to send it, and `memory` if there is no room for it.
   */
  add(bytes: Uint8Array, isKept: boolean, least: number): "more" | "memory" | undefined {
    if (this.#isComplete || this.#allowed <= 0) return "more";
    const cost = Math.max(least, bytes.length);
    this.#allowed -= cost;
    if (this.#queue.isEnded || bytes.length === 0) return undefined;
    if (!this.#outbox.fits(cost)) return "memory";
    this.#held += cost;
    this.#outbox.hold(cost);
    this.#queue.add(isKept ? bytes : new Uint8Array(bytes));
    return undefined;
  }

  close(): void {
    this.#isComplete = true;
    this.#shrink();
    this.#queue.close();
  }

  fail(error: unknown): void {
    this.#shrink();
    this.#queue.fail(error);
  }

  bytes(): Promise<Uint8Array> {
    return bytesOf(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isRead) throw alreadyRead(this.#what);
    this.#isRead = true;
    // Who waits for this has sent nothing so far.
    if (!this.#isAccepted && !this.#isComplete && !this.#queue.isEnded)
      this.#outbox.window(this.#stream, windowBytes);
    this.#isAccepted = true;
    return this.#queue;
  }

  #took(bytes: number): void {
    // What short parts took besides their bytes is free when none is left.
    const cost = this.#queue.size === 0 ? this.#held : bytes;
    this.#held -= cost;
    this.#outbox.hold(-cost);
    // Its number may be another call's by now.
    if (this.#isComplete || this.#queue.isEnded) return;
    const room = this.#size(cost) - this.#allowed - this.#held;
    if (room < chunkBytes) return;
    this.#allowed += room;
    this.#outbox.window(this.#stream, room);
  }

  /** How much may be on its way and wait, now that so many bytes more were read. */
  #size(read: number): number {
    const { bytes } = this.#window;
    if (!this.#outbox.fits(bytes)) {
      this.#shrink();
      return shortWindowBytes;
    }
    if (this.#window.moved(read) && this.#outbox.grow(bytes)) this.#window.double();
    return this.#window.bytes;
  }

  #shrink(): void {
    this.#outbox.shrink(this.#window.grown);
    this.#window.reset();
  }
}
