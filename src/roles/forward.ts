// Passing a call on: gateway and proxy hand over bytes, and change headers only (decisions §5, headers forwarded).

import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../errors.ts";
import { connectionOptions } from "../forwarded.ts";
import {
  type HeaderFields,
  type Host,
  type HttpResponse,
  type IncomingResponse,
  isLocalFailure,
  TransportError,
} from "../ports.ts";
import { headers, serviceHeaders } from "../protocol.ts";
import type { Limits } from "../serializer/limits.ts";
import type { Asked } from "../public-origin.ts";
import type { Credentials } from "../trust.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";

// RFC 9110 §7.6.1: these belong to one connection.
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

// Set anew for each connection and body.
const remade = new Set(["host", "content-length", "expect"]);

/** Fields that go on: not those of the connection, nor those that `Connection` names, nor any `x-svc-*` but `kept`. */
export function passedOn(
  fields: HeaderFields,
  kept: (name: string) => boolean,
): Record<string, string | readonly string[]> {
  const dropped = connectionOptions(fields["connection"]);
  const passed: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (
      value === undefined ||
      hopByHop.has(name) ||
      remade.has(name) ||
      dropped?.has(name) === true
    )
      continue;
    if (name.startsWith("x-svc-") && !kept(name)) continue;
    passed[name] = value;
  }
  return passed;
}

/** One text per field, as requests have them. */
export function joined(
  fields: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.join(", "),
    ]),
  );
}

/** What is sent on for a call: method, target and body as they came, or rewritten by middleware. */
export interface Forwarded {
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array;
  /** In place of the caller's, when middleware may have changed them. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ForwardParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly limits: Limits;
}

/** Sends a call to `base` and gives the answer as it came. Rejects with {@link TransportError} when there is none. */
export async function sendOn(
  parts: ForwardParts,
  base: string,
  call: IncomingCall,
  forwarded: Forwarded,
): Promise<IncomingResponse> {
  const { host, credentials } = parts;
  const left = Math.ceil(call.deadline - host.clock.now());
  if (left <= 0) throw new DeadlineExceeded();
  const fields =
    forwarded.headers ??
    joined(passedOn(call.request.headers, (name) => name === headers.encoding));
  const own = {
    ...credentials.fields(call.trusted ? "service" : "outside"),
    // Only the node knows whether the procedure is safe.
    [serviceHeaders.crossSite]: call.crossSite ? "yes" : "no",
    [headers.hops]: String(call.hops + 1),
    [headers.deadline]: String(left),
  };
  return await host.transport.send({
    url: base + forwarded.target,
    method: forwarded.method,
    // Ours first: if anything on the way drops fields past some count, it drops the caller's.
    headers: { ...own, ...withAsked(fields, call.asked) },
    ...(forwarded.body.length === 0 ? {} : { body: forwarded.body }),
    signal: call.signal,
  });
}

/**
 * With the host and the scheme that the outermost caller asked for, in the fields where applications look for them behind any proxy: `host` names
 * the service that is spoken to.
 */
export function withAsked(
  fields: Readonly<Record<string, string>>,
  { host, scheme }: Asked,
): Record<string, string> {
  const {
    [serviceHeaders.forwardedHost]: _host,
    [serviceHeaders.forwardedProto]: _scheme,
    ...others
  } = fields;
  return {
    ...(host !== undefined && { [serviceHeaders.forwardedHost]: host }),
    ...(scheme !== undefined && { [serviceHeaders.forwardedProto]: scheme }),
    ...others,
  };
}

/** The call's own bytes; a GET has none. */
export async function asItCame(call: IncomingCall, limits: Limits): Promise<Forwarded> {
  const { method, target } = call.request;
  return {
    method,
    target,
    body: method === "POST" ? await call.request.readBody(limits.body) : new Uint8Array(),
  };
}

/** An answer of another service, as this one gives it. */
export function relayed(answer: IncomingResponse, method = "GET"): HttpResponse {
  const fields = passedOn(answer.headers, (name) => name !== serviceHeaders.trustKey);
  // Of a HEAD there are no bytes to count: the length is that of the answer to a GET.
  const length = answer.headers["content-length"];
  if (method === "HEAD" && length !== undefined) fields["content-length"] = length;
  return {
    status: answer.status,
    headers: fields,
    ...(answer.body.length === 0 ? {} : { body: answer.body }),
  };
}

/** What a caller is told when no answer came. */
export function failureOf(thrown: unknown): Error {
  if (!(thrown instanceof TransportError))
    return thrown instanceof Error ? thrown : new BadGateway();
  if (isLocalFailure(thrown)) return noConnection();
  return thrown.sent
    ? new BadGateway("The service that had the call gave no answer")
    : new NodeNotAvailable("No service could be reached for the call");
}

/** What a caller is told when this host has no connection for what is to be passed on. */
export function noConnection(): NodeNotAvailable {
  return new NodeNotAvailable("This service has no connection left for the request");
}
