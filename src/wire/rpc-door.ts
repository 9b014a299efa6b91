// The RPC door (§4.1, §4.2): what every role checks of a call before it runs it or passes it on.

import type { Call, CallHeaders } from "../call.ts";
import type { CorsMiddleware } from "../cors.ts";
import {
  DeadlineExceeded,
  Forbidden,
  LoopDetected,
  MethodNotAllowed,
  noRoom,
  ProcedureNotFound,
  RequestTimeout,
} from "../errors.ts";
import { connectionOptions } from "../forwarded.ts";
import { leadsAstray } from "../fqn.ts";
import { MiddlewareHeaders } from "../middleware.ts";
import type { Clock, HeaderFields, Host, HttpRequest, HttpResponse } from "../ports.ts";
import type { Asked, PublicOrigin } from "../public-origin.ts";
import {
  headers,
  mostHops,
  policyHeader,
  rpcHeaders,
  rpcPath,
  serviceHeaders,
} from "../protocol.ts";
import { procedureNotFound } from "../registry.ts";
import { decodeSegment, pathOf, queryOf } from "../router.ts";
import type { Limits } from "../serializer/limits.ts";
import type { Credentials, Trust } from "../trust.ts";
import type { Version } from "../version.ts";
import { type Encoding, readEncoding, readVersion } from "./decode-call.ts";

/** A call as it stands at the door: checked, its arguments still bytes. */
export interface IncomingCall extends Trust {
  readonly request: HttpRequest;
  readonly fqn: string;
  readonly version: Version;
  /** As it came, without `?`. */
  readonly query: string;
  readonly encoding: Encoding;
  readonly deadline: number;
  readonly hops: number;
  readonly signal: AbortSignal;
  /** The request's headers as procedures may see them; made when first read. */
  readonly headers: MiddlewareHeaders;
  /** What the outermost caller asked for. */
  readonly asked: Asked;
  /** A page of another origin causes the call without having been asked for leave, and no CORS middleware names that origin. */
  readonly crossSite: boolean;
}

export interface RpcDoorParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  readonly cors: () => CorsMiddleware | undefined;
  /** Runs the call or passes it on. What it throws becomes the answer. */
  readonly answer: (call: IncomingCall) => Promise<HttpResponse>;
  /** The answer for what was thrown. */
  readonly refuse: (
    thrown: unknown,
    request: HttpRequest,
    encoding: Encoding,
    trust: Trust,
  ) => Promise<HttpResponse>;
}

export function createRpcDoor(
  parts: RpcDoorParts,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { host, limits } = parts;
  return async (request) => {
    const cors = parts.cors();
    if (request.method === "OPTIONS") {
      const allowed: HttpResponse = { status: 204, headers: { allow: "GET, POST", ...rpcHeaders } };
      return cors?.ontoPreflight(allowed, request.headers) ?? allowed;
    }
    const trust = parts.credentials.of(request.headers);
    let encoding: Encoding = "plain";
    let answer: HttpResponse;
    try {
      encoding = readEncoding(request.headers);
      if (request.method !== "GET" && request.method !== "POST") throw new MethodNotAllowed();
      if (!host.memory.hasRoom()) throw noRoom();
      const call = new Incoming(request, encoding, trust, parts.web, cors, limits, host.clock);
      answer = await withinDeadline(call, host.clock, parts.answer);
    } catch (thrown) {
      answer = await parts.refuse(thrown, request, encoding, trust);
    }
    answer = answerFor(trust, answer);
    return withPolicy(cors?.onto(answer, request.headers) ?? answer);
  };
}

/** What services say to each other about a refusal is for those that call by themselves. */
function answerFor({ member, holdsKey }: Trust, answer: HttpResponse): HttpResponse {
  if (!(serviceHeaders.refused in answer.headers) || (member && !holdsKey)) return answer;
  const { [serviceHeaders.refused]: _, ...others } = answer.headers;
  return { ...answer, headers: others };
}

/** `answer` with the policy of all answers of this door: what was passed on may have come without it. */
function withPolicy(answer: HttpResponse): HttpResponse {
  const given = answer.headers[policyHeader];
  const own = rpcHeaders[policyHeader];
  if (given === own) return answer;
  const policies =
    given === undefined
      ? []
      : [given].flat().flatMap((field) => field.split(",").map((one) => one.trim()));
  return policies.includes(own)
    ? answer
    : withHeaders(answer, { [policyHeader]: [own, ...policies] });
}

/** Refuses a cross-site call. A procedure declared safe needs no refusal, so roles that know it call this later. */
export function refuseCrossSite(call: IncomingCall): void {
  if (call.crossSite) throw new Forbidden("A page of another origin may not make this call");
}

function isCrossSite(
  request: HttpRequest,
  { member, holdsKey }: Trust,
  web: PublicOrigin,
  asked: Asked,
): boolean {
  // The first service has seen what the browser sent, before any middleware. Without its word the request is looked at anew.
  const said = member && !holdsKey ? request.headers[serviceHeaders.crossSite] : undefined;
  if (said === "yes" || said === "no") return said === "yes";
  return needsNoPreflight(request) && web.isForeign(request.headers, asked);
}

