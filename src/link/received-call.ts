// A call from the other end of a link.

import { Abort } from "../base/aborts.ts";
import { NodeNotAvailable, memoryExhausted } from "../base/errors.ts";
import type { CallFrom, HeaderFields, HttpResponse } from "../base/ports.ts";
import { chunksOf, discard } from "../http/bodies.ts";
import { bytesBehind, ReceivedBody, SendingBody, shortOf, wholeOf } from "./bodies.ts";
import { kinds, ProtocolError } from "./frames.ts";
import { answerHead, readCallHead } from "./heads.ts";
import type { ArrivedCall } from "./calls.ts";
import type { Outbox } from "./outbox.ts";
import { addHeadFrame, bodyFollows, headIn } from "./payload.ts";
import type { Streams } from "./streams.ts";
import { windowBytes } from "./limits.ts";

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
  /** Bytes of the collected body, until the call is over. */
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
    if (isLater && rest.length > 0)
      throw new ProtocolError("A body came with its head and was announced in parts, too");
    streams.put(stream, this);
    outbox.began(false);
    if (isLater) this.#transfer(true);
    if (isLater) this.body = new ReceivedBody("request", stream, outbox, () => {});
    else {
      this.body = bytesBehind(rest, isKept);
      this.#hold(rest.length);
    }
  }

  get departure(): Abort {
    return (this.#departure ??= new Abort());
  }

  /** The caller has left, or the link is over. */
  get isUnwanted(): boolean {
    return this.#hasLeft || this.#isOver;
  }

  keeps(bytes: number): boolean {
    if (!this.#outbox.fits(bytes)) return false;
    this.#hold(bytes);
    return true;
  }

  /** `onFault` gets the reason if a body breaks off: the other end doesn't learn it. */
  answer(answer: HttpResponse, onFault: (fault: unknown) => void): void {
    if (this.#isOver) return discard(answer.body);
    if (this.#hasLeft) {
      discard(answer.body);
      return this.fail();
    }
    const { body = "" } = answer;
    const short = shortOf(body);
    if (short !== undefined) {
      this.#begin(answer, short);
      return this.#over();
    }
    const bytes = wholeOf(body);
    this.#begin(bytes === undefined ? answer : withLength(answer, bytes.length), undefined);
    this.#transfer(true);
    // Nothing runs any more that could be cut. The cutter would keep the request's body and the answer's text in
    // memory until the answer has left.
    if (bytes !== undefined) this.cutter = undefined;
    this.#download = new SendingBody(bytes ?? chunksOf(body), this.#stream, this.#outbox, {
      onSent: () => this.#over(),
      onBroken: (error) => {
        this.fail();
        // Cutting a body that isn't taken is no fault: it frees memory.
        if (!(error instanceof NodeNotAvailable)) onFault(error);
      },
    });
    this.#download.grant(windowBytes);
  }

  #begin(answer: HttpResponse, body: string | Uint8Array | undefined): void {
    addHeadFrame(this.#outbox.calls, kinds.answer, this.#stream, answerHead(answer), body);
    this.#outbox.flushSoon();
  }

  /** Ends the call without an answer, or without the rest of it. */
  fail(): void {
    if (this.#isOver) return;
    this.#outbox.cancel(this.#stream);
    this.#over();
  }

  chunk(bytes: Uint8Array, isKept: boolean, least: number): void {
    const { body } = this;
    if (body instanceof Uint8Array)
      throw new ProtocolError("A part of a body for a call whose body is complete");
    const problem = body.add(bytes, isKept, least);
    if (problem === "more") throw new ProtocolError("Peer exceeded its flow-control window");
    if (problem === "memory") body.fail(memoryExhausted());
  }

  ended(): void {
    if (this.body instanceof Uint8Array)
      throw new ProtocolError("The end of a body for a call whose body is complete");
    this.body.close();
    if (this.#download === undefined) this.#transfer(false);
  }

  /** The caller left. */
  cancelled(): void {
    this.#hasLeft = true;
    this.#leave(new Error("The caller went away"));
    // The other end waits for the call's end, which comes with the answer unless that has begun.
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
    // After the end nothing would be given back.
    if (bytes === 0 || this.#isOver) return;
    this.#held += bytes;
    this.#outbox.hold(bytes);
  }

  #leave(reason: Error): void {
    if (!(this.body instanceof Uint8Array)) this.body.fail(reason);
    this.departure.abort(reason);
  }

  /** A body is being transferred, at the pace of its slower end. */
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
    // Unread parts are of no use any more.
    if (!(this.body instanceof Uint8Array)) this.body.fail(new Error("The call is over"));
    this.#outbox.over(false);
    this.#streams.remove(this.#stream, false);
  }
}

/** The caller can tell from the length whether it has all of the body. */
function withLength({ status, headers }: HttpResponse, length: number): HttpResponse {
  return { status, headers: Object.assign({ "content-length": String(length) }, headers) };
}
