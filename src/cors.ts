// CORS (§4.7): what browsers of other origins may do.

import type { Args, CallHeaders } from "./call.ts";
import type { Middleware } from "./middleware.ts";
import type { Version } from "./version.ts";

/**
 * Lets pages of other origins call (§4.7). Its headers stand on every answer of the RPC door, refusals included, and a
 * preflight is answered with them.
 */
export class CorsMiddleware implements Middleware {
  readonly #origin: string;
  readonly #headers: string;

  /**
   * @param origin one origin, or `*` (default)
   * @param headers comma separated names, or `*` (default)
   */
  constructor(origin = "*", headers = "*") {
    this.#origin = origin;
    this.#headers = headers;
  }

  // The door sends the headers itself: a refusal that comes before any middleware needs them too (decisions §6, errors).
  handle(_fqn: string, _version: Version, _args: Args, _headers: CallHeaders, next: () => Promise<unknown>): Promise<unknown> {
    return next();
  }

  /** Whether pages of `origin` may read answers. */
  allows(origin: string | undefined): boolean {
    return this.#origin === "*" || this.#origin === origin;
  }

  /** Set on every answer. */
  answerHeaders(): Record<string, string> {
    const headers = {
      "access-control-allow-origin": this.#origin,
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": this.#headers,
    };
    // One answer for each origin must not be kept for another.
    return this.#origin === "*" ? headers : { ...headers, vary: "origin" };
  }

  /** Set on the answer to a preflight, beside the others. */
  preflightHeaders(): Record<string, string> {
    return { ...this.answerHeaders(), "access-control-max-age": "86400" };
  }
}
