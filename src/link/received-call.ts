// A call that came over a link.

import { Abort } from "../base/aborts.ts";
import { NodeNotAvailable, memoryExhausted } from "../base/errors.ts";
import type { CallFrom, HeaderFields, HttpResponse } from "../base/ports.ts";
import { chunksOf, discard } from "../http/bodies.ts";
import { ReceivedBody, SendingBody, wholeOf, windowBytes } from "./bodies.ts";
import { chunkBytes, kinds, ProtocolError } from "./frames.ts";
import { answerHead, readCallHead } from "./heads.ts";
import type { ArrivedCall } from "./calls.ts";
import type { Outbox } from "./outbox.ts";
import { addHeadFrame, bodyFollows, headIn } from "./payload.ts";
import type { Streams } from "./streams.ts";

const nothing = new Uint8Array();

export class ReceivedCall implements ArrivedCall {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderFields;
  readonly from: CallFrom;
  readonly body: Uint8Array | ReceivedBody;
  cutter: { cut(reason: Error): void } | undefined;
  readonly #outbox: Outbox;
  readonly #streams: Streams<ReceivedCall>;
  readonly #stream: number;
  readonly #onTransfer: (begins: boolean) => void;
  #isTransferring = false;
  #download: SendingBody | undefined;
  #departure: Abort | undefined;
  /** Of the body that is here, until nobody needs it. */
  #held = 0;
  #hasLeft = false;
  #isOver = false;

  constructor(
    outbox: Outbox,
    streams: Streams<ReceivedCall>,
    stream: number,
    from: CallFrom,
    payload: Uint8Array,
    isKept: boolean,
    onTransfer: (begins: boolean) => void,
  ) {
    const { text, flags, rest } = headIn(payload);
    const { method, target, headers } = readCallHead(text);
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.from = from;
    this.#outbox = outbox;
    this.#streams = streams;
    this.#stream = stream;
    this.#onTransfer = onTransfer;
    const isLater = (flags & bodyFollows) !== 0;
    if (isLater && rest.length > 0) throw new ProtocolError("A body twice");
    streams.put(stream, this);
    outbox.began(false);
    if (isLater) this.#transfer(true);
    this.body = isLater
      ? new ReceivedBody("request", stream, outbox, () => {})
      : rest.length === 0
        ? nothing
        : isKept
          ? rest
          : new Uint8Array(rest);
    if (!isLater) this.#hold(rest.length);
  }

  get departure(): Abort {
    return (this.#departure ??= new Abort());
  }

  keeps(bytes: number): boolean {
    if (!this.#outbox.fits(bytes)) return false;
    this.#hold(bytes);
    return true;
  }

  /** `onFault` gets why a body breaks off: the other end only learns that it does. */
  answer(answer: HttpResponse, onFault: (fault: unknown) => void): void {
    if (this.#isOver) return discard(answer.body);
    if (this.#hasLeft) {
      discard(answer.body);
      return this.fail();
    }
    const { body = "" } = answer;
    // A character has at most three bytes.
    const isWhole =
      typeof body === "string"
        ? body.length <= chunkBytes / 3
        : body instanceof Uint8Array && body.length <= chunkBytes;
    if (isWhole) {
      this.#begin(answer, body as string | Uint8Array);
      return this.#over();
    }
    const bytes = wholeOf(body);
    this.#begin(bytes === undefined ? answer : withLength(answer, bytes.length), undefined);
    this.#transfer(true);
    // Nothing runs any more that could be cut. It holds the request's body and the answer's text, for as
    // long as the answer takes to leave.
    if (bytes !== undefined) this.cutter = undefined;
    this.#download = new SendingBody(bytes ?? chunksOf(body), this.#stream, this.#outbox, {
      onSent: () => this.#over(),
      onBroken: (error) => {
        this.fail();
        // Cutting bodies that nobody takes is how memory is kept.
        if (!(error instanceof NodeNotAvailable)) onFault(error);
      },
    });
    this.#download.grant(windowBytes);
  }

  #begin(answer: HttpResponse, body: string | Uint8Array | undefined): void {
    addHeadFrame(this.#outbox.calls, kinds.answer, this.#stream, answerHead(answer), body);
    this.#outbox.flushSoon();
  }

  /** There is no answer, or no more of it. */
  fail(): void {
    if (this.#isOver) return;
    this.#outbox.cancel(this.#stream);
    this.#over();
  }

  chunk(bytes: Uint8Array, isKept: boolean, least: number): void {
    const { body } = this;
    if (body instanceof Uint8Array) throw new ProtocolError("A part of no body");
    const problem = body.add(bytes, isKept, least);
    if (problem === "more") throw new ProtocolError("More of a body than there is room for");
    if (problem === "memory") body.fail(memoryExhausted());
  }

  ended(): void {
    if (this.body instanceof Uint8Array) throw new ProtocolError("The end of no body");
    this.body.close();
    if (this.#download === undefined) this.#transfer(false);
  }

  /** The caller left. */
  cancelled(): void {
    this.#hasLeft = true;
    this.#leave(new Error("The caller went away"));
    // The other end waits for the end of the call. If no answer has begun, it comes with that.
    if (this.#download === undefined) return;
    this.#download.stop();
    this.fail();
  }

  granted(bytes: number): void {
    this.#download?.grant(bytes);
  }

  lost(cause: unknown): void {
    this.#over();
    this.#leave(new Error("The link broke", { cause }));
    this.#download?.stop();
  }

  #hold(bytes: number): void {
    // What is over gives nothing back any more.
    if (bytes === 0 || this.#isOver) return;
    this.#held += bytes;
    this.#outbox.hold(bytes);
  }

  #leave(reason: Error): void {
    if (!(this.body instanceof Uint8Array)) this.body.fail(reason);
    this.departure.abort(reason);
  }

  /** A body is on its way, for as long as the slower of its ends likes. */
  #transfer(begins: boolean): void {
    if (begins === this.#isTransferring) return;
    this.#isTransferring = begins;
    this.#onTransfer(begins);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#transfer(false);
    if (this.#held > 0) this.#outbox.hold(-this.#held);
    // What nobody has read by now would be held for nobody.
    if (!(this.body instanceof Uint8Array)) this.body.fail(new Error("The call is over"));
    this.#outbox.over(false);
    this.#streams.remove(this.#stream, false);
  }
}

/** The caller can tell from the length whether it has all of the body. */
function withLength({ status, headers }: HttpResponse, length: number): HttpResponse {
  return { status, headers: Object.assign({ "content-length": String(length) }, headers) };
}
