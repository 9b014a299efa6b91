// Forwarding a call: gateway and proxy pass bytes on, and change only headers.

import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import { collected, discard } from "../../http/bodies.ts";
import { connectionOptions, isHopByHop } from "../../http/forwarded.ts";
import {
  type AbortNotice,
  type HeaderFields,
  type Host,
  type HttpResponse,
  type IncomingResponse,
  isLocalFailure,
  type PeerResponse,
  TransportError,
} from "../../base/ports.ts";
import { headers, isServiceHeader, serviceHeaders } from "../../base/protocol.ts";
import { crossSiteHeader, maskHeader, relayHeaders } from "../../http/relay-headers.ts";
import type { Limits } from "../../codec/values/limits.ts";
import type { RequestedOrigin } from "../../http/public-origin.ts";
import type { Credentials } from "../../http/trust.ts";
import { bodyLimit } from "../../wire/body-type.ts";
import { withoutSettings } from "../../wire/call-state.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { Application } from "../application.ts";
import type { MiddlewareChain } from "../role.ts";

// Set anew for each connection and body.
const remade = new Set(["host", "content-length", "expect"]);

/**
 * Fields to pass on: without those of the connection, those that `Connection` names, and any
 * `x-svc-*` that isn't `kept`.
 */
export function endToEndHeaders(
  fields: HeaderFields,
  kept: (name: string) => boolean,
): Record<string, string | readonly string[]> {
  const dropped = connectionOptions(fields["connection"]);
  const passed: Record<string, string | readonly string[]> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || isHopByHop(name) || remade.has(name) || dropped?.has(name) === true)
      continue;
    if (isServiceHeader(name) && !kept(name)) continue;
    passed[name] = value;
  }
  return passed;
}

/** One text per field, as requests have them. */
export function joined(
  fields: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) texts[name] = typeof value === "string" ? value : value.join(", ");
  }
  return texts;
}

/** A request to pass on: method, target and body as they came. */
export interface ForwardedRequest {
  readonly method: string;
  readonly target: string;
  /** A stream can be sent once. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** Replace the caller's when middleware may have changed them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The request to send for a call, with its body as it came, or as middleware left it. */
export interface ForwardedCall extends ForwardedRequest {
  readonly body: Uint8Array;
}

export interface ForwardParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly limits: Limits;
}

export interface ForwardMiddlewareParts {
  readonly host: Host;
  readonly limits: Limits;
  readonly chain: MiddlewareChain;
  /** Without it, class instances pass as they are, and the values of a GET are text. */
  readonly application?: Application | undefined;
}

/**
 * Sends a call to `base`; the answer's body is still on its way. Rejects with {@link TransportError}.
 */
export async function forwardCall(
  parts: ForwardParts,
  base: string,
  call: IncomingCall,
  forwarded: ForwardedRequest,
  signal?: AbortNotice,
): Promise<PeerResponse> {
  return withoutItsSettings(call, await sendForwarded(parts, base, call, forwarded, signal));
}

/**
 * Sends a call to `base`, until `signal` aborts. The answer may have settings for this service,
 * which {@link withoutItsSettings} takes.
 */
export function sendForwarded(
  { host, credentials }: ForwardParts,
  base: string,
  call: IncomingCall,
  forwarded: ForwardedRequest,
  signal: AbortNotice = call.departure,
): Promise<PeerResponse> {
  const left = call.deadline - host.clock.now();
  if (left <= 0) throw new DeadlineExceeded();
  const fields =
    forwarded.headers ??
    joined(endToEndHeaders(call.request.headers, (name) => name === headers.encoding));
  const { method, body } = forwarded;
  const request = {
    url: base + forwarded.target,
    method,
    // Ours first: if something on the way drops fields past a limit, it drops the caller's.
    headers: Object.assign(
      {},
      credentials.fields(call.trusted ? "service" : "outside"),
      crossSiteHeader(call.crossSite),
      maskHeader(call.masksErrors),
      relayHeaders(call.hops, left),
      call.state.relayedFields(),
      withRequestedOrigin(fields, call.requestedOrigin),
      lengthOf(call, forwarded),
    ),
    signal,
  };
  return host.transport.send(
    body instanceof Uint8Array && body.length === 0 ? request : { body, ...request },
  );
}

