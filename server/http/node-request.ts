// One request of node:http, in the plain shape of src/base/ports.ts.

import type { IncomingMessage } from "node:http";
import { Abort } from "../../src/base/aborts.ts";
import { BadRequest, memoryExhausted, PayloadTooLarge } from "../../src/base/errors.ts";
import type { HttpRequest } from "../../src/base/ports.ts";
import { alreadyRead } from "../../src/http/bodies.ts";
import { BodyReader } from "./body-reader.ts";
import type { CallerConnection } from "./caller-connection.ts";
import { chunkBytes } from "./held-memory.ts";

export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly scheme: "http" | "https";
  readonly #message: IncomingMessage;
  readonly #connection: CallerConnection;
  readonly #sayContinue: (() => void) | undefined;
  #body: Promise<Uint8Array> | undefined;
  #stream: BodyReader | undefined;
  #isReceiving = false;
  #isAnswered = false;
  #held = 0;
  #departure: Abort | undefined;
  #leave: (() => void) | undefined;

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

  get signal(): AbortSignal {
    return this.departure.signal;
  }

  get departure(): Abort {
    if (this.#departure === undefined) {
      const departure = (this.#departure = new Abort());
      this.#leave = () => departure.abort(new Error("The caller went away"));
      if (this.#message.socket.destroyed) this.#leave();
      else this.#connection.aborts.add(this.#leave);
    }
    return this.#departure;
  }

  get isReceiving(): boolean {
    return this.#isReceiving || this.#stream?.isReceiving === true;
  }

  /** Its body streams, or waits for a handler that hasn't decided yet how to read it. */
  get mayTakeLong(): boolean {
    if (this.#message.complete) return false;
    return this.#stream === undefined
      ? this.#body === undefined && !this.#isAnswered
      : this.#stream.isReceiving;
  }

  /** There is an answer, so the body isn't needed any more. */
  answered(): void {
    this.#isAnswered = true;
    this.#body = undefined;
    this.#connection.holder.give(this.#held);
    this.#held = 0;
  }

  /** The answer is written, so the signal isn't aborted any more, and nobody reads the body. */
  finished(): void {
    if (this.#stream !== undefined) {
      void this.#stream.return();
      // Node drops what is left of a body only if nobody has begun to read it.
      this.#message.resume();
    }
    if (this.#leave !== undefined) this.#connection.aborts.delete(this.#leave);
  }

  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#read() };
  }

  readBody(limit: number): Promise<Uint8Array> {
    if (this.#stream !== undefined) return Promise.reject(alreadyRead("request"));
    return (this.#body ??= this.#collect(limit));
  }

  #read(): BodyReader {
    if (this.#stream !== undefined || this.#body !== undefined) throw alreadyRead("request");
    this.#sayContinue?.();
    return (this.#stream = new BodyReader(this.#message, this.#connection, gone));
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
