// CORS: the rights of pages of other origins.

import type { Args, CallHeaders } from "../base/call.ts";
import { varying } from "./answers.ts";
import type { Middleware } from "./middleware.ts";
import type { HeaderFields, HttpResponse } from "../base/ports.ts";
import type { Version } from "../base/version.ts";
import { callMethods } from "../base/protocol.ts";
import { parsedUrl } from "../base/url.ts";

// A brand instead of `instanceof`: an application's bundle may hold a copy of this module.
const brand: unique symbol = Symbol.for("seamline.cors");

/** Options of {@link CorsMiddleware}. */
export interface CorsOptions {
  /**
   * Pages may send cookies and read the answers. Needs a list of origins, not `*`. @default false
   */
  readonly credentials?: boolean;
  /** Response headers that pages may read: comma-separated names, a list of names, or `*`. */
  readonly exposeHeaders?: string | readonly string[];
}

/**
 * Lets pages of other origins call procedures. Adds its headers to every answer to a call, refusals
 * included, and to preflights; not to files and health.
 */
export class CorsMiddleware implements Middleware {
  readonly #origins: readonly string[];
  /** Whether a list of origins was passed. A single origin is sent to all callers, and browsers compare. */
  readonly #isList: boolean;
  readonly #headers: string;
  readonly #credentials: boolean;
  readonly #exposed: string | undefined;