/** Notes the settings that came with an answer for the outermost one, and removes them from it. */
export function withoutItsSettings(call: IncomingCall, answer: PeerResponse): PeerResponse {
  if (!(serviceHeaders.response in answer.headers)) return answer;
  try {
    call.state.received(answer.headers);
  } catch (problem) {
    discard(answer.body);
    throw problem;
  }
  return withoutSettings(answer);
}

/** A stream is sent with the length that its head promised, so that a limit can refuse it at once. */
function lengthOf(
  { request }: IncomingCall,
  { body }: ForwardedRequest,
): Readonly<Record<string, string>> | undefined {
  const length = body instanceof Uint8Array ? undefined : request.headers["content-length"];
  return typeof length === "string" ? { "content-length": length } : undefined;
}

/**
 * Adds the host and scheme that the outermost caller requested, in the headers where applications
 * look for them behind any proxy: `host` is the service that this request goes to.
 */
export function withRequestedOrigin(
  fields: Readonly<Record<string, string>>,
  { host, scheme }: RequestedOrigin,
): Record<string, string> {
  const passed: Record<string, string> = {};
  if (host !== undefined) passed[serviceHeaders.forwardedHost] = host;
  if (scheme !== undefined) passed[serviceHeaders.forwardedProto] = scheme;
  for (const name in fields)
    if (name !== serviceHeaders.forwardedHost && name !== serviceHeaders.forwardedProto)
      passed[name] = fields[name]!;
  return passed;
}

const noBytes = new Uint8Array();

/** Reads the call's body; a GET has none. */
export function readForwardedBody(
  { request }: IncomingCall,
  limits: Limits,
): Uint8Array | Promise<Uint8Array> {
  return request.method === "POST" ? request.readBody(bodyLimit(request.headers, limits)) : noBytes;
}

/** Our own fields that callers may see, and the one between services that each passes on. */
const ofAnswers: ReadonlySet<string> = new Set([
  headers.encoding,
  headers.dataType,
  headers.node,
  headers.error,
  serviceHeaders.refused,
]);

/** Turns an answer of another service into this one's, with a body that may still be coming. */
export function relayAnswer(
  { status, headers: received, body }: PeerResponse,
  method = "GET",
): HttpResponse {
  const fields = endToEndHeaders(received, (name) => ofAnswers.has(name));
  const isWhole = body instanceof Uint8Array;
  const length = received["content-length"];
  // A body that is here is counted when it's written. An answer to HEAD or a 304 has the length of
  // the body that it is about.
  if (length !== undefined && (!isWhole || method === "HEAD" || status === 304))
    fields["content-length"] = length;
  return isWhole && body.length === 0
    ? { status, headers: fields }
    : { status, headers: fields, body };
}

/**
 * The request, and whether anybody has begun to read its stream: what was read is gone, so the
 * request can't be sent again.
 */
export function watchedBody(
  request: ForwardedRequest,
): readonly [request: ForwardedRequest, hasBegun: () => boolean] {
  const { body } = request;
  if (body instanceof Uint8Array) return [request, () => false];
  let begun = false;
  const watched: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]() {
      begun = true;
      return body[Symbol.asyncIterator]();
    },
  };
  return [{ ...request, body: watched }, () => begun];
}

/** The error for the caller when no answer came. */
export function forwardingError(thrown: unknown): Error {
  if (!(thrown instanceof TransportError))
    return thrown instanceof Error ? thrown : new BadGateway();
  if (isLocalFailure(thrown)) return noConnection();
  return thrown.sent
    ? new BadGateway("The service that had the call gave no answer")
    : new NodeNotAvailable("No service could be reached for the call");
}

/** The error for the caller when this host has no connection left to forward with. */
export function noConnection(): NodeNotAvailable {
  return new NodeNotAvailable("This service has no connection left for the request");
}

/** An answer with its whole body. */
export async function wholeAnswer(head: PeerResponse): Promise<IncomingResponse> {
  try {
    return await collected(head);
  } catch (thrown) {
    throw forwardingError(thrown);
  }
}
