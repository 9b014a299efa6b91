// Wraps a request. Subclasses override parts of it.

import type { AbortNotice, CallFrom, LinkedPeer } from "../../../src/base/ports.ts";
import type { HeaderFields, HttpRequest } from "../../../src/base/ports.ts";
import type { RequestNotes } from "../../../src/base/ports/telemetry.ts";

/** Nothing is optional here: a property that isn't passed on would be missing whenever the console has viewers. */
type Whole = { [Key in keyof Required<HttpRequest>]: HttpRequest[Key] };

export class RequestWrapper implements Whole {
  readonly #request: HttpRequest;

  constructor(request: HttpRequest) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string {
    return this.#request.target;
  }

  get scheme(): "http" | "https" {
    return this.#request.scheme;
  }

  get address(): string | undefined {
    return this.#request.address;
  }

  get headers(): HeaderFields {
    return this.#request.headers;
  }

  get waitedMs(): number {
    return this.#request.waitedMs ?? 0;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get departure(): AbortNotice | undefined {
    return this.#request.departure;
  }

  get notes(): RequestNotes | undefined {
    return this.#request.notes;
  }

  get via(): LinkedPeer | undefined {
    return this.#request.via;
  }

  get cookiesAreSent(): HttpRequest["cookiesAreSent"] {
    return this.#request.cookiesAreSent;
  }

  get from(): CallFrom | undefined {
    return this.#request.from;
  }

  get onCut(): HttpRequest["onCut"] {
    return this.#request.onCut;
  }

  set onCut(cut: HttpRequest["onCut"]) {
    this.#request.onCut = cut;
  }

  get isReceiving(): boolean {
    return this.#request.isReceiving === true;
  }

  get body(): AsyncIterable<Uint8Array> {
    return this.#request.body;
  }

  readBody(limit: number): Uint8Array | Promise<Uint8Array> {
    return this.#request.readBody(limit);
  }
}
