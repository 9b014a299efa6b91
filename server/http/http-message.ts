// One request of node:http and its answer, in the plain shapes of src/base/ports.ts.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  BadRequest,
  NodeNotAvailable,
  memoryExhausted,
  PayloadTooLarge,
  type ServiceError,
  statusOf,
} from "../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { headers, mediaTypes, rpcHeaders } from "../../src/base/protocol.ts";
import type { CallerConnection } from "./caller-connection.ts";
import { chunkBytes } from "./held-memory.ts";
import { sliced, writeSlices } from "./slices.ts";

/**
 * How long a caller that has its answer may go on sending the body, before the connection is cut.
 */
const lingerMs = 2_000;
/** Receiving and dropping an unread body of this size is cheaper than a new connection. */
const maxDroppedBytes = 65_536;
/** What a stream reads ahead, plus what the socket buffers of it. */
const streamBytes = 131_072;

export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly scheme: "http" | "https";
  readonly #message: IncomingMessage;
  readonly #connection: CallerConnection;
  readonly #sayContinue: (() => void) | undefined;
  #body: Promise<Uint8Array> | undefined;
  #isReceiving = false;
  #held = 0;
  #controller: AbortController | undefined;
  #abort: (() => void) | undefined;

  constructor(
    message: IncomingMessage,
    connection: CallerConnection,
    sayContinue: (() => void) | undefined,
  ) {
    this.method = message.method ?? "GET";
    this.target = originForm(message.url ?? "/");
    this.scheme = "encrypted" in message.socket ? "https" : "http";
    this.#message = message;
    this.#connection = connection;
    this.#sayContinue = sayContinue;
  }

  get address(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  // Node parses them when they are first read.
  get headers(): HttpRequest["headers"] {
    return this.#message.headers;
  }

  // Created when it is first read: most requests don't need it, and it takes 2 µs.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController());
      this.#abort = () => controller.abort(new Error("The caller went away"));
      if (this.#message.socket.destroyed) this.#abort();
      else this.#connection.aborts.add(this.#abort);
    }
    return this.#controller.signal;
  }

  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** There is an answer, so the body isn't needed any more. */
  answered(): void {
    this.#body = undefined;
    this.#connection.holder.give(this.#held);
    this.#held = 0;
  }

  /** The answer is written, so the signal isn't aborted any more. */
  finished(): void {
    if (this.#abort !== undefined) this.#connection.aborts.delete(this.#abort);
  }

  readBody(limit: number): Promise<Uint8Array> {
    return (this.#body ??= this.#collect(limit));
  }

  #collect(limit: number): Promise<Uint8Array> {
    const message = this.#message;
    if (Number(message.headers["content-length"] ?? 0) > limit)
      return Promise.reject(tooLarge(limit));
    // There would be no more events.
    if (message.destroyed) return Promise.reject(gone());
    this.#sayContinue?.();
    this.#isReceiving = true;
    return new Promise((resolve, reject) => {
      const { aborts, memory, holder } = this.#connection;
      const chunks: Buffer[] = [];
      let size = 0;
      const stop = (reason: Error): void => {
        message.off("data", take);
        aborts.delete(leave);
        chunks.length = 0;
        holder.give(this.#held);
        this.#held = 0;
        this.#isReceiving = false;
        reject(reason);
      };
      // The caller is gone and nobody will see the error, but what waits for the body must end.
      const leave = (): void => stop(gone());
      const take = (chunk: Buffer): void => {
        size += chunk.length;
        if (size > limit) return stop(tooLarge(limit));
        const held = chunk.length + chunkBytes;
        if (!memory.fits(held)) return stop(memoryExhausted());
        holder.take(held);
        this.#held += held;
        chunks.push(chunk);
      };
      aborts.add(leave);
      message.on("data", take);
      message.once("end", () => {
        aborts.delete(leave);
        this.#isReceiving = false;
        // Node keeps the last request of a connection, and with it its listeners.
        message.off("data", take);
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
        chunks.length = 0;
      });
    });
  }
}

/** Servers must accept a whole URL as request target (RFC 9112, section 3.2.2): its path counts. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const path = /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  return path === undefined ? target : path.startsWith("/") ? path : `/${path}`;
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
}

function gone(): BadRequest {
  return new BadRequest("The request ended before its body did");
}

/** The answer to a request that is refused before a role sees it. */
export function refusal(error: ServiceError): HttpResponse {
  const { kind } = error.constructor as typeof ServiceError;
  return {
    status: statusOf(error),
    headers: {
      "content-type": mediaTypes.text,
      [headers.error]: kind,
      ...(error instanceof NodeNotAvailable && { "retry-after": "1" }),
      ...rpcHeaders,
    },
    body: error.message,
  };
}

/**
 * Writes an answer and decides about the connection. It isn't async, and the returned promise
 * doesn't hold `answer`: a string must not stay in memory beside its bytes while the caller reads.
 */
export function writeAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  { closing, connection }: { readonly closing: boolean; readonly connection: CallerConnection },
): Promise<void> | void {
  const { body } = answer;
  const isStream = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const isBodiless = answer.status === 204 || answer.status === 304;
  const size = isStream
    ? streamBytes
    : body === undefined
      ? 0
      : typeof body === "string"
        ? Buffer.byteLength(body)
        : body.byteLength;
  const isSent = message.method !== "HEAD" && !isBodiless;
  if (isSent && size > maxDroppedBytes && !connection.memory.fits(size)) {
    if (body instanceof Readable) body.destroy();
    return writeAnswer(message, response, refusal(memoryExhausted()), { closing, connection });
  }
  const fields: Record<string, string | readonly string[] | number> = { ...answer.headers };
  if (!isStream && !isBodiless && !("content-length" in fields)) fields["content-length"] = size;
  const isUnread = leavesUnread(message);
  // Node would send a second answer to a request that exceeds its time.
  if (closing || isUnread || (answer.status === 408 && !message.complete))
    fields["connection"] = "close";
  response.writeHead(answer.status, fields as Record<string, string | string[] | number>);
  if (isStream)
    return writeStream(
      response,
      body instanceof Readable ? body : Readable.from(body),
      isSent,
      connection,
    );
  const content = isSent ? body : undefined;
  if (content !== undefined && size > maxDroppedBytes)
    return writeSlices(response, sliced(content, size), size, connection.holder).then(async () => {
      if (isUnread) await lingered(message);
      response.end();
    });
  if (isUnread && message.method !== "HEAD") {
    if (content === undefined) response.flushHeaders();
    else response.write(content);
    return lingered(message).then(() => void response.end());
  }
  response.end(content);
  // The kernel has nearly always taken all of it by now.
  if (response.writableLength > 0) {
    connection.holder.take(size);
    response.once("close", () => connection.holder.give(size));
  }
}