/** Browsers send these without asking first: a form or a link of any page can cause them. */
function needsNoPreflight({ method, headers: fields }: HttpRequest): boolean {
  const type = fields["content-type"];
  if (method === "GET" || type === undefined || type === "") return true;
  return /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i.test(
    String(type),
  );
}

class Incoming implements IncomingCall {
  readonly request: HttpRequest;
  readonly encoding: Encoding;
  readonly holdsKey: boolean;
  readonly member: boolean;
  readonly trusted: boolean;
  readonly fqn: string;
  readonly version: Version;
  readonly query: string;
  readonly deadline: number;
  readonly hops: number;
  readonly asked: Asked;
  readonly crossSite: boolean;
  readonly #seesForwarded: boolean;
  #headers: MiddlewareHeaders | undefined;
  #abort: AbortController | undefined;
  #expired: Error | undefined;

  constructor(
    request: HttpRequest,
    encoding: Encoding,
    trust: Trust,
    web: PublicOrigin,
    cors: CorsMiddleware | undefined,
    limits: Limits,
    clock: Clock,
  ) {
    this.request = request;
    this.encoding = encoding;
    this.holdsKey = trust.holdsKey;
    this.member = trust.member;
    this.trusted = trust.trusted;
    this.fqn = decodeSegment(pathOf(request.target).slice(rpcPath.length));
    if (this.fqn === "") throw new ProcedureNotFound("The path names no procedure");
    this.query = queryOf(request.target);
    this.version = readVersion(this.query);
    // What passes a call on may shorten such a path, and what it then reaches would be shown the trust key.
    if (leadsAstray(this.fqn)) throw procedureNotFound(this.fqn, this.version.toString());
    // Only members are believed: from outside these headers mean nothing.
    this.hops = trust.member ? countOf(request.headers[headers.hops]) : 0;
    if (this.hops > mostHops)
      throw new LoopDetected(`The call has passed more than ${mostHops} services`);
    const left = trust.member ? spanOf(request.headers[headers.deadline]) : undefined;
    this.deadline = clock.now() + Math.min(left ?? limits.time, limits.time);
    this.asked = web.asked(request, trust);
    this.#seesForwarded = web.believes(trust);
    this.crossSite =
      isCrossSite(request, trust, web, this.asked) &&
      cors?.names(request.headers["origin"]) !== true;
  }

  get headers(): MiddlewareHeaders {
    return (this.#headers ??= procedureHeaders(this.request.headers, this.#seesForwarded));
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = (this.#abort = new AbortController());
      const gone = this.request.signal;
      if (this.#expired !== undefined) abort.abort(this.#expired);
      else if (gone.aborted) abort.abort(gone.reason);
      else gone.addEventListener("abort", () => abort.abort(gone.reason), { once: true });
    }
    return this.#abort.signal;
  }

  /** The deadline has passed: whoever listens is told. */
  expire(reason: Error): void {
    this.#expired = reason;
    this.#abort?.abort(reason);
  }
}

async function withinDeadline(
  call: Incoming,
  clock: Clock,
  answer: (call: IncomingCall) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const left = call.deadline - clock.now();
  if (left <= 0) throw new DeadlineExceeded();
  return await new Promise((resolve, reject) => {
    const cancel = clock.after(left, () => {
      // Who is late is the caller, as long as the body hasn't come.
      const late =
        call.request.isReceiving === true
          ? new RequestTimeout("The request's body did not arrive in time")
          : new DeadlineExceeded();
      call.expire(late);
      reject(late);
    });
    answer(call).then(resolve, reject).finally(cancel);
  });
}

/**
 * What a procedure and its middleware see: no header of the wire but the encoding, and never the trust key (decisions §5). Chosen: nor those
 * that `Connection` names, nor itself: it would take away what a middleware sets under such a name, wherever the call goes on. Nor what a
 * stranger claims to have forwarded.
 */
function procedureHeaders(fields: HeaderFields, seesForwarded: boolean): MiddlewareHeaders {
  const seen = new MiddlewareHeaders();
  const named = connectionOptions(fields["connection"]);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || (name.startsWith("x-svc-") && name !== headers.encoding)) continue;
    if (name === "connection" || named?.has(name) === true) continue;
    if (
      !seesForwarded &&
      (name === serviceHeaders.forwardedHost || name === serviceHeaders.forwardedProto)
    )
      continue;
    seen.fill(name, typeof value === "string" ? value : value.join(", "));
  }
  return seen;
}

function countOf(text: unknown): number {
  return typeof text === "string" && /^\d{1,3}$/.test(text) ? Number(text) : 0;
}

function spanOf(text: unknown): number | undefined {
  return typeof text === "string" && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** `response` with more headers. */
export function withHeaders(
  response: HttpResponse,
  more: HttpResponse["headers"] | undefined,
): HttpResponse {
  return more === undefined ? response : { ...response, headers: { ...response.headers, ...more } };
}

/** The call that middleware and procedure see, its arguments decoded. */
export function callOf(incoming: IncomingCall, args: Call["args"]): Call {
  return {
    fqn: incoming.fqn,
    version: incoming.version,
    args,
    get headers(): CallHeaders {
      return incoming.headers;
    },
    trusted: incoming.trusted,
    get signal() {
      return incoming.signal;
    },
    deadline: incoming.deadline,
    hops: incoming.hops,
  };
}
