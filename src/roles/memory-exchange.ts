// One request to a role in the same process. Bodies pass through it chunk by chunk: the sender
// produces the next one when the reader asks for it.

import { BadRequest, PayloadTooLarge, RequestTimeout } from "../base/errors.ts";
import {
  type ByteStream,
  type Clock,
  type HttpRequest,
  type OutgoingRequest,
  type PeerResponse,
  TransportError,
} from "../base/ports.ts";
import { alreadyRead, bytesOf, chunksOf, discard, stopReading } from "../http/bodies.ts";
import type { Role } from "./role.ts";

const encoder = new TextEncoder();

/** What a role sees of a request that was sent to it. */
export interface SentRequest extends Pick<OutgoingRequest, "method" | "signal" | "from"> {
  readonly target: string;
  readonly headers: HttpRequest["headers"];
  readonly body: OutgoingRequest["body"] | undefined;
}

/** How long a body may stand still. */
export interface IdleLimit {
  readonly clock: Clock;
  readonly ms: number;
}

/** Calls `onIdle` if nothing moves for too long, from the first chunk of either body on. */
class IdleWatch {
  readonly #limit: IdleLimit | undefined;
  readonly #onIdle: (ms: number) => void;
  #moved = 0;
  #cancel: (() => void) | undefined;

  constructor(limit: IdleLimit | undefined, onIdle: (ms: number) => void) {
    this.#limit = limit;
    this.#onIdle = onIdle;
  }

  moved(): void {
    if (this.#limit === undefined) return;
    this.#moved = this.#limit.clock.now();
    this.#cancel ??= this.#wait(this.#limit, this.#limit.ms);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(limit: IdleLimit, ms: number): () => void {
    return limit.clock.after(ms, () => {
      const left = this.#moved + limit.ms - limit.clock.now();
      if (left > 0) this.#cancel = this.#wait(limit, left);
      else this.#onIdle(limit.ms);
    });
  }
}

/** Sends one request to a role as the HTTP adapter would. Resolves with the answer's head. */
export async function exchange(
  role: Pick<Role, "handle">,
  sent: SentRequest,
  idle?: IdleLimit,
): Promise<PeerResponse> {
  const caller = new AbortController();
  const leave = (): void => caller.abort(sent.signal?.reason);
  sent.signal?.throwIfAborted();
  sent.signal?.addEventListener("abort", leave, { once: true });
  const watch = new IdleWatch(idle, (ms) => {
    const inTime = `in limits.idleTimeoutMs (${ms} ms)`;
    if (upload.isReceiving && !hasHead)
      upload.fail(new RequestTimeout(`Nothing more of the request's body arrived ${inTime}`));
    else caller.abort(new TransportError(`Nothing of the answer moved ${inTime}`, true));
  });
  let hasHead = false;
  const upload = new Upload(sent.body, caller, watch);
  const { method, target, headers } = sent;
  const answered = role.handle({
    method,
    target,
    scheme: "http",
    // The role may add to them.
    headers: { ...headers },
    body: upload,
    readBody: (limit) => upload.readBody(limit),
    get isReceiving() {
      return upload.isReceiving;
    },
    signal: caller.signal,
    from: sent.from,
  });
  const { status, headers: fields, body } = await unlessAborted(answered, caller.signal);
  hasHead = true;
  const isStream = typeof body === "object" && !(body instanceof Uint8Array);
  if (isStream && method !== "HEAD" && status !== 204 && status !== 304)
    return { status, headers: fields, body: new Download(body, caller, watch, upload) };
  if (isStream) discard(body);
  upload.end();
  return {
    status,
    headers: fields,
    body: body instanceof Uint8Array ? body : encoder.encode(typeof body === "string" ? body : ""),
  };
}

/** A request's body. If its stream breaks, the request ends with the stream's error. */
class Upload implements AsyncIterable<Uint8Array> {
  readonly #source: SentRequest["body"];
  readonly #caller: AbortController;
  readonly #watch: IdleWatch;
  readonly #stopped = new AbortController();
  #whole: Promise<Uint8Array> | undefined;
  #isRead = false;
  #reading: AsyncIterator<Uint8Array> | undefined;
  isReceiving = false;

  constructor(source: SentRequest["body"], caller: AbortController, watch: IdleWatch) {
    this.#source = source;
    this.#caller = caller;
    this.#watch = watch;
    caller.signal.addEventListener("abort", () => this.end(), { once: true });
  }

  /** The request is over: what wasn't read of it won't be. */
  end(): void {
    this.fail(new BadRequest("The request ended before its body did"));
    if (this.#reading !== undefined) stopReading(this.#reading);
  }

  /** The reader gets `error` next. */
  fail(error: Error): void {
    this.#stopped.abort(error);
  }

  readBody(limit: number): Promise<Uint8Array> {
    return (this.#whole ??= this.#collect(limit));
  }

  async #collect(limit: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this) {
      size += chunk.length;
      if (size > limit)
        throw new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
      chunks.push(chunk);
    }
    return await bytesOf(chunks);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isRead) throw alreadyRead("request");
    this.#isRead = true;
    const source = chunksOf(this.#source)[Symbol.asyncIterator]();
    this.#reading = source;
    const breaks = (error: unknown): never => {
      this.#caller.abort(error);
      throw error;
    };
    this.isReceiving = true;
    try {
      for (;;) {
        this.#watch.moved();
        const next = source.next().catch(breaks);
        const { done, value } = await unlessAborted(next, this.#stopped.signal);
        if (done === true) return;
        this.#watch.moved();
        yield value;
      }
    } finally {
      this.isReceiving = false;
      this.#watch.stop();
      stopReading(source);
    }
  }
}

/** An answer's body. A caller that stops reading goes away, as on a socket. */
class Download implements ByteStream {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #caller: AbortController;
  readonly #watch: IdleWatch;
  readonly #onEnd: () => void;
  #isRead = false;

  constructor(
    source: AsyncIterable<Uint8Array>,
    caller: AbortController,
    watch: IdleWatch,
    upload: Upload,
  ) {
    this.#source = source;
    this.#caller = caller;
    this.#watch = watch;
    this.#onEnd = () => {
      watch.stop();
      upload.end();
    };
    watch.moved();
    const end = (): void => {
      watch.stop();
      // Perhaps nobody has begun to read.
      if (!this.#isRead) discard(source);
    };
    caller.signal.addEventListener("abort", end, { once: true });
  }

  bytes(): Promise<Uint8Array> {
    return bytesOf(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isRead) throw alreadyRead("answer");
    this.#isRead = true;
    const reader = this.#source[Symbol.asyncIterator]();
    const { signal } = this.#caller;
    return {
      next: async () => {
        try {
          this.#watch.moved();
          const result = await unlessAborted(reader.next(), signal);
          if (result.done === true) this.#onEnd();
          return result;
        } catch (cause) {
          this.#onEnd();
          if (signal.aborted) {
            stopReading(reader);
            throw cause;
          }
          const message = "The connection was closed before the answer was complete";
          throw new TransportError(message, true, { cause });
        }
      },
      return: async () => {
        this.#watch.stop();
        this.#caller.abort(new Error("The caller went away"));
        stopReading(reader);
        return { done: true, value: undefined };
      },
    };
  }
}

/** Rejects as soon as the signal aborts, whatever the role does. */
function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void result.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