/**
 * Whether the rest of the request is too long to drop, so that the connection must end. In HTTP/2
 * only the stream ends.
 */
function leavesUnread(message: IncomingMessage): boolean {
  return (
    message.httpVersionMajor < 2 &&
    !message.complete &&
    (message.headers["expect"] !== undefined ||
      !(Number(message.headers["content-length"]) <= maxDroppedBytes))
  );
}

async function writeStream(
  response: ServerResponse,
  stream: Readable,
  isSent: boolean,
  { holder }: CallerConnection,
): Promise<void> {
  if (!isSent) {
    stream.destroy();
    response.end();
    return;
  }
  holder.take(streamBytes);
  try {
    await pipeline(stream, response);
  } catch (fault) {
    // A caller that left isn't an error. A broken stream is, and after the headers all we can do is
    // cut.
    const callerLeft =
      response.destroyed && (fault as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
    response.destroy();
    if (!callerLeft) throw fault;
  } finally {
    holder.give(streamBytes);
  }
}

/**
 * Receives and drops the rest of the body for a while. Closing at once would make the kernel reset
 * the connection, and a caller that is still sending would never see the answer (RFC 9112, section
 * 9.6).
 */
function lingered(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (message.destroyed) return resolve();
    const timer = setTimeout(resolve, lingerMs);
    message.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    message.on("error", () => resolve());
    message.resume();
  });
}
