// One request of node:http, and its answer, in the plain shapes of src/ports.ts.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BadRequest, PayloadTooLarge, type ServiceError, statusOf } from "../src/errors.ts";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { answerHeaders, headers, mediaTypes } from "../src/protocol.ts";

// How long an answered caller may go on sending a body that nobody reads, before he is cut.
const lingerTime = 2_000;
// Bytes of a body that nobody reads which still cost less than a new connection.
const dropped = 65_536;

/** One connection: how many requests it has open, and what to abort when it closes. */
export interface Connection {
  open: number;
  readonly aborts: Set<() => void>;
}

/** A request of node:http in the plain shape. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly scheme: "http" | "https";
  readonly #message: IncomingMessage;
  readonly #connection: Connection;
  readonly #sayContinue: (() => void) | undefined;
  #body: Promise<Uint8Array> | undefined;
  #controller: AbortController | undefined;
  #abort: (() => void) | undefined;

  constructor(message: IncomingMessage, connection: Connection, sayContinue: (() => void) | undefined) {
    this.method = message.method ?? "GET";
    this.target = originForm(message.url ?? "/");
    this.scheme = "encrypted" in message.socket ? "https" : "http";
    this.#message = message;
    this.#connection = connection;
    this.#sayContinue = sayContinue;
  }

  // Node makes it of what came when it is first read.
  get headers(): HttpRequest["headers"] {
    return this.#message.headers;
  }

  // Made when first read: 2 µs that most requests never need.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController());
      this.#abort = () => controller.abort(new Error("The caller went away"));
      if (this.#message.socket.destroyed) this.#abort();
      else this.#connection.aborts.add(this.#abort);
    }
    return this.#controller.signal;
  }

  /** After the answer nobody is told that the caller went away. */
  finished(): void {
    if (this.#abort !== undefined) this.#connection.aborts.delete(this.#abort);
  }

  readBody(limit: number): Promise<Uint8Array> {
    return (this.#body ??= this.#collect(limit));
  }

  #collect(limit: number): Promise<Uint8Array> {
    const message = this.#message;
    if (Number(message.headers["content-length"] ?? 0) > limit) return Promise.reject(tooLarge(limit));
    // No event would come any more.
    if (message.destroyed) return Promise.reject(gone());
    this.#sayContinue?.();
    return new Promise((resolve, reject) => {
      const { aborts } = this.#connection;
      const leave = (): void => reject(gone());
      // The caller is gone, and nobody reads this: but what waits for the body must come to its end.
      aborts.add(leave);
      const chunks: Buffer[] = [];
      let size = 0;
      const take = (chunk: Buffer): void => {
        size += chunk.length;
        if (size <= limit) return void chunks.push(chunk);
        message.off("data", take);
        chunks.length = 0;
        aborts.delete(leave);
        reject(tooLarge(limit));
      };
      message.on("data", take);
      message.once("end", () => {
        aborts.delete(leave);
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      });
    });
  }
}

/** A whole address in place of a path is to be taken by every server (RFC 9112 §3.2.2): its path counts. */
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

/** The answer to a request that no role gets to see. */
export function refusal(error: ServiceError): HttpResponse {
  const { kind } = error.constructor as typeof ServiceError;
  return {
    status: statusOf(error),
    headers: { "content-type": mediaTypes.text, [headers.error]: kind, ...answerHeaders },
    body: error.message,
  };
}

/** Writes an answer, and settles what becomes of the connection. */
export async function writeAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  { closing, takeTime }: { closing: boolean; takeTime: number },
): Promise<void> {
  const { body } = answer;
  const fields: Record<string, string | readonly string[] | number> = { ...answer.headers };
  const streamed = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const bodiless = answer.status === 204 || answer.status === 304;
  if (!streamed && !bodiless && !("content-length" in fields))
    fields["content-length"] = body === undefined ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  // Nobody reads the rest of this request: a short one Node drops as it comes, with a long one the connection ends. In HTTP/2 its stream does.
  const unread =
    message.httpVersionMajor < 2 &&
    !message.complete &&
    (message.headers["expect"] !== undefined || !(Number(message.headers["content-length"]) <= dropped));
  if (closing || unread) fields["connection"] = "close";
  response.writeHead(answer.status, fields as Record<string, string | string[] | number>);
  if (streamed) {
    const stream = body instanceof Readable ? body : Readable.from(body);
    if (message.method === "HEAD" || bodiless) {
      stream.destroy();
      response.end();
      return;
    }
    cutUntaken(response, takeTime);
    await pipeline(stream, response).catch((fault: unknown) => abandon(response, fault));
  } else if (unread && message.method !== "HEAD") {
    if (body !== undefined) response.write(body);
    else response.flushHeaders();
    await lingered(message);
    response.end();
  } else {
    response.end(message.method === "HEAD" ? undefined : body);
    // Nearly always the kernel has taken all of it by now.
    if ((response.socket?.writableLength ?? 0) > 0) cutUntaken(response, takeTime);
  }
}

/** Ends the connection of a caller who takes nothing of his answer for `ms`: it stays in our memory as long (R14). */
function cutUntaken(response: ServerResponse, ms: number): void {
  // A stream that has nothing to send for so long is another matter.
  response.setTimeout(ms, () => (response.socket?.writableLength ?? 0) > 0 && response.destroy());
}

// A caller that went away is no fault; a stream that broke is, and the only way to say so after the headers is to cut.
function abandon(response: ServerResponse, fault: unknown): void {
  const callerLeft = response.destroyed && (fault as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
  response.destroy();
  if (!callerLeft) throw fault;
}

/**
 * Takes in and drops what still comes of the body, for a while. Closing at once would make the kernel reset the connection,
 * and the caller, still sending, would never see the answer (RFC 9112 §9.6).
 */
function lingered(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (message.destroyed) return resolve();
    const timer = setTimeout(resolve, lingerTime);
    message.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    message.on("error", () => resolve());
    message.resume();
  });
}
