// Wraps a request. Subclasses override parts of it.

import type { AbortNotice } from "../../../src/base/ports.ts";
import type { HeaderFields, HttpRequest } from "../../../src/base/ports.ts";

export class RequestWrapper implements HttpRequest {
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

  get headers(): HeaderFields {
    return this.#request.headers;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get departure(): AbortNotice | undefined {
    return this.#request.departure;
  }

  get isReceiving(): boolean {
    return this.#request.isReceiving === true;
  }

  get body(): AsyncIterable<Uint8Array> {
    return this.#request.body;
  }

  readBody(limit: number): Promise<Uint8Array> {
    return this.#request.readBody(limit);
  }
}
