// A call that this end of a link has sent.

import { type PeerResponse, TransportError } from "../base/ports.ts";
import { isBodiless } from "../http/answers.ts";
import { chunksOf } from "../http/bodies.ts";
import { bytesBehind, ReceivedBody, SendingBody, shortOf, wholeOf } from "./bodies.ts";
import { callKinds, ProtocolError } from "./frames.ts";
import { BadAnswerError, readAnswerHead, type ReceivedHead } from "./heads.ts";
import type { LinkCall } from "./calls.ts";
import type { Outbox } from "./outbox.ts";
import { addHeadFrame, bodyFollows, headIn } from "./payload.ts";
import type { Streams } from "./streams.ts";
import { windowBytes } from "./limits.ts";

const nothing = new Uint8Array();

export class SentCall {
  /** The call's number in the order in which the link sent them. */
  readonly order: number;
  readonly #outbox: Outbox;
  readonly #streams: Streams<SentCall>;
  readonly #signal: LinkCall["signal"];
  readonly #onBadAnswer: (error: Error) => void;
  readonly #stream: number;
  /** An answer to HEAD has the length of a body that doesn't come. */
  readonly #isHead: boolean;
  #resolve: ((answer: PeerResponse) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #upload: SendingBody | undefined;
  #download: ReceivedBody | undefined;
  /** Bytes of the content-length that haven't come. */
  #missing: number | undefined;
  #hasLeft = false;

  constructor(
    outbox: Outbox,
    streams: Streams<SentCall>,
    order: number,
    { method, signal }: LinkCall,
    resolve: (answer: PeerResponse) => void,
    reject: (reason: unknown) => void,
    onBadAnswer: (error: Error) => void,
  ) {
    this.#outbox = outbox;
    this.#streams = streams;
    this.order = order;
    this.#signal = signal;
    this.#isHead = method === "HEAD";
    this.#onBadAnswer = onBadAnswer;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stream = streams.add(this);
    outbox.began(true);
  }

  begin(head: string, { from, body = "" }: LinkCall): void {
    const short = shortOf(body);
    addHeadFrame(this.#outbox.calls, callKinds[from], this.#stream, head, short);
    if (short === undefined) {
      const source = wholeOf(body) ?? chunksOf(body);
      this.#upload = new SendingBody(source, this.#stream, this.#outbox, {
        onSent: () => {},
        onBroken: (error) => this.#leave(error),
      });
      if (source instanceof Uint8Array && source.length <= windowBytes)
        this.#upload.grant(windowBytes);
    }
    this.#signal?.addEventListener("abort", this, { once: true });
    this.#outbox.flushSoon();
  }

  /** The caller leaves. */
  handleEvent(): void {
    this.#leave(this.#signal?.reason);
  }

  answered(payload: Uint8Array, isKept: boolean): void {
    if (this.#download !== undefined) throw new ProtocolError("A second answer");
    const { text, flags, rest } = headIn(payload);
    const isWhole = (flags & bodyFollows) === 0;
    if (!isWhole) {
      if (rest.length > 0)
        throw new ProtocolError("A body came with its head and was announced in parts, too");
      this.#download = new ReceivedBody("answer", this.#stream, this.#outbox, () =>
        this.#leave(new Error("The reader of the answer stopped")),
      );
      // There is no reader any more. The other end has been told, and will say when the call is over.
      if (this.#hasLeft) this.#download.fail(new Error("The caller has left"));
    }
    let head: ReceivedHead;
    try {
      head = this.#readHead(text, isWhole ? rest.length : undefined);
    } catch (error) {
      if (!(error instanceof BadAnswerError)) throw error;
      return this.#bad(error, isWhole);
    }
    const { status, headers } = head;
    const download = this.#download;
    if (download === undefined) {
      this.#over();
      const body = isBodiless(status) ? nothing : bytesBehind(rest, isKept);
      return this.#settle({ status, headers, body });
    }
    if (!isBodiless(status)) return this.#settle({ status, headers, body: download });
    this.#settle({ status, headers, body: nothing });
    this.#leave(new Error("The answer has no body"));
  }

  /** Throws a {@link BadAnswerError} also if a complete body's `size` isn't the head's content-length. */
  #readHead(text: string, size: number | undefined): ReceivedHead {
    const head = readAnswerHead(text);
    const { status, length } = head;
    if (length === undefined || this.#isHead || isBodiless(status)) return head;
    if (size === undefined) this.#missing = length;
    else if (size !== length)
      throw new BadAnswerError(`a content-length of ${length} with a body of ${size} bytes`);
    return head;
  }

  /** The answer is invalid, which fails this call only. `isOver`: nothing more of it comes. */
  #bad({ message }: BadAnswerError, isOver: boolean): void {
    const what = `${this.#outbox.name} gave an answer over its link that HTTP can't carry: ${message}`;
    const error = new TransportError(what, true);
    this.#onBadAnswer(error);
    if (isOver) this.lost(error);
    else this.#leave(error);
  }

  chunk(bytes: Uint8Array, isKept: boolean, least: number): void {
    if (this.#download === undefined)
      throw new ProtocolError("A part of a body before the head of its answer");
    const problem = this.#download.add(bytes, isKept, least);
    if (problem === "more") throw new ProtocolError("Peer exceeded its flow-control window");
    if (problem === "memory") {
      const what = `The answer of ${this.#outbox.name}, which comes over a link,`;
      this.#leave(
        new TransportError(`${what} is larger than limits.heldBytes leaves room for`, true),
      );
    }
    if (this.#missing === undefined) return;
    this.#missing -= bytes.length;
    if (this.#missing < 0 && !this.#hasLeft)
      this.#bad(new BadAnswerError("a body that is longer than its content-length"), false);
  }

  ended(): void {
    if (this.#download === undefined)
      throw new ProtocolError("The end of a body before the head of its answer");
    if (this.#missing !== undefined && this.#missing > 0 && !this.#hasLeft)
      return this.#bad(new BadAnswerError("a body that is shorter than its content-length"), true);
    this.#download.close();
    this.#over();
  }

  /** The other end won't send the answer, or the rest of it. */
  cancelled(): void {
    this.lost(new TransportError(`${this.#outbox.name} broke off its answer over the link`, true));
  }

  granted(bytes: number): void {
    this.#upload?.grant(bytes);
  }

  lost(error: Error): void {
    this.#over();
    this.#reject?.(error);
    this.#resolve = this.#reject = undefined;
    this.#download?.fail(error);
  }

  #settle(answer: PeerResponse): void {
    this.#resolve?.(answer);
    this.#resolve = this.#reject = undefined;
  }

  #leave(reason: unknown): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#upload?.stop();
    this.#outbox.cancel(this.#stream);
    this.#reject?.(reason);
    this.#resolve = this.#reject = undefined;
    this.#download?.fail(reason);
  }

  /** Both ends are done with it. */
  #over(): void {
    this.#upload?.stop();
    this.#signal?.removeEventListener("abort", this);
    this.#streams.remove(this.#stream, true);
    this.#outbox.over(true);
  }
}
