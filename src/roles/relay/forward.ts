// Decides which parts gateway and proxy pass on: fields of requests and answers, and errors.

import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import { collected, discard } from "../../http/bodies.ts";
import { connectionOptions, isHopByHop } from "../../http/forwarded.ts";
import {
  type HeaderFields,
  type HttpResponse,
  type IncomingResponse,
  type PeerResponse,
  TransportError,
} from "../../base/ports.ts";
import { headers, isServiceHeader, serviceHeaders } from "../../base/protocol.ts";
import { SameFields } from "../../link/heads.ts";
import type { RequestedOrigin } from "../../http/public-origin.ts";
import { guardedHeader, resumeHeader } from "../../wire/event-stream.ts";
import { withoutSettings } from "../../wire/call-state.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { Application } from "../application/application.ts";
import type { Service } from "../pipeline/service.ts";

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
    if (value !== undefined && isEndToEnd(name, dropped, kept)) passed[name] = value;
  }
  return passed;
}

export function isEndToEnd(
  name: string,
  dropped: ReadonlySet<string> | undefined,
  kept: (name: string) => boolean,
): boolean {
  return (
    !isHopByHop(name) &&
    !remade.has(name) &&
    dropped?.has(name) !== true &&
    (!isServiceHeader(name) || kept(name))
  );
}

/** The fields of answers, without their length. */
const relayedFields = new SameFields<HttpResponse["headers"]>();
const endToEndOf = (received: HeaderFields): HttpResponse["headers"] => {
  const fields = endToEndHeaders(received, (name) => ofAnswers.has(name));
  return Object.isFrozen(received) ? Object.freeze(fields) : fields;
};

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

export interface PassOnParts extends Pick<Service, "host" | "limits" | "chain"> {
  /** Without it, class instances pass as they are, and the values of a GET are text. */
  readonly application?: Application | undefined;
}

/** Notes the settings that came with an answer for the outermost one, and removes them from it. */
export function withoutItsSettings(exchange: Exchange, answer: PeerResponse): PeerResponse {
  if (!(serviceHeaders.response in answer.headers)) return answer;
  try {
    exchange.state.received(answer.headers);
  } catch (problem) {
    discard(answer.body);
    throw problem;
  }
  return withoutSettings(answer);
}

export function addField(fields: Record<string, string>, name: string, value: string): void {
  if (name !== serviceHeaders.forwardedHost && name !== serviceHeaders.forwardedProto)
    fields[name] = value;
}

/**
 * Adds the host and scheme that the outermost caller requested, in the headers where applications
 * look for them behind any proxy: `host` is the service that this request goes to.
 */
export function addRequestedOrigin(
  fields: Record<string, string>,
  { host, scheme }: RequestedOrigin,
): void {
  if (host !== undefined) fields[serviceHeaders.forwardedHost] = host;
  if (scheme !== undefined) fields[serviceHeaders.forwardedProto] = scheme;
}

/** Fields with the host and scheme that the outermost caller requested, instead of their own. */
export function withRequestedOrigin(
  received: Readonly<Record<string, string>>,
  origin: RequestedOrigin,
): Record<string, string> {
  const fields: Record<string, string> = {};
  addRequestedOrigin(fields, origin);
  for (const name in received) addField(fields, name, received[name]!);
  return fields;
}

/** Our own fields that callers may see, and the only one between services that each passes on. */
const ofAnswers: ReadonlySet<string> = new Set([
  headers.encoding,
  headers.dataType,
  headers.node,
  headers.error,
  headers.dropped,
  guardedHeader,
  resumeHeader,
  serviceHeaders.refused,
]);

/** Turns an answer of another service into this one's, with a body that may still be coming. */
export function relayAnswer(
  { status, headers: received, body }: PeerResponse,
  method = "GET",
): HttpResponse {
  let fields = relayedFields.of(received, endToEndOf);
  const isWhole = body instanceof Uint8Array;
  const length = received["content-length"];
  // A body that is here is counted when it's written. An answer to HEAD or a 304 has the length of
  // the body that it is about.
  if (length !== undefined && (!isWhole || method === "HEAD" || status === 304))
    fields = Object.assign({}, fields, { "content-length": length });
  return isWhole && body.length === 0
    ? { status, headers: fields }
    : { status, headers: fields, body };
}

/**
 * The error for the caller when no answer came. For a trusted caller it has the cause, which names the other
 * service and its address.
 */
export function forwardingError(thrown: unknown, isTrusted = false): Error {
  if (!(thrown instanceof TransportError))
    return thrown instanceof Error ? thrown : new BadGateway();
  if (thrown.cause instanceof DeadlineExceeded) return thrown.cause;
  const cause = isTrusted ? { cause: thrown } : {};
  return thrown.sent
    ? new BadGateway("The service that had the call gave no answer", cause)
    : new NodeNotAvailable("No service could be reached for the call", cause);
}

/** An answer with its whole body. */
export async function wholeAnswer(head: PeerResponse): Promise<IncomingResponse> {
  try {
    return await collected(head);
  } catch (thrown) {
    throw forwardingError(thrown);
  }
}
