// One request to a role in the same process. Bodies pass through it chunk by chunk: the sender
// produces the next one when the reader asks for it.

import { BadRequest, PayloadTooLarge } from "../base/errors.ts";
import {
  type ByteStream,
  type HttpRequest,
  type OutgoingRequest,
  type PeerResponse,
  TransportError,
} from "../base/ports.ts";
import { alreadyRead, bytesOf, chunksOf, discard, stopReading } from "../http/bodies.ts";
import type { Role } from "./role.ts";

const encoder = new TextEncoder();

/** What a role sees of a request that was sent to it. */
export interface SentRequest extends Pick<OutgoingRequest, "method" | "signal"> {
  readonly target: string;
  readonly headers: HttpRequest["headers"];
  readonly body: OutgoingRequest["body"] | undefined;
}

/** Sends one request to a role as the HTTP adapter would. Resolves with the answer's head. */
export async function exchange(
  role: Pick<Role, "handle">,
  sent: SentRequest,
): Promise<PeerResponse> {
  const caller = new AbortController();
  const leave = (): void => caller.abort(sent.signal?.reason);
  sent.signal?.throwIfAborted();
  sent.signal?.addEventListener("abort", leave, { once: true });
  const upload = new Upload(sent.body, caller);
  const { method, target, headers } = sent;
  const answered = role.handle({
    method,
    target,
    scheme: "http",
    headers,
    body: upload,
    readBody: (limit) => upload.readBody(limit),
    get isReceiving() {
      return upload.isReceiving;
    },
    signal: caller.signal,
  });
  const { status, headers: fields, body } = await unlessAborted(answered, caller.signal);
  const isStream = typeof body === "object" && !(body instanceof Uint8Array);
  if (isStream && method !== "HEAD" && status !== 204 && status !== 304)
    return { status, headers: fields, body: new Download(body, caller) };
  if (isStream) discard(body);
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
  #whole: Promise<Uint8Array> | undefined;
  #isRead = false;
  isReceiving = false;

  constructor(source: SentRequest["body"], caller: AbortController) {
    this.#source = source;
    this.#caller = caller;
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
    const { signal } = this.#caller;
    const source = chunksOf(this.#source);
    this.isReceiving = true;
    try {
      for (;;) {
        const { done, value } = await unlessAborted(
          source.next().catch((error: unknown) => {
            this.#caller.abort(error);
            throw error;
          }),
          signal,
        ).catch(() => {
          throw new BadRequest("The request ended before its body did");
        });
        if (done === true) return;
        yield value;
      }
    } finally {
      this.isReceiving = false;
      stopReading(source);
    }
  }
}

/** An answer's body. A caller that stops reading goes away, as on a socket. */
class Download implements ByteStream {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #caller: AbortController;
  #isRead = false;

  constructor(source: AsyncIterable<Uint8Array>, caller: AbortController) {
    this.#source = source;
    this.#caller = caller;
    // Perhaps nobody has begun to read.
    caller.signal.addEventListener("abort", () => discard(source), { once: true });
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
          return await unlessAborted(reader.next(), signal);
        } catch (cause) {
          if (signal.aborted) {
            stopReading(reader);
            throw cause;
          }
          const message = "The connection was closed before the answer was complete";
          throw new TransportError(message, true, { cause });
        }
      },
      return: async () => {
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
