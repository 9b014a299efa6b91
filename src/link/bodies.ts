// Bodies on a link, in parts. A sender stays within its receiver's window, and leaves room for the calls that
// wait for the same channel.

import { memoryExhausted } from "../base/errors.ts";
import type { ByteStream, HeldFor, Holding, OutgoingRequest } from "../base/ports.ts";
import { alreadyRead, bytesOf, stopReading } from "../http/bodies.ts";
import { ChunkQueue } from "../http/chunk-queue.ts";
import type { FrameWriter } from "./frame-writer.ts";
import { kinds } from "./frames.ts";
import type { Outbox, PartSource } from "./outbox.ts";
import { Window } from "./windows.ts";
import { chunkBytes, leastCost, mostWindowBytes, windowBytes } from "./limits.ts";

/** The window of a body while memory is short. */
const shortWindowBytes = chunkBytes;

/** The body's bytes, unless it is a stream. */
export function wholeOf(body: OutgoingRequest["body"]): Uint8Array | undefined {
  if (typeof body === "string") return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : undefined;
}

const nothing = new Uint8Array();

/** The bytes of a body that came with its head: copied, unless they may be kept. */
export function bytesBehind(rest: Uint8Array, isKept: boolean): Uint8Array {
  if (rest.length === 0) return nothing;
  return isKept ? rest : new Uint8Array(rest);
}

/** The body, if it is short enough to go with its head. */
export function shortOf(body: OutgoingRequest["body"]): Uint8Array | string | undefined {
  // A character has at most three bytes.
  if (typeof body === "string") return body.length <= chunkBytes / 3 ? body : undefined;
  return body instanceof Uint8Array && body.length <= chunkBytes ? body : undefined;
}

/** The outcome of sending a body. */
export interface SendingBodyEvents {
  onSent(): void;
  /** Its source has failed, or it was cut because its receiver took nothing while memory was short. */
  onBroken(error: unknown): void;
}

/**
 * Sends a body. A stream isn't read before its receiver grants a window, so the call can still go elsewhere.
 * A body in one piece can be sent again, so it needn't wait.
 */
export class SendingBody implements PartSource, HeldFor {
  readonly #source: AsyncIterable<Uint8Array> | undefined;
  readonly #stream: number;
  readonly #outbox: Outbox;
  readonly #events: SendingBodyEvents;
  #reader: AsyncIterator<Uint8Array, unknown> | undefined;
  #credit = 0;
  /** Bytes that were read and haven't been sent. */
  #rest: Uint8Array | undefined;
  readonly #holding: Holding | undefined;
  /** Bytes in memory: while a part of a chunk is unsent, all of the chunk is. */
  #held = 0;
  #moved = 0;
  /** It reads its source, or waits for its turn in the outbox. */
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

  /** The receiver's window has grown by this many bytes. */
  grant(bytes: number): void {
    this.#credit += bytes;
    this.#go();
  }

  /** The rest isn't needed any more. */
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

/** A body that is being received, as fast as it is read. */
export class ReceivedBody implements ByteStream {
  readonly #what: "request" | "answer";
  readonly #stream: number;
  readonly #outbox: Outbox;
  readonly #queue: ChunkQueue;
  #isRead = false;
  #isComplete = false;
  /** Bytes that have come and wait for the reader. */
  #held = 0;
  /** Bytes that the sender may still send. */
  #allowed = windowBytes;
  readonly #window: Window;
  /** Whether the window was granted: an answer's from the start, a request's when it is read. */
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
   * Adds a part, which takes at least `least` bytes of the window. It is copied unless `isKept`. Returns `more`
   * if it exceeds the window, and `memory` if there is no room for it.
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
    // The sender of a longer request has been waiting for this window.
    if (!this.#isAccepted && !this.#isComplete && !this.#queue.isEnded)
      this.#outbox.window(this.#stream, windowBytes);
    this.#isAccepted = true;
    return this.#queue;
  }

  #took(bytes: number): void {
    // Short parts took more of the window than their bytes. That is free when none is left.
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

  /** The size of the window, after `read` more bytes were read. */
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
