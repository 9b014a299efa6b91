// One request of node:http, in the plain shape of src/base/ports.ts.

import type { IncomingMessage } from "node:http";
import { Abort } from "../../src/base/aborts.ts";
import { BadRequest, memoryExhausted, PayloadTooLarge } from "../../src/base/errors.ts";
import type { HttpRequest } from "../../src/base/ports.ts";
import type { RequestNotes } from "../../src/base/ports/telemetry.ts";
import { alreadyRead } from "../../src/http/bodies.ts";
import { BodyReader } from "./body-reader.ts";
import type { CallerConnection, Leaver } from "./connection/caller-connection.ts";
import { chunkBytes } from "../host/held-memory.ts";

/** A body that is read as a whole, while it arrives. */
interface Collected {
  readonly limit: number;
  readonly chunks: Buffer[];
  size: number;
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (reason: Error) => void;
}

export class NodeRequest implements HttpRequest, Leaver {
  place = -1;
  waitedMs = 0;
  onCut: ((reason: Error) => void) | undefined = undefined;
  notes: RequestNotes | undefined = undefined;
  readonly method: string;
  target: string;
  readonly scheme: "http" | "https";
  readonly #message: IncomingMessage;
  readonly #connection: CallerConnection;
  readonly #sayContinue: (() => void) | undefined;
  #body: Promise<Uint8Array> | undefined;
  #stream: BodyReader | undefined;
  #collected: Collected | undefined;
  #isAnswered = false;
  #isFinished = false;
  #held = 0;
  #departure: Abort | undefined;

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
      this.#departure = new Abort();
      if (this.#message.socket.destroyed) this.leave();
      else if (!this.#isFinished) this.#connection.leavers.add(this);
    }
    return this.#departure;
  }

  /** The caller is gone. The errors aren't sent, but they end the code that waits for the body. */
  leave(): void {
    if (this.#collected !== undefined) this.#stop(gone());
    if (!this.#isFinished) this.#departure?.abort(new Error("The caller went away"));
  }

  /** The service stops, and can't wait for the request any longer. */
  cut(reason: Error): void {
    if (this.#isFinished) return;
    if (this.#collected !== undefined) this.#stop(reason);
    this.departure.abort(reason);
    this.onCut?.(reason);
  }

  get isReceiving(): boolean {
    return this.#collected !== undefined || this.#stream?.isReceiving === true;
  }

  /** Whether its body streams, or a handler has yet to decide how to read it. */
  get mayTakeLong(): boolean {
    if (this.#message.complete) return false;
    return this.#stream === undefined
      ? this.#body === undefined && !this.#isAnswered
      : this.#stream.isReceiving;
  }

  /** The answer exists, so the body isn't needed any more. */
  answered(): void {
    this.#isAnswered = true;
    this.#body = undefined;
    this.#connection.holder.give(this.#held);
    this.#held = 0;
  }

  /** The answer is written: from now on the signal isn't aborted, and the body isn't read. */
  finished(): void {
    if (this.#stream !== undefined) {
      void this.#stream.return();
      // Node drops the rest of a body only if reading hasn't begun.
      this.#message.resume();
    }
    this.#isFinished = true;
    this.onCut = undefined;
    this.#stay();
  }

  /** Stops watching for the caller's leaving, if that has no effect any more. */
  #stay(): void {
    if (this.#collected === undefined && (this.#isFinished || this.#departure === undefined))
      this.#connection.leavers.remove(this);
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
    // A destroyed message has no more events.
    if (message.destroyed) return Promise.reject(gone());
    this.#sayContinue?.();
    this.#connection.leavers.add(this);
    return new Promise((resolve, reject) => {
      this.#collected = { limit, chunks: [], size: 0, resolve, reject };
      // Node keeps the last request of a connection, and with it its listeners: they hold nothing
      // but this request, which lets go of its body.
      message.on("data", (chunk: Buffer) => this.#take(chunk));
      message.on("end", () => this.#end());
    });
  }

  #take(chunk: Buffer): void {
    const collected = this.#collected;
    if (collected === undefined) return;
    collected.size += chunk.length;
    if (collected.size > collected.limit) return this.#stop(tooLarge(collected.limit));
    const { memory, holder } = this.#connection;
    const held = chunk.length + chunkBytes;
    if (!memory.fits(held)) return this.#stop(memoryExhausted());
    holder.take(held);
    this.#held += held;
    collected.chunks.push(chunk);
  }

  #end(): void {
    const collected = this.#collected;
    if (collected === undefined) return;
    this.#collected = undefined;
    this.#stay();
    const { chunks, resolve } = collected;
    resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  }

  /** Stops collecting the body, and drops its chunks. */
  #stop(reason: Error): void {
    const collected = this.#collected;
    this.#collected = undefined;
    this.#stay();
    this.#connection.holder.give(this.#held);
    this.#held = 0;
    collected?.reject(reason);
  }
}

/** Servers must accept a whole URL as request target (RFC 9112, section 3.2.2): its path counts. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const path = /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  if (path === undefined) return target;
  return path.startsWith("/") ? path : `/${path}`;
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
}

function gone(): BadRequest {
  return new BadRequest("The request ended before its body did");
}