  /**
   * @param origin an origin as browsers send it (`https://shop.example`), a list of them, or `*`
   * (default). `*` doesn't allow calls without a preflight: list the origins to allow these
   * @param headers comma-separated names, or `*` (default). Without credentials, browsers don't
   * count
   * `authorization` among `*`
   * @param options credentials, and response headers that pages may read
   * @throws TypeError for an origin that no browser sends, invalid header names, or credentials
   * together with `*`
   */
  constructor(origin: string | readonly string[] = "*", headers = "*", options: CorsOptions = {}) {
    this.#isList = typeof origin !== "string";
    this.#origins = checkedOrigins(origin);
    this.#headers = checkedHeaders("headers", headers);
    const { credentials = false, exposeHeaders } = checkedOptions(options);
    if (credentials && this.#origins.includes("*"))
      throw new TypeError(
        "CorsMiddleware: credentials take origins that are named: with '*' every site could act as the signed-in user",
      );
    this.#credentials = credentials;
    this.#exposed =
      exposeHeaders === undefined
        ? undefined
        : checkedHeaders("exposeHeaders", listed(exposeHeaders));
    if (credentials && this.#exposed === "*")
      throw new TypeError(
        "CorsMiddleware: with credentials browsers take '*' in exposeHeaders for a name: list the headers",
      );
  }

  // Answers get the headers as they leave: a refusal before any middleware runs needs them too.
  handle(
    _fqn: string,
    _version: Version,
    _args: Args,
    _headers: CallHeaders,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    return next();
  }

  /** Whether an `Origin` is listed by name, not only covered by `*`. @internal */
  names(origin: unknown): boolean {
    return typeof origin === "string" && origin !== "*" && this.#origins.includes(origin);
  }

  /** Whether a page of this `Origin` may open a WebSocket, which brings its user's cookies. @internal */
  admits(origin: unknown): boolean {
    return this.#credentials && this.names(origin);
  }

  /** Adds the CORS headers to an answer to `request`. @internal */
  onto(
    answer: HttpResponse,
    request: HeaderFields,
    methods: readonly string[] = callMethods,
  ): HttpResponse {
    const allowed = this.#isList
      ? this.#origins.find((origin) => origin === request["origin"])
      : this.#origins[0];
    const fields: HttpResponse["headers"] = Object.assign(
      {},
      answer.headers,
      allowed === undefined ? undefined : this.#headersFor(allowed, methods),
      // A cache must not give one origin's answer to another.
      allowed === "*" ? undefined : { vary: varying(answer.headers["vary"], "origin") },
    );
    return Object.assign({}, answer, { headers: fields });
  }

  /** Adds the CORS headers to an answer to a preflight, which browsers may cache. @internal */
  ontoPreflight(
    answer: HttpResponse,
    request: HeaderFields,
    methods: readonly string[] = callMethods,
  ): HttpResponse {
    const answered = this.onto(
      { ...answer, headers: { ...answer.headers, "access-control-max-age": "86400" } },
      request,
      methods,
    );
    if (!this.#credentials || this.#headers !== "*") return answered;
    // With credentials, browsers take `*` literally: allow the requested headers by name.
    const requested = request["access-control-request-headers"];
    const { "access-control-allow-headers": _, ...fields } = answered.headers;
    const allowed =
      typeof requested === "string" && isHeaderList(requested)
        ? { "access-control-allow-headers": requested }
        : {};
    return {
      ...answered,
      headers: {
        ...fields,
        ...allowed,
        vary: varying(fields["vary"], "access-control-request-headers"),
      },
    };
  }

  #headersFor(origin: string, methods: readonly string[]): Record<string, string> {
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": this.#headers,
      ...(this.#credentials && { "access-control-allow-credentials": "true" }),
      ...(this.#exposed !== undefined && { "access-control-expose-headers": this.#exposed }),
    };
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

export function isCors(middleware: Middleware): middleware is CorsMiddleware {
  return (middleware as { [brand]?: true })[brand] === true;
}

function checkedOrigins(origin: unknown): readonly string[] {
  if (!Array.isArray(origin)) return [checkedOrigin(origin)];
  if (origin.length === 0)
    throw new TypeError(
      "CorsMiddleware takes at least one origin: an empty list would allow no page",
    );
  return origin.map((item) => {
    if (item === "*")
      throw new TypeError("CorsMiddleware takes '*' alone, not in a list of origins");
    return checkedOrigin(item);
  });
}

/** Browsers compare text: an origin with an extra slash or a capital would silently never match. */
function checkedOrigin(origin: unknown): string {
  if (origin === "*") return origin;
  const invalid = (hint: string): TypeError =>
    new TypeError(
      `CorsMiddleware takes an origin as browsers send it ('https://shop.example'), a list of them, or '*'; found ${shown(origin)}${hint}`,
    );
  if (typeof origin !== "string" || origin.includes("*")) throw invalid("");
  const url = parsedUrl(origin);
  if (url === undefined) throw invalid("");
  const { protocol, host, origin: parsed } = url;
  // `URL` says that other schemes (`capacitor://localhost`) have an opaque origin, but browsers
  // send them in this form.
  const normalized = parsed === "null" ? `${protocol}//${host}` : parsed;
  if (origin !== normalized || host === "")
    throw invalid(host === "" || /[\s,]/.test(origin) ? "" : `: did you mean '${normalized}'?`);
  return origin;
}

function checkedOptions(options: unknown): CorsOptions {
  if (typeof options !== "object" || options === null)
    throw new TypeError(
      `CorsMiddleware takes { credentials, exposeHeaders } as its third argument; found ${shown(options)}`,
    );
  for (const name of Object.keys(options))
    if (name !== "credentials" && name !== "exposeHeaders")
      throw new TypeError(
        `CorsMiddleware has no option '${name.slice(0, 64)}'; it has credentials and exposeHeaders`,
      );
  const { credentials } = options as CorsOptions;
  if (credentials !== undefined && typeof credentials !== "boolean")
    throw new TypeError(
      `CorsMiddleware: credentials is true or false; found ${shown(credentials)}`,
    );
  return options;
}

function checkedHeaders(argument: string, headers: unknown): string {
  if (typeof headers === "string" && isHeaderList(headers)) return headers.trim();
  throw new TypeError(
    `CorsMiddleware takes the names of headers, comma separated ('content-type, authorization'), or '*' as ${argument}; found ${shown(headers)}`,
  );
}

function isHeaderList(text: string): boolean {
  return /^\s*[-!#$%&'*+.^_`|~\w]+(\s*,\s*[-!#$%&'*+.^_`|~\w]+)*\s*$/.test(text);
}

function listed(names: unknown): unknown {
  return Array.isArray(names) ? names.join(", ") : names;
}

function shown(value: unknown): string {
  if (typeof value === "string") return `'${value.slice(0, 64)}'`;
  return value === null ? "null" : typeof value;
}
