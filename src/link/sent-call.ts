// A call that this end of a link has sent.

import { type PeerResponse, TransportError } from "../base/ports.ts";
import { chunksOf } from "../http/bodies.ts";
import { ReceivedBody, SendingBody, wholeOf, windowBytes } from "./bodies.ts";
import { callKinds, chunkBytes, ProtocolError } from "./frames.ts";
import { readAnswerHead } from "./heads.ts";
import type { LinkCall } from "./calls.ts";
import type { Outbox } from "./outbox.ts";
import { addHeadFrame, bodyFollows, headIn } from "./payload.ts";
import type { Streams } from "./streams.ts";

const nothing = new Uint8Array();

export class SentCall {
  /** How many calls the link had sent, with this one. */
  readonly order: number;
  readonly #outbox: Outbox;
  readonly #streams: Streams<SentCall>;
  readonly #signal: LinkCall["signal"];
  readonly #stream: number;
  #resolve: ((answer: PeerResponse) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #upload: SendingBody | undefined;
  #download: ReceivedBody | undefined;
  #hasLeft = false;

  constructor(
    outbox: Outbox,
    streams: Streams<SentCall>,
    order: number,
    { signal }: LinkCall,
    resolve: (answer: PeerResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#outbox = outbox;
    this.#streams = streams;
    this.order = order;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stream = streams.add(this);
    outbox.began(true);
  }

  begin(head: string, { from, body = "" }: LinkCall): void {
    // A character has at most three bytes.
    const isWhole =
      typeof body === "string"
        ? body.length <= chunkBytes / 3
        : body instanceof Uint8Array && body.length <= chunkBytes;
    const whole = isWhole ? (body as string | Uint8Array) : undefined;
    addHeadFrame(this.#outbox.calls, callKinds[from], this.#stream, head, whole);
    if (!isWhole) {
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
    const { status, headers } = readAnswerHead(text);
    if ((flags & bodyFollows) === 0) {
      this.#over();
      const body = rest.length === 0 ? nothing : isKept ? rest : new Uint8Array(rest);
      return this.#settle({ status, headers, body });
    }
    if (rest.length > 0) throw new ProtocolError("A body twice");
    this.#download = new ReceivedBody("answer", this.#stream, this.#outbox, () =>
      this.#leave(new Error("The reader of the answer stopped")),
    );
    // Nobody would read it. The other end has been told, and says when it is over.
    if (this.#hasLeft) this.#download.fail(new Error("The caller has left"));
    this.#settle({ status, headers, body: this.#download });
  }

  chunk(bytes: Uint8Array, isKept: boolean, least: number): void {
    if (this.#download === undefined) throw new ProtocolError("A body before its head");
    const problem = this.#download.add(bytes, isKept, least);
    if (problem === "more") throw new ProtocolError("More of a body than there is room for");
    if (problem === "memory") {
      const what = `The answer of ${this.#outbox.name}, which comes over a link,`;
      this.#leave(
        new TransportError(`${what} is larger than limits.heldBytes leaves room for`, true),
      );
    }
  }

  ended(): void {
    if (this.#download === undefined) throw new ProtocolError("The end of no body");
    this.#download.close();
    this.#over();
  }

  /** The other end gives no answer, or no more of it. */
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
