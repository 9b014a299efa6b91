// CORS (§4.7): what browsers of other origins may do.

import type { Args, CallHeaders } from "./call.ts";
import type { Middleware } from "./middleware.ts";
import type { HeaderFields, HttpResponse } from "./ports.ts";
import type { Version } from "./version.ts";

// An application's bundle may hold a copy of this module.
const brand: unique symbol = Symbol.for("seamline.cors");

/** What {@link CorsMiddleware} lets pages do beyond calling. */
export interface CorsOptions {
  /** Pages may send cookies, and read the answers to such calls. Takes origins that are named, not `*`. @default false */
  readonly credentials?: boolean;
  /** Headers of answers that pages may read: comma separated names or a list of them, or `*`. */
  readonly exposeHeaders?: string | readonly string[];
}

/**
 * Lets pages of other origins call (§4.7). Its headers are on every answer to a call, refusals included, and a preflight is answered with them.
 * Files and health have none.
 */
export class CorsMiddleware implements Middleware {
  readonly #origins: readonly string[];
  /** Without it the one origin is sent to all, and browsers compare. */
  readonly #isList: boolean;
  readonly #headers: string;
  readonly #credentials: boolean;
  readonly #exposed: string | undefined;

  /**
   * @param origin an origin as browsers send it (`https://shop.example`), a list of them, or `*` (default), which lets pages read and no more:
   * calls that need no preflight are refused unless their origin is named here
   * @param headers comma separated names, or `*` (default). Without credentials browsers don't count `authorization` among `*`
   * @param options credentials, and headers of answers that pages may read
   * @throws TypeError for an origin that no browser sends, for what can't be names of headers, and for credentials with `*`
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

  // The handler of calls sends the headers itself: a refusal that comes before any middleware needs them too.
  handle(
    _fqn: string,
    _version: Version,
    _args: Args,
    _headers: CallHeaders,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    return next();
  }

  /** Whether an `Origin` is named here, and not only among all. @internal */
  names(origin: unknown): boolean {
    return typeof origin === "string" && origin !== "*" && this.#origins.includes(origin);
  }

  /** `answer` as it goes to the browser that sent `request`. @internal */
  onto(answer: HttpResponse, request: HeaderFields): HttpResponse {
    const allowed = this.#isList
      ? this.#origins.find((origin) => origin === request["origin"])
      : this.#origins[0];
    return {
      ...answer,
      headers: {
        ...answer.headers,
        ...(allowed !== undefined && this.#headersFor(allowed)),
        // One answer for each origin must not be kept for another.
        ...(allowed !== "*" && { vary: varying(answer.headers["vary"], "origin") }),
      },
    };
  }

  /** The answer to a preflight, with what a browser may keep of it. @internal */
  ontoPreflight(answer: HttpResponse, request: HeaderFields): HttpResponse {
    const answered = this.onto(
      { ...answer, headers: { ...answer.headers, "access-control-max-age": "86400" } },
      request,
    );
    if (!this.#credentials || this.#headers !== "*") return answered;
    // With credentials `*` is a name like any other for browsers, so what is asked for is named.
    const asked = request["access-control-request-headers"];
    const { "access-control-allow-headers": _, ...fields } = answered.headers;
    const named =
      typeof asked === "string" && isHeaderList(asked)
        ? { "access-control-allow-headers": asked }
        : {};
    return {
      ...answered,
      headers: {
        ...fields,
        ...named,
        vary: varying(fields["vary"], "access-control-request-headers"),
      },
    };
  }

  #headersFor(origin: string): Record<string, string> {
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": this.#headers,
      ...(this.#credentials && { "access-control-allow-credentials": "true" }),
      ...(this.#exposed !== undefined && { "access-control-expose-headers": this.#exposed }),
    };
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/** Recognised by brand: see above. */
export function isCors(layer: Middleware): layer is CorsMiddleware {
  return (layer as { [brand]?: true })[brand] === true;
}

/** A `vary` field with one more name. */
function varying(vary: string | readonly string[] | undefined, name: string): string {
  if (vary === undefined) return name;
  const names = String(vary)
    .toLowerCase()
    .split(/\s*,\s*/);
  return names.includes("*") || names.includes(name) ? String(vary) : `${String(vary)}, ${name}`;
}

function checkedOrigins(origin: unknown): readonly string[] {
  if (!Array.isArray(origin)) return [checkedOrigin(origin)];
  if (origin.length === 0)
    throw new TypeError("CorsMiddleware takes at least one origin: an empty list lets nobody in");
  return origin.map((one) => {
    if (one === "*")
      throw new TypeError("CorsMiddleware takes '*' alone, not in a list of origins");
    return checkedOrigin(one);
  });
}

/** Browsers compare text: an origin that differs in a slash or a capital never matches, and nobody would be told. */
function checkedOrigin(origin: unknown): string {
  if (origin === "*") return origin;
  const wrong = (hint: string): TypeError =>
    new TypeError(
      `CorsMiddleware takes an origin as browsers send it ('https://shop.example'), a list of them, or '*'; found ${shown(origin)}${hint}`,
    );
  if (typeof origin !== "string" || origin.includes("*") || !URL.canParse(origin)) throw wrong("");
  const { protocol, host, origin: written } = new URL(origin);
  // Other schemes (`capacitor://localhost`) have an opaque origin for `URL`, but browsers send them in this form.
  const meant = written === "null" ? `${protocol}//${host}` : written;
  if (origin !== meant || host === "")
    throw wrong(host === "" || /[\s,]/.test(origin) ? "" : `: did you mean '${meant}'?`);
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
  return typeof value === "string"
    ? `'${value.slice(0, 64)}'`
    : value === null
      ? "null"
      : typeof value;
}
