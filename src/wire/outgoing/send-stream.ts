// Reads the stream that a procedure elsewhere answers with.

import { Abort } from "../../base/aborts.ts";
import type { Context } from "../../base/context.ts";
import { BadGateway } from "../../base/errors.ts";
import {
  type AbortNotice,
  type Clock,
  type Peer,
  type PeerResponse,
  TransportError,
} from "../../base/ports.ts";
import { headers, jsonType } from "../../base/protocol.ts";
import { chunksOf, discard, stopReading } from "../../http/bodies.ts";
import { Idle } from "../../http/idle.ts";
import { BoundStream, type StreamSource } from "../../runtime/bound-stream.ts";
import type { OutgoingCall, SendStream } from "../../types/outgoing-call.ts";
import {
  EventReader,
  eventStreamType,
  guardedHeader,
  resumeHeader,
  type StreamEvent,
} from "../event-stream.ts";
import { formOrKey } from "./plain-call.ts";
import { type Answered, type CallCodec, type Sender, wholeOf } from "./send-call.ts";

export interface StreamOptions {
  readonly open: Sender["open"];
  readonly codec: Pick<CallCodec, "decode">;
  readonly clock: Clock;
  /** The departure of a context's caller. */
  readonly departure: (context: Context) => AbortNotice;
  /** A stream without a byte for this long is broken. Its sender shows more often that it lives. */
  readonly idleMs: number;
  /** Opens the stream of a call. A page asks again when it is cut, if that is allowed [once]. */
  readonly reopen?: (open: OpenStream) => StreamSource | Promise<StreamSource>;
}

/** Asks for a stream, from its beginning or after the item with this id. */
export type OpenStream = (peer?: Peer) => Promise<ReceivedStream>;

/** Makes streams of calls, each of which is sent when its stream is first read. */
export function createStreams(options: StreamOptions): SendStream {
  return (context, makeCall, onEnd) => {
    const abort = new Abort();
    let node: string | undefined;
    const open = (): StreamSource | Promise<StreamSource> => {
      const call: OutgoingCall = { ...makeCall(), caller: abort };
      const ask: OpenStream = (peer) =>
        options.open(
          call,
          eventStreamType,
          async (answered) => {
            node = nodeOf(answered.answer);
            return await received(options, call, answered);
          },
          peer,
        );
      return options.reopen === undefined ? ask() : options.reopen(ask);
    };
    return new BoundStream({
      open,
      abort,
      caller: options.departure(context),
      onEnd: (failure) => onEnd?.(node, failure),
    });
  };
}

function nodeOf({ headers: fields }: PeerResponse): string | undefined {
  const node = fields[headers.node];
  return node === undefined ? undefined : String(node);
}

async function received(
  options: StreamOptions,
  { fqn }: OutgoingCall,
  answered: Answered,
): Promise<ReceivedStream> {
  const { answer, ending } = answered;
  const { status, headers: fields, body } = answer;
  if (status >= 300) await wholeOf(answered);
  if (status === 200 && String(fields["content-type"]).startsWith(eventStreamType)) {
    answered.begun(answer);
    return new ReceivedStream(options, fqn, answered, chunksOf(body));
  }
  ending.settled();
  if (!(body instanceof Uint8Array)) discard(body);
  throw new BadGateway(
    `'${fqn}' answered with a value, not with a stream: the service has another build of it`,
  );
}

/** The part of {@link StreamOptions} that reads an answer. */
export type ReadingOptions = Pick<StreamOptions, "codec" | "clock" | "idleMs">;

/** The answer that a stream came with. */
export interface StreamAnswer extends Pick<Answered, "answer" | "failed"> {
  readonly ending: Pick<Answered["ending"], "settled">;
}

export class ReceivedStream implements StreamSource {
  /** It has broken off, and so may go on in another answer. */
  isCut = false;
  /** Of the last event. */
  lastId = "0";
  readonly #options: ReadingOptions;
  readonly #fqn: string;
  readonly #answered: StreamAnswer;
  readonly #reader: AsyncIterator<Uint8Array>;
  readonly #parser = new EventReader();
  readonly #idle: Idle;
  #events: readonly StreamEvent[] = [];
  /** The next chunk. */
  #at = 0;
  /** Fails the wait for a chunk. */
  #fail: ((error: Error) => void) | undefined;
  /** Why it was broken off. */
  #broken: Error | undefined;

