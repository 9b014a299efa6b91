// CORS (§4.7): what browsers of other origins may do.

import type { Args, CallHeaders } from "./call.ts";
import type { Middleware } from "./middleware.ts";
import type { HttpResponse } from "./ports.ts";
import type { Version } from "./version.ts";

// An application's bundle may hold a copy of this module.
const brand: unique symbol = Symbol.for("seamline.cors");

/**
 * Lets pages of other origins call (§4.7). Its headers stand on every answer of the RPC door, refusals included, and a
 * preflight is answered with them. Chosen: not on files and health, as a middleware is a layer round calls.
 */
export class CorsMiddleware implements Middleware {
  readonly #origin: string;
  readonly #headers: string;

  /**
   * @param origin one origin, as browsers send it (`https://shop.example`), or `*` (default)
   * @param headers comma separated names, or `*` (default), which for browsers is all but `authorization`
   * @throws TypeError for an origin that no browser sends, or what can't be names of headers
   */
  constructor(origin = "*", headers = "*") {
    this.#origin = checkedOrigin(origin);
    this.#headers = checkedHeaders(headers);
  }

  // The door sends the headers itself: a refusal that comes before any middleware needs them too (decisions §6, errors).
  handle(_fqn: string, _version: Version, _args: Args, _headers: CallHeaders, next: () => Promise<unknown>): Promise<unknown> {
    return next();
  }

  /** Whether pages of `origin` may read answers. @internal */
  allows(origin: string | undefined): boolean {
    return this.#origin === "*" || this.#origin === origin;
  }

  /** `answer` as it goes to browsers. @internal */
  onto(answer: HttpResponse): HttpResponse {
    const { vary } = answer.headers;
    const varies =
      vary === undefined ? "origin" : /(?:^|,)\s*(?:\*|origin)\s*(?:,|$)/i.test(String(vary)) ? vary : `${String(vary)}, origin`;
    return {
      ...answer,
      headers: {
        ...answer.headers,
        "access-control-allow-origin": this.#origin,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": this.#headers,
        // One answer for each origin must not be kept for another.
        ...(this.#origin === "*" ? {} : { vary: varies }),
      },
    };
  }

  /** The answer to a preflight, with what a browser may keep of it. @internal */
  ontoPreflight(answer: HttpResponse): HttpResponse {
    return this.onto({ ...answer, headers: { ...answer.headers, "access-control-max-age": "86400" } });
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/** Recognised by brand: see above. */
export function isCors(layer: Middleware): layer is CorsMiddleware {
  return (layer as { [brand]?: true })[brand] === true;
}

/** Browsers compare text: an origin that differs in a slash or a capital never matches, and nobody would be told. */
function checkedOrigin(origin: unknown): string {
  if (origin === "*") return origin;
  const wrong = (hint: string): TypeError =>
    new TypeError(`CorsMiddleware takes one origin as browsers send it ('https://shop.example'), or '*'; ${shown(origin)} is none${hint}`);
  if (typeof origin !== "string" || origin.includes("*") || !URL.canParse(origin)) throw wrong("");
  const { protocol, host, origin: written } = new URL(origin);
  // Other schemes (`capacitor://localhost`) have an opaque origin for `URL`, but browsers send them in this form.
  const meant = written === "null" ? `${protocol}//${host}` : written;
  if (origin !== meant || host === "") throw wrong(host === "" || /[\s,]/.test(origin) ? "" : `: did you mean '${meant}'?`);
  return origin;
}

function checkedHeaders(headers: unknown): string {
  if (typeof headers === "string" && /^\s*[-!#$%&'*+.^_`|~\w]+(\s*,\s*[-!#$%&'*+.^_`|~\w]+)*\s*$/.test(headers)) return headers.trim();
  throw new TypeError(
    `CorsMiddleware takes the names of headers, comma separated ('content-type, authorization'), or '*'; ${shown(headers)} is neither`,
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? `'${value.slice(0, 64)}'` : value === null ? "null" : typeof value;
}
