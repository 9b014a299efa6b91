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
import { alreadyRead, bytesOf, chunksOf, discard } from "../http/bodies.ts";
import { BreakableBody } from "../http/breakable-body.ts";
import { Idle } from "../http/idle.ts";
import type { Role } from "./pipeline/role.ts";

const encoder = new TextEncoder();

/** A request as the role that gets it sees it. */
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
  const onIdle = (): void => {
    const inTime = `in limits.idleTimeoutMs (${idle?.ms} ms)`;
    if (upload.isReceiving && !hasHead)
      upload.fail(new RequestTimeout(`Nothing more of the request's body arrived ${inTime}`));
    else caller.abort(new TransportError(`Nothing of the answer moved ${inTime}`, true));
  };
  const watch = idle && new Idle(idle.clock, onIdle);
  const moves: Moves = {
    moved() {
      watch?.moved();
      watch?.limit(idle!.ms);
    },
    stop: () => watch?.stop(),
  };
  let hasHead = false;
  const upload = new Upload(sent.body, caller, moves);
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
    return { status, headers: fields, body: new Download(body, caller, moves, upload) };
  if (isStream) discard(body);
  upload.end();
  return {
    status,
    headers: fields,
    body: body instanceof Uint8Array ? body : encoder.encode(typeof body === "string" ? body : ""),
  };
}

/** Notified of each chunk that moves, from the first one on. */
interface Moves {
  moved(): void;
  stop(): void;
}

/** A request's body. If its stream breaks, the request ends with the stream's error. */
class Upload implements AsyncIterable<Uint8Array> {
  readonly #source: SentRequest["body"];
  readonly #caller: AbortController;
  readonly #moves: Moves;
  #whole: Promise<Uint8Array> | undefined;
  #stream: BreakableBody | undefined;
  #failure: Error | undefined;
  isReceiving = false;

  constructor(source: SentRequest["body"], caller: AbortController, moves: Moves) {
    this.#source = source;
    this.#caller = caller;
    this.#moves = moves;
    caller.signal.addEventListener("abort", () => this.end(), { once: true });
  }

  /** The request is over: its unread rest is dropped. */
  end(): void {
    this.fail(new BadRequest("The request ended before its body did"));
  }

  /** The reader gets `error` next. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#stream?.breakOff(error);
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

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    if (this.#stream !== undefined) throw alreadyRead("request");
    // Its source may be read elsewhere, if nothing of it has been read here.
    const source = this.#failure === undefined ? this.#source : undefined;
    const stream = new BreakableBody(chunksOf(source), {
      onMove: () => this.#moves.moved(),
      onEnd: (error) => {
        this.isReceiving = false;
        this.#moves.stop();
        if (error !== undefined) this.#caller.abort(error);
      },
    });
    if (this.#failure === undefined) this.isReceiving = true;
    else stream.breakOff(this.#failure);
    return (this.#stream = stream);
  }
}

/** An answer's body. A caller that stops reading goes away, as on a socket. */
class Download implements ByteStream {
  readonly #stream: BreakableBody;
  readonly #caller: AbortController;
  #isRead = false;

  constructor(
    source: AsyncIterable<Uint8Array>,
    caller: AbortController,
    moves: Moves,
    upload: Upload,
  ) {
    this.#caller = caller;
    this.#stream = new BreakableBody(source, {
      onMove: () => moves.moved(),
      onEnd: () => {
        moves.stop();
        upload.end();
      },
    });
    moves.moved();
    const leave = (): void => this.#stream.breakOff(caller.signal.reason);
    caller.signal.addEventListener("abort", leave, { once: true });
  }

  bytes(): Promise<Uint8Array> {
    return bytesOf(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isRead) throw alreadyRead("answer");
    this.#isRead = true;
    const stream = this.#stream;
    return {
      next: async () => {
        try {
          return await stream.next();
        } catch (cause) {
          if (this.#caller.signal.aborted) throw cause;
          const message = "The connection was closed before the answer was complete";
          throw new TransportError(message, true, { cause });
        }
      },
      return: () => {
        this.#caller.abort(new Error("The caller went away"));
        return stream.return();
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