  constructor(
    options: ReadingOptions,
    fqn: string,
    answered: StreamAnswer,
    body: AsyncIterable<Uint8Array>,
  ) {
    this.#options = options;
    this.#fqn = fqn;
    this.#answered = answered;
    this.#reader = body[Symbol.asyncIterator]();
    this.#idle = new Idle(options.clock, () => this.#isStill());
    this.#idle.limit(options.idleMs);
  }

  async next(): Promise<IteratorResult<unknown, unknown>> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      const event = this.#events[this.#at];
      if (event !== undefined) {
        this.#at++;
        return await this.#resultOf(event);
      }
      const result = await this.#read();
      if (result.done === true) throw this.#cut(new TransportError("The stream broke off", true));
      this.#events = this.#parser.read(result.value);
      this.#at = 0;
    }
  }

  return(): Promise<unknown> {
    this.#over();
    stopReading(this.#reader);
    return Promise.resolve();
  }

  /** Ends it here, with an error for its reader. */
  breakOff(why: Error): void {
    this.#broken = this.#cut(why);
    this.#fail?.(this.#broken);
    stopReading(this.#reader);
  }

  /** Whether a guard has let its reader in. */
  get isGuarded(): boolean {
    return this.#answered.answer.headers[guardedHeader] !== undefined;
  }

  /** Whether its procedure goes on after the last item that has arrived. */
  get mayResume(): boolean {
    return this.#answered.answer.headers[resumeHeader] === "yes";
  }

  async #resultOf({ name, id, data }: StreamEvent): Promise<IteratorResult<unknown, unknown>> {
    if (id !== undefined) this.lastId = id;
    if (name === undefined || name === "superjson")
      return { done: false, value: await this.#valueOf(data, name) };
    await this.return();
    if (name === "end") return { done: true, value: await this.#valueOf(data) };
    if (name === "fault") throw await this.#errorOf(data);
    this.isCut = true;
    throw new BadGateway(`The stream of '${this.#fqn}' has to be asked for again`);
  }

  #valueOf(data: string, encoding?: string): unknown {
    if (encoding === undefined && !formOrKey.test(data)) return JSON.parse(data);
    return this.#decoded(200, data, encoding);
  }

  async #errorOf(data: string): Promise<unknown> {
    try {
      return await this.#decoded(500, data);
    } catch (thrown) {
      return thrown;
    }
  }

  /** As the codec reads the answer to a call. */
  async #decoded(status: number, data: string, encoding?: string): Promise<unknown> {
    const { [headers.encoding]: ofAll, [headers.node]: node } = this.#answered.answer.headers;
    const { value } = await this.#options.codec.decode({
      status,
      headers: {
        "content-type": jsonType,
        [headers.dataType]: "object",
        [headers.encoding]: encoding ?? ofAll,
        [headers.node]: node,
      },
      body: new TextEncoder().encode(data),
    });
    return value;
  }

  #read(): Promise<IteratorResult<Uint8Array>> {
    this.#idle.moved();
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#reader.next().then(
        (result) => {
          this.#fail = undefined;
          resolve(result);
        },
        (thrown: unknown) => reject(this.#cut(thrown)),
      );
    });
  }

  #isStill(): void {
    // Don't count the time in which the reader doesn't ask for items.
    if (this.#fail === undefined) return this.#idle.again();
    this.breakOff(new TransportError(`Nothing came for ${this.#options.idleMs} ms`, true));
  }

  /** The error for the reader of a stream that broke off. */
  #cut(thrown: unknown): Error {
    this.isCut = true;
    this.#over();
    try {
      return this.#answered.failed(thrown);
    } catch (error) {
      return error as Error;
    }
  }

  #over(): void {
    this.#idle.stop();
    this.#answered.ending.settled();
  }
}
