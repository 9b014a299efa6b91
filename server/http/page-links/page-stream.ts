// One stream of a page's link: the request as roles see it, and the text of its answer on the way to the page.

import { isUtf8 } from "node:buffer";

import { Abort } from "../../../src/base/aborts.ts";
import { PayloadTooLarge } from "../../../src/base/errors.ts";
import { windowBytes } from "../../../src/base/page-link.ts";
import type { HeldFor, Holding, HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import type { RequestNotes } from "../../../src/base/ports/telemetry.ts";
import { isBodiless } from "../../../src/http/answers.ts";
import { alreadyRead, chunksOf, discard, stopReading } from "../../../src/http/bodies.ts";
import { chunkBytes, type HeldMemory } from "../../host/held-memory.ts";
import { mostChunks, pieceBytes } from "../connection/limits.ts";
import { endOfCharacters, splitTail } from "./characters.ts";
import type { Handshake, StreamHead } from "./stream-head.ts";

/** The link, as its streams see it. */
export interface StreamOwner {
  readonly memory: HeldMemory;
  say(message: string): void;
  /** It has text to send, and credit for some of it. */
  waits(stream: PageStream): void;
  /** Its request and its answer are over. */
  over(stream: PageStream): void;
  onFault(fault: unknown): void;
  /** An answer sets a cookie, which a link can't carry. */
  onCookie(): void;
}

const nothing = new Uint8Array();

export class PageStream implements HttpRequest, HeldFor {
  readonly id: number;
  readonly method = "POST";
  readonly scheme: "http" | "https";
  readonly address: string | undefined;
  readonly headers: StreamHead["headers"];
  readonly cookiesAreSent = false;
  target: string;
  waitedMs = 0;
  onCut: ((reason: Error) => void) | undefined = undefined;
  notes: RequestNotes | undefined = undefined;
  /** Whether it is queued for its turn on the link. */
  isInTurn = false;
  readonly departure: Abort = new Abort();
  readonly #owner: StreamOwner;
  readonly #holding: Holding;
  #body: Uint8Array | undefined;
  #reader: AsyncIterator<Uint8Array> | undefined;
  #hasHead = false;
  /** The page wants nothing more of it, or gets nothing more. */
  #isOver = false;
  #credit = windowBytes;
  /** Whole characters that wait. */
  #rest: Uint8Array = nothing;
  /** How many chunks they are of, and the memory that is held for these. */
  #chunks = 0;
  #held = 0;
  #sent = 0;
  #allLeft = (): void => {};

  constructor(id: number, head: StreamHead, handshake: Handshake, owner: StreamOwner) {
    this.id = id;
    this.target = head.target;
    this.headers = head.headers;
    this.#body = head.body;
    this.scheme = handshake.scheme;
    this.address = handshake.address;
    this.#owner = owner;
    this.#holding = owner.memory.holding(this);
  }

  get signal(): AbortSignal {
    return this.departure.signal;
  }

  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => chunksOf(this.#taken())[Symbol.asyncIterator]() };
  }

  readBody(limit: number): Uint8Array | Promise<Uint8Array> {
    const body = this.#taken();
    return body.length <= limit
      ? body
      : Promise.reject(
          new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`),
        );
  }

  #taken(): Uint8Array {
    const body = this.#body;
    if (body === undefined) throw alreadyRead("request");
    this.#body = undefined;
    return body;
  }

  /** Answers it. Never rejects. */
  async run(handle: (request: HttpRequest) => Promise<HttpResponse>): Promise<void> {
    const owner = this.#owner;
    try {
      const { status, headers, body } = await handle(this);
      if (this.#isOver) return discard(body);
      this.#hasHead = true;
      // Procedures are refused this, but middleware may set any header.
      if (headers["set-cookie"] !== undefined) owner.onCookie();
      owner.say(`open ${this.id} ${JSON.stringify({ status, headers: forPage(headers) })}`);
      if (isBodiless(status)) discard(body);
      else await this.#send(body);
      if (!this.#isOver) owner.say(`end ${this.id}`);
    } catch (fault) {
      if (this.#isOver) return;
      owner.say(`cancel ${this.id}`);
      owner.onFault(fault);
    } finally {
      this.#end();
      owner.over(this);
    }
  }

  async #send(body: HttpResponse["body"]): Promise<void> {
    const reader = (this.#reader = chunksOf(body)[Symbol.asyncIterator]());
    let tail: Uint8Array = nothing;
    for (;;) {
      const { done, value } = await reader.next();
      if (this.#isOver) return;
      if (done === true) break;
      const bytes = tail.length === 0 ? value : Buffer.concat([tail, value]);
      const [whole, incomplete] = splitTail(bytes);
      if (!isUtf8(whole)) throw notText();
      tail = incomplete;
      if (whole.length > 0) await this.#adds(whole);
    }
    if (tail.length > 0) throw notText();
    await this.#empties();
  }

  /** Resolves when there is room for more: short chunks that wait for their turn leave together. */
  async #adds(bytes: Uint8Array): Promise<void> {
    const held = bytes.length + chunkBytes;
    this.#held += held;
    this.#holding.take(held);
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#chunks++;
    if (this.hasText) this.#owner.waits(this);
    if (this.#rest.length >= pieceBytes || this.#chunks >= mostChunks) await this.#empties();
  }

  /** Resolves when nothing waits, or is wanted, any more. */
  async #empties(): Promise<void> {
    if (this.#rest.length > 0) await new Promise<void>((resolve) => (this.#allLeft = resolve));
  }

  /** Nothing waits any more. */
  #isEmpty(): void {
    this.#rest = nothing;
    this.#chunks = 0;
    this.#holding.give(this.#held);
    this.#held = 0;
    this.#allLeft();
  }

  /** The size of the next piece; 0 if nothing waits, or there is no credit for it. */
  get pieceSize(): number {
    return endOfCharacters(this.#rest, Math.min(pieceBytes, this.#credit));
  }

  get hasText(): boolean {
    return this.pieceSize > 0;
  }

  /** The next piece of its text. */
  piece(): Uint8Array {
    const end = this.pieceSize;
    const piece = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end);
    this.#credit -= end;
    this.#sent += end;
    if (this.#rest.length === 0) this.#isEmpty();
    return piece;
  }

  /** The page has read this much. Returns whether it had got that. */
  credited(bytes: number): boolean {
    this.#credit += bytes;
    if (this.hasText) this.#owner.waits(this);
    return this.#credit <= windowBytes;
  }

  /** The page doesn't want it any more, or is gone. */
  left(): void {
    this.#end(new Error("The caller went away"));
  }

  /** The service stops, and can't wait for it any longer. */
  stop(reason: Error): void {
    if (this.#isOver) return;
    if (this.#hasHead) return this.#cut(reason);
    this.departure.abort(reason);
    this.onCut?.(reason);
  }

  /** Its memory is needed, and its reader has stalled. */
  cut(): void {
    this.#cut(new Error("The caller doesn't read its answer"));
  }

  #cut(reason: Error): void {
    if (this.#isOver) return;
    this.#owner.say(`cancel ${this.id}`);
    this.#end(reason);
  }

  progress(): number {
    return this.#sent;
  }

  isUntaken(): boolean {
    return this.#rest.length > 0;
  }

  /**
   * With `reason`, it ends early. The signal aborts before the body returns, so that a wait in the body can
   * end.
   */
  #end(reason?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (reason !== undefined) this.departure.abort(reason);
    this.onCut = undefined;
    this.#isEmpty();
    if (this.#reader !== undefined) stopReading(this.#reader);
  }
}

/** The fields of an answer that the runtime of a page reads. Over a link, no rule of CORS hides any from its scripts. */
function forPage(headers: HttpResponse["headers"]): HttpResponse["headers"] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(?:content-type|retry-after|x-svc-.*)$/.test(name),
    ),
  );
}

function notText(): Error {
  return new Error("An answer over a page's link isn't text in UTF-8");
}
