// One request to another service and its answer, as undici and streamed-request.ts report them.

import type { Dispatcher } from "undici";
import { DeadlineExceeded, memoryExhausted } from "../../../src/base/errors.ts";
import {
  type ByteStream,
  type HeldFor,
  type OutgoingRequest,
  type PeerResponse,
  TransportError,
  UnsentError,
} from "../../../src/base/ports.ts";
import { alreadyRead } from "../../../src/http/bodies.ts";
import { ChunkQueue } from "../../../src/http/chunk-queue.ts";
import type { CallSlot } from "./call-queue.ts";
import { chunkBytes, type HeldMemory, type Holder } from "../held-memory.ts";
import { type Progress, transportFailure } from "./transport-failure.ts";

type Controller = Dispatcher.DispatchController;

/** The sender waits while this much of an answer waits for its reader. */
const mostWaiting = 262_144;
/** The sender goes on when no more than this waits. */
const fewWaiting = 65_536;

export interface ExchangeParts {
  readonly origin: string;
  readonly request: OutgoingRequest;
  /** Bytes of an answer that is read as a whole. */
  readonly answerBytes: number;
  readonly slot?: CallSlot;
  /** Counts the bytes that wait for the reader. */
  readonly memory?: HeldMemory | undefined;
}

/**
 * Handles the events of one request; it is the body of its own answer. What holds its memory, and
 * what aborts it, get this object and no functions: with those, and with a controller that it kept,
 * a fifth of what gateways allocated lived until the next full collection.
 */
export class Exchange implements Dispatcher.DispatchHandler, ByteStream, HeldFor {
  /** Resolves with the answer's head. */
  readonly response: Promise<PeerResponse>;
  readonly #parts: ExchangeParts;
  readonly #queue: ChunkQueue;
  readonly #holder: Holder | undefined;
  #resolve!: (response: PeerResponse) => void;
  #reject!: (reason: unknown) => void;
  #controller: Controller | undefined;
  #progress: Progress = "waiting";
  #isOver = false;
  #isRead = false;
  /** Called when the whole answer is there, or never will be. */
  #whenOver: (() => void) | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #received = 0;
  #held = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    const { signal } = parts.request;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#queue = new ChunkQueue(this);
    this.#holder = parts.memory?.holder(this);
    // The request may have been aborted while it waited for its slot.
    if (signal?.aborted === true) this.handleEvent();
    else signal?.addEventListener("abort", this, { once: true });
  }

  /** Nobody waits for the answer any more. */
  handleEvent(): void {
    const { request, origin } = this.#parts;
    const reason: unknown = request.signal?.reason;
    this.#fail(this.#progress === "waiting" ? endedUnsent(origin, reason) : reason);
  }

  progress(): number {
    return this.#received;
  }

  isUntaken(): boolean {
    return false;
  }

  cut(): void {
    this.#fail(memoryExhausted());
  }

  /** Whether there is nothing to send any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The request's stream, whose errors are the request's. */
  async *upload(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) {
        if (this.#isOver) return;
        this.#received++;
        yield chunk;
      }
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#parts.slot?.started();
    if (this.#failure !== undefined) return controller.abort(this.#failure.reason as Error);
    // From here on bytes may be on their way: if something fails now, the call may have run.
    this.#progress = "sent";
  }

  onResponseStart(_: Controller, status: number, headers: PeerResponse["headers"]): void {
    // Nothing follows a 101, and no request asks for one. Others of 1xx precede the answer.
    if (status === 101 || status < 100 || status > 599) {
      const what = `${this.#parts.origin} answered with status ${status}, which is no answer`;
      return this.#fail(new TransportError(what, true));
    }
    if (status < 200) return;
    this.#progress = "answered";
    // Most answers arrive as a whole: then the parser goes on to their end before a microtask runs.
    queueMicrotask(() => {
      if (this.#failure !== undefined) return;
      if (!this.#isOver || this.#queue.size > this.#parts.answerBytes)
        return this.#resolve({ status, headers, body: this });
      this.#isRead = true;
      this.#resolve({ status, headers, body: this.#takeAll() });
    });
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const { memory, answerBytes, origin } = this.#parts;
    const held = chunk.length + chunkBytes;
    if (memory?.fits(held) === false) return this.#fail(memoryExhausted());
    this.#received += held;
    this.#held += held;
    this.#holder?.take(held);
    this.#queue.add(chunk);
    if (this.#whenOver === undefined) {
      if (this.#queue.size > mostWaiting) controller.pause();
    } else if (this.#queue.size > answerBytes) this.#fail(tooLarge(origin));
  }

  onResponseEnd(): void {
    this.#over();
    this.#queue.close();
    this.#whenOver?.();
  }

  onResponseError(_: Controller | undefined, error: Error): void {
    this.#over();
    const reason = transportFailure(error, this.#parts.origin, this.#progress);
    this.#settle(this.#failure?.reason ?? reason);
  }

  async bytes(): Promise<Uint8Array> {
    this.#read();
    const { answerBytes, origin } = this.#parts;
    if (this.#queue.size > answerBytes) this.#fail(tooLarge(origin));
    if (this.#failure !== undefined) throw this.#failure.reason;
    if (!this.#isOver)
      await new Promise<void>((resolve, reject) => {
        this.#whenOver = () =>
          this.#failure === undefined ? resolve() : reject(this.#failure.reason);
        if (this.#controller?.paused === true) this.#controller.resume();
      });
    return this.#takeAll();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    this.#read();
    return this.#queue;
  }

  /** The reader has taken a part of the answer. */
  onTaken(): void {
    if (this.#queue.size > fewWaiting) return;
    const held = this.#queue.size;
    this.#holder?.give(this.#held - held);
    this.#held = held;
    if (this.#isOver && held === 0) this.#holder?.close();
    else if (this.#controller?.paused === true) this.#controller.resume();
  }

  /** The reader doesn't want the rest. */
  onStop(): void {
    this.#fail(
      new TransportError(`The answer of ${this.#parts.origin} was not read to its end`, true),
    );
  }

  #read(): void {
    if (this.#isRead) throw alreadyRead("answer");
    this.#isRead = true;
  }

  #takeAll(): Uint8Array {
    const chunks = this.#queue.takeAll();
    this.#holder?.close();
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  #fail(reason: unknown): void {
    if (this.#failure !== undefined) return;
    // First: the controller would report an error of the connection. There is none before the
    // request starts.
    this.#settle(reason);
    if (!this.#isOver) this.#controller?.abort(reason as Error);
    this.#over();
  }

  #settle(reason: unknown): void {
    this.#failure ??= { reason };
    this.#holder?.close();
    this.#reject(reason);
    this.#queue.fail(reason);
    this.#whenOver?.();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller = undefined;
    this.#parts.request.signal?.removeEventListener("abort", this);
    this.#parts.slot?.ended();
  }
}

/**
 * Why a request ended before it had a connection: because its time was over, or because the other
 * side seems dead, which both say something about the other side; or because its caller left.
 */
function endedUnsent(origin: string, reason: unknown): unknown {
  if (!(reason instanceof DeadlineExceeded) && !(reason instanceof TransportError)) return reason;
  return new UnsentError(`${origin} did not accept the connection in time`, "silent", {
    cause: reason,
  });
}

function tooLarge(origin: string): TransportError {
  return new TransportError(`${origin} sent an answer that is too large`, true);
}
