// A Request of the web in the plain shape of src/base/ports.ts.

import {
  BadRequest,
  memoryExhausted,
  PayloadTooLarge,
  RequestTimeout,
} from "../../../src/base/errors.ts";
import type { HttpRequest } from "../../../src/base/ports.ts";
import { alreadyRead } from "../../../src/http/bodies.ts";
import { chunkBytes, type Holder } from "../../host/held-memory.ts";
import type { MountedService } from "./mounted-service.ts";

type Surroundings = Pick<MountedService, "memory" | "limits">;

export class WebRequest implements HttpRequest {
  readonly method: string;
  target: string;
  readonly scheme: "http" | "https";
  readonly address: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly holder: Holder;
  onCut: ((reason: Error) => void) | undefined = undefined;
  readonly #source: Request;
  readonly #memory: Surroundings["memory"];
  readonly #idleMs: number;
  readonly #ended = new AbortController();
  #body: Promise<Uint8Array> | undefined;
  #reader: WebBodyReader | undefined;
  #progress = 0;
  #isFinished = false;

  constructor(source: Request, address: string | undefined, { memory, limits }: Surroundings) {
    const url = new URL(source.url);
    this.method = source.method;
    this.target = url.pathname + url.search;
    this.scheme = url.protocol === "https:" ? "https" : "http";
    this.address = address;
    this.headers = { host: url.host, ...Object.fromEntries(source.headers) };
    this.#source = source;
    this.#memory = memory;
    this.#idleMs = limits.idleTimeoutMs;
    this.holder = memory.holder({
      progress: () => this.#progress,
      // Only its server knows how much it has written.
      isUntaken: () => false,
      cut: () => this.cut(memoryExhausted()),
    });
    const { signal } = source;
    const leave = (): void => this.#leave(new Error("The caller went away"));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { signal: this.#ended.signal });
  }

  get signal(): AbortSignal {
    return this.#departure.signal;
  }

  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#read() };
  }

  readonly #departure = new AbortController();

  /** Calls `act` when the caller leaves, or the service can wait no longer. */
  onLeave(act: () => void): void {
    if (this.#departure.signal.aborted) act();
    else this.#departure.signal.addEventListener("abort", act, { signal: this.#ended.signal });
  }

  /** A part of a body has moved. */
  moved(): void {
    this.#progress++;
  }

  /** The service stops, and can't wait for the request any longer. */
  cut(reason: Error): void {
    if (this.#isFinished) return;
    this.#leave(reason);
    this.onCut?.(reason);
  }

  /** The answer is complete, so the body isn't read any more. */
  finished(): void {
    this.#isFinished = true;
    this.onCut = undefined;
    this.#ended.abort();
    void this.#reader?.return();
    this.holder.close();
  }

  readBody(limit: number): Promise<Uint8Array> {
    if (this.#reader !== undefined && this.#body === undefined)
      return Promise.reject(alreadyRead("request"));
    return (this.#body ??= this.#collect(limit));
  }

  #leave(reason: Error): void {
    if (this.#isFinished || this.#departure.signal.aborted) return;
    this.#departure.abort(reason);
    this.#reader?.fail(new BadRequest("The request ended before its body did"));
  }

  #read(): WebBodyReader {
    if (this.#reader !== undefined) throw alreadyRead("request");
    const { body } = this.#source;
    return (this.#reader = new WebBodyReader(body, this.holder, this.#idleMs, () => this.moved()));
  }

  async #collect(limit: number): Promise<Uint8Array> {
    const tooLarge = (): PayloadTooLarge =>
      new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
    if (Number(this.headers["content-length"] ?? 0) > limit) throw tooLarge();
    const reader = this.#read();
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.next();
      if (done === true) break;
      size += value.length;
      const held = value.length + chunkBytes;
      if (size > limit || !this.#memory.fits(held)) {
        void reader.return();
        throw size > limit ? tooLarge() : memoryExhausted();
      }
      // Released with the request.
      this.holder.take(held);
      chunks.push(value);
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  }
}

/** Reads the body part by part: its server waits for the reader. */
class WebBodyReader implements AsyncIterator<Uint8Array, undefined> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #onMoved: () => void;
  readonly #failed: Promise<never>;
  readonly #unwatch: () => void;
  readonly #release: () => void;
  #fail!: (reason: Error) => void;
  #isOver = false;

  constructor(
    body: ReadableStream<Uint8Array> | null,
    holder: Holder,
    idleMs: number,
    onMoved: () => void,
  ) {
    this.#reader = body?.getReader();
    this.#onMoved = onMoved;
    this.#failed = new Promise((_, reject) => (this.#fail = reject));
    // It may fail while there is no reader, which isn't an unhandled rejection.
    this.#failed.catch(() => {});
    holder.take(chunkBytes);
    this.#release = () => holder.give(chunkBytes);
    this.#unwatch = holder.watch(idleMs, () =>
      this.fail(
        new RequestTimeout(
          `Nothing more of the request's body arrived in limits.idleTimeoutMs (${idleMs} ms)`,
        ),
      ),
    );
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#reader === undefined) this.#end();
    if (this.#isOver) return await Promise.race([this.#failed, done]);
    const { done: isDone, value } = await Promise.race([
      this.#reader!.read().catch(() => {
        throw new BadRequest("The request ended before its body did");
      }),
      this.#failed,
    ]);
    this.#onMoved();
    if (!isDone) return { done: false, value };
    this.#end();
    return await done;
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isOver) {
      this.#end();
      // The sender is told to stop. If that fails, nothing depends on it.
      this.#reader?.cancel().catch(() => {});
    }
    return await done;
  }

  /** Ends the body; the reader gets the error next. */
  fail(reason: Error): void {
    if (this.#isOver) return;
    this.#fail(reason);
    void this.return();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unwatch();
    this.#release();
  }
}

const done = Promise.resolve({ done: true, value: undefined } as const);
