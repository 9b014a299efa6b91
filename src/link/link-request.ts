// A call that came over a link, as a role sees it.

import { memoryExhausted, PayloadTooLarge } from "../base/errors.ts";
import type {
  AbortNotice,
  CallFrom,
  HeaderFields,
  HttpRequest,
  LinkedPeer,
} from "../base/ports.ts";
import type { RequestNotes } from "../base/ports/telemetry.ts";
import { alreadyRead, bytesOf } from "../http/bodies.ts";
import type { ArrivedCall } from "./calls.ts";

export class LinkRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly scheme = "http";
  readonly headers: HeaderFields;
  readonly via: LinkedPeer;
  readonly from: CallFrom;
  onCut?: ((reason: Error) => void) | undefined;
  notes: RequestNotes | undefined = undefined;
  waitedMs = 0;
  readonly #call: ArrivedCall;
  #whole: Uint8Array | Promise<Uint8Array> | undefined;
  #isRead = false;

  constructor(call: ArrivedCall, via: LinkedPeer) {
    this.#call = call;
    call.cutter = this;
    this.via = via;
    this.method = call.method;
    this.target = call.target;
    this.headers = withLength(call);
    this.from = call.from;
  }

  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#read() };
  }

  readBody(limit: number): Uint8Array | Promise<Uint8Array> {
    if (this.#isRead && this.#whole === undefined) return Promise.reject(alreadyRead("request"));
    this.#isRead = true;
    const { body } = this.#call;
    if (!(body instanceof Uint8Array)) return (this.#whole ??= this.#collect(body, limit));
    return (this.#whole ??= body.length <= limit ? body : Promise.reject(tooLarge(limit)));
  }

  get isReceiving(): boolean {
    const { body } = this.#call;
    return this.#isRead && !(body instanceof Uint8Array) && !body.isComplete;
  }

  get signal(): AbortSignal {
    return this.#call.departure.signal;
  }

  get departure(): AbortNotice {
    return this.#call.departure;
  }

  /** The service stops, and can't wait for the call any longer. */
  cut(reason: Error): void {
    const { body, departure } = this.#call;
    if (!(body instanceof Uint8Array)) body.fail(reason);
    departure.abort(reason);
    this.onCut?.(reason);
  }

  async #collect(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      if (!this.#call.keeps(chunk.length)) throw memoryExhausted();
      chunks.push(chunk);
    }
    return await bytesOf(chunks);
  }

  #read(): AsyncIterator<Uint8Array> {
    if (this.#isRead) throw alreadyRead("request");
    this.#isRead = true;
    const { body } = this.#call;
    return (body instanceof Uint8Array ? parts(body) : body)[Symbol.asyncIterator]();
  }
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
}

/** Adds the fields in which HTTP announces a body: handlers look for them. */
function withLength({ headers, body }: ArrivedCall): HeaderFields {
  if ("content-length" in headers) return headers;
  const isWhole = body instanceof Uint8Array;
  if (isWhole && body.length === 0) return headers;
  // The head was read for this call alone.
  const fields = headers as Record<string, string>;
  if (isWhole) fields["content-length"] = String(body.length);
  else fields["transfer-encoding"] = "chunked";
  return fields;
}

async function* parts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
