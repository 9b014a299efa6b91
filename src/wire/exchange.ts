// An incoming call or request for a route: its head, read and checked once. Arguments, bodies and answers aren't
// part of it: the steps that make them hand them on.

import { Abort, abortWith } from "../base/aborts.ts";
import type { Call } from "../base/call.ts";
import type { CorsMiddleware } from "../http/cors.ts";
import { DeadlineExceeded, Forbidden, LoopDetected, ProcedureNotFound } from "../base/errors.ts";
import { isUnsafePath, procedureNotFound } from "../base/fqn.ts";
import { publicCaller } from "../base/ip.ts";
import { withFields, withHeaders } from "../http/answers.ts";
import { tooManyCalls } from "../http/refusals.ts";
import type { MiddlewareHeaders } from "../http/middleware.ts";
import type { Clock, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { RequestedOrigin, PublicOrigin } from "../http/public-origin.ts";
import { cookiesHeader } from "../base/page-link.ts";
import { mostHops, policyHeader, rpcPath } from "../base/protocol.ts";
import { isMasked, readCrossSite, readRelayHeaders } from "../http/relay-headers.ts";
import { decodeSegment, pathOf, queryOf } from "../http/router.ts";
import type { Limits } from "../base/limits.ts";
import type { Trust } from "../http/trust.ts";
import type { MatchedRoute } from "../runtime/routes.ts";
import {
  defaultVersion,
  readVersion,
  type Version,
  versionIn,
  withoutVersion,
} from "../base/version.ts";
import type { Admission, Place } from "./admission.ts";
import { CallState } from "./call-state.ts";
import { changesCookie } from "../http/context/cookies.ts";
import { needsNoPreflight } from "./body-type.ts";
import { type Encoding, headerText } from "./encoding.ts";
import type { OpenStreams } from "./open-streams.ts";
import { procedureHeaders } from "./procedure-headers.ts";

/** The options for reading the head of a request. */
export interface ExchangeOptions {
  readonly encoding: Encoding;
  readonly trust: Trust;
  readonly web: PublicOrigin;
  readonly cors: CorsMiddleware | undefined;
  readonly limits: Limits;
  readonly clock: Clock;
  /** The route that the request is for, if it isn't a call of a procedure. */
  readonly route: MatchedRoute | undefined;
  /** Replaces the request's own body. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** This service masks errors. */
  readonly masks: boolean;
  readonly admission: Admission;
  readonly streams: OpenStreams;
}

export class Exchange implements Call {
  readonly request: HttpRequest;
  readonly encoding: Encoding;
  /** The sender's rights. */
  readonly trust: Trust;
  /** The name of the procedure, or of the route. */
  readonly fqn: string;
  readonly version: Version;
  /** The query as sent, without `?`. */
  readonly query: string;
  /** How many services have passed it on. */
  readonly hops: number;
  /** The host and scheme that the outermost caller requested. */
  readonly requestedOrigin: RequestedOrigin;
  /**
   * A page of another origin makes the call without a preflight, and no CORS middleware names that
   * origin.
   */
  readonly crossSite: boolean;
  readonly route: MatchedRoute | undefined;
  /** Errors in the answer are masked, here and by all services that the call is passed on to. */
  readonly masksErrors: boolean;
  readonly #options: ExchangeOptions;
  #deadline: number;
  #state: CallState | undefined;
  #hasBegun = false;
  #place: Place | "none" | "over" = "none";
  #headers: MiddlewareHeaders | undefined;
  #kept: HttpResponse["headers"] | undefined;
  #abort: Abort | undefined;
  #expired: Error | undefined;

  /** Throws if the request can't be a call. {@link end} gives back the place that {@link enter} takes. */
  constructor(request: HttpRequest, options: ExchangeOptions) {
    const { encoding, trust, web, cors, limits, clock, route } = options;
    this.request = request;
    this.route = route;
    this.#options = options;
    this.encoding = encoding;
    this.trust = trust;
    const name =
      route === undefined
        ? decodeSegment(pathOf(request.target).slice(rpcPath.length))
        : route.info.name;
    this.fqn = route === undefined ? withoutVersion(name) : name;
    if (this.fqn === "") throw new ProcedureNotFound("The path names no procedure");
    this.query = queryOf(request.target);
    this.version = route === undefined ? readVersion(this.query, versionIn(name)) : defaultVersion;
    // A service that passes the call on might normalise such a path, and then send the trust key to
    // another path than the one that was checked.
    if (isUnsafePath(this.fqn)) throw procedureNotFound(this.fqn, this.version.toString());
    const { hops, msLeft } = readRelayHeaders(request.headers, trust);
    this.hops = hops;
    if (hops > mostHops)
      throw new LoopDetected(`The call has passed more than ${mostHops} services`);
    const ms = Math.min(msLeft ?? limits.callTimeoutMs, limits.callTimeoutMs);
    // Its caller still waits. So it came at some time of the last `ms`, and the middle is nearest.
    this.#deadline = clock.now() + ms - Math.min(request.waitedMs ?? 0, ms) / 2;
    this.requestedOrigin = web.requestedOrigin(request, trust);
    this.masksErrors = isMasked(request.headers, trust, options.masks);
    this.crossSite =
      !(route !== undefined && (request.method === "GET" || request.method === "HEAD")) &&
      isCrossSite(request, trust, web, this.requestedOrigin) &&
      cors?.names(request.headers["origin"]) !== true;
  }

  /** In ms of this host's clock. */
  get deadline(): number {
    return this.#deadline;
  }

  /** Shortens the call's time. */
  endBy(deadline: number): void {
    this.#deadline = Math.min(this.#deadline, deadline);
  }

  /** The address on the internet that sends it over HTTP, and isn't a proxy; `undefined` for all others. */
  get caller(): string | undefined {
    // A page's link has limits of its own.
    if (this.trust.relays || this.request.cookiesAreSent === false) return undefined;
    const { address } = this.#options.web.seen(this.request, this.requestedOrigin);
    return address && publicCaller(address);
  }

  /** The request's body as it streams. */
  get body(): AsyncIterable<Uint8Array> {
    return this.#options.body ?? this.request.body;
  }

  /**
   * Gives `take` the body of a call once it is here. While it is awaited, the call takes no place among the running
   * ones. Returns `undefined` if nothing was awaited. Throws or rejects if the body has more than `limit` bytes.
   */
  receiveBody(limit: number, take: (body: Uint8Array) => void): Promise<void> | undefined {
    const reading = this.request.readBody(limit);
    if (reading instanceof Uint8Array) {
      take(reading);
      return undefined;
    }
    this.awaitBody();
    return reading.then((body) => {
      this.enter();
      take(body);
    });
  }

  /** The request's headers as procedures may see them; made when first read. */
  get headers(): MiddlewareHeaders {
    return (this.#headers ??= procedureHeaders(this.request.headers, {
      seesHost: !this.trust.relays,
      seesForwarded: this.requestedOrigin.isForwarded,
    }));
  }

  get signal(): AbortSignal {
    return this.departure.signal;
  }

  /** The same as `signal`, for less than it costs: its caller leaves, or its time is over. */
  get departure(): Abort {
    if (this.#abort === undefined) {
      this.#abort = new Abort();
      if (this.#expired !== undefined) this.#abort.abort(this.#expired);
      else abortWith(this.#abort, this.request.departure ?? this.request.signal);
    }
    return this.#abort;
  }

  /** Outer request, locals, and settings of the answer; made when first read. */
  get state(): CallState {
    if (this.#state === undefined) {
      this.#state = new CallState(this, this.#options);
      if (this.#hasBegun) this.#state.begin();
    }
    return this.#state;
  }

  /** Called when the procedure starts. */
  begin(): void {
    this.#hasBegun = true;
    this.#state?.begin();
  }

  /** The body is awaited: until it is there, the call takes no place among the running ones. */
  awaitBody(): void {
    if (typeof this.#place !== "number") return;
    this.#options.admission.leave(this.#place);
    this.#place = "none";
  }

  /**
   * Takes a place among the running calls: on arrival, and again when its body is there. Throws if the limit of
   * concurrent calls is reached, or if this call is over.
   */
  enter(): void {
    if (this.#place === "over") throw new DeadlineExceeded();
    const place = this.#options.admission.enter(this.fqn);
    if (place === undefined) throw tooManyCalls();
    this.#place = place;
  }

  /**
   * Resolves once the call may begin. Returns `undefined` if it may at once. Rejects if the call is over by then,
   * or its caller has gone.
   */
  turn(): Promise<void> | undefined {
    return this.#options.admission.turn(this.fqn)?.then(() => {
      if (this.#place === "over") throw new DeadlineExceeded();
      this.signal.throwIfAborted();
    });
  }

  /** Part of the body is there, of a call that had begun before: it gets a place in any case. */
  resume(): void {
    if (this.#place === "none") this.#place = this.#options.admission.add();
  }

  /** The settings of the answer until now; `undefined` if there is none. */
  get settings(): CallState["settings"] {
    return this.#state?.settings;
  }

  /** The answer is there, or the call is refused: gives up its place. */
  end(): void {
    this.awaitBody();
    this.#place = "over";
  }

  /** The answer gets these headers in any case, unless it has others of the same names. */
  keep(headers: HttpResponse["headers"]): void {
    this.#kept = headers;
  }

  /** The answer with the settings of the application and its middleware. Later settings throw. */
  answered(given: HttpResponse): HttpResponse {
    let answer = given;
    const kept = this.#kept;
    if (kept !== undefined) {
      // They include our own policies, and policies that the node's middleware added.
      const { [policyHeader]: policies } = kept;
      answer = withHeaders(
        withFields(answer, Object.assign({}, kept, answer.headers)),
        policies === undefined ? undefined : { [policyHeader]: policies },
      );
    }
    if (this.#headers !== undefined)
      answer = withHeaders(answer, this.#headers.over(answer.headers));
    // A route's own status counts.
    const isPlain = this.encoding === "plain" && this.route === undefined;
    answer = this.#state?.onto(answer, isPlain) ?? answer;
    return this.#changesCookies(answer)
      ? withHeaders(answer, { [cookiesHeader]: "changed" })
      : answer;
  }

  #changesCookies({ headers }: HttpResponse): boolean {
    const set = headers["set-cookie"];
    if (set === undefined || this.trust.relays) return false;
    const sent = headerText(this.request.headers["cookie"]);
    return [set].flat().some((text) => changesCookie(text, sent));
  }

  /** Its answer will be a stream. Throws if this service has as many as it may. */
  streams(): void {
    this.#options.streams.assertRoom(this.caller);
    this.state.streams();
  }

  /** Its stream has one more item. */
  yields(): void {
    this.#options.streams.yields();
  }

  /** Its stream may go on elsewhere: `move` is called when this service stops. Returns what to call at its end. */
  movable(move: () => void): () => void {
    return this.#options.streams.movable(move);
  }

  /** The call's time is over: aborts its signal. */
  expire(reason: Error): void {
    this.#expired = reason;
    this.#abort?.abort(reason);
  }
}

/** Throws Forbidden for a cross-site call. A role first checks whether the procedure is `safe`. */
export function refuseCrossSite(call: Exchange): void {
  if (call.crossSite)
    throw new Forbidden(
      `A page of another origin may not ${call.route === undefined ? "make this call" : "send this request"}`,
    );
}

function isCrossSite(
  request: HttpRequest,
  { relays }: Trust,
  web: PublicOrigin,
  requestedOrigin: RequestedOrigin,
): boolean {
  // The first service saw the browser's own fields, before any middleware changed them. Without its header, decide
  // from this request.
  const relayed = relays ? readCrossSite(request.headers) : undefined;
  return relayed ?? (needsNoPreflight(request) && web.isForeign(request.headers, requestedOrigin));
}
