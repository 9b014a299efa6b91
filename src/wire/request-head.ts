// Checks the head of a request before a role sees it: it must name one host, and stay within the limits of all
// services on the way.

import { BadRequest, NotImplemented, RequestHeaderFieldsTooLarge } from "../base/errors.ts";
import { isServiceHeader, serviceHeaders } from "../base/protocol.ts";
import { longestId, requestIdHeader } from "../http/tracing/request-ids.ts";
import { traceHeader } from "../http/tracing/trace-context.ts";
import type { Limits } from "../base/limits.ts";

/** The head of a request, unchanged. */
export interface RequestHead {
  /** A path, or an absolute address. */
  readonly target: string;
  /** Names and values alternately, with order and case as sent. */
  readonly rawHeaders: readonly string[];
}

/**
 * The wire's capacity beyond `header` and `headerCount`. Services add header fields of their own, and a request
 * that the first service accepted must pass all others.
 */
export const wireMargin: { readonly bytes: number; readonly fields: number } = {
  bytes: 24 * 1024,
  fields: 16,
};

/** Each service that passes a request on sets these anew. */
const setByServices: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  serviceHeaders.forwardedHost,
  serviceHeaders.forwardedProto,
]);

// Colon, space and line break. Counted so that joining fields on the way never makes a head larger.
const fieldOverhead = 4;

/** The error for a head that is refused. */
export function headProblem(
  { target, rawHeaders }: RequestHead,
  limits: Pick<Limits, "headerBytes" | "headerCount">,
): BadRequest | NotImplemented | RequestHeaderFieldsTooLarge | undefined {
  let hosts = 0;
  let host = "";
  let codings: string | undefined;
  let bytes = target.length;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    const value = rawHeaders[at + 1] ?? "";
    bytes += name.length + value.length + fieldOverhead;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts++;
      host = value;
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding")
      codings = codings === undefined ? value : `${codings}, ${value}`;
  }
  const count = rawHeaders.length / 2;
  if (count > limits.headerCount || bytes > limits.headerBytes) {
    const tooLarge = sizeProblem(target, rawHeaders, limits);
    if (tooLarge !== undefined) return tooLarge;
  }
  // Parsers treat any list that ends in `chunked` as chunked, and would pass on the content still encoded.
  if (codings !== undefined && codings.toLowerCase() !== "chunked")
    return new NotImplemented("The only transfer coding that services take is 'chunked', once");
  // Services on the way could disagree about which of several hosts counts.
  if (/[\s/?#@\\,]/.test(host)) return new BadRequest("The Host field is not a valid host");
  if (hosts > 1) return new BadRequest("A request must have only one Host field");
  if (!target.startsWith("/")) return authorityProblem(target, hosts === 0 ? undefined : host);
  return undefined;
}

/** Whether it is an id that the first service may have added to the request. */
function isAddedId(name: string, value: string): boolean {
  return (name === requestIdHeader || name === traceHeader) && value.length <= longestId;
}

/** The limits count the caller's own fields, without those that services on the way add. */
function sizeProblem(
  target: string,
  rawHeaders: readonly string[],
  limits: Pick<Limits, "headerBytes" | "headerCount">,
): RequestHeaderFieldsTooLarge | undefined {
  let count = 0;
  let bytes = target.length;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    const value = rawHeaders[at + 1] ?? "";
    if (isServiceHeader(name) || setByServices.has(name) || isAddedId(name, value)) continue;
    count++;
    bytes += name.length + value.length + fieldOverhead;
  }
  if (count > limits.headerCount || rawHeaders.length / 2 > limits.headerCount + wireMargin.fields)
    return new RequestHeaderFieldsTooLarge(
      `More than ${limits.headerCount} header fields (limit 'headerCount')`,
    );
  if (bytes > limits.headerBytes)
    return new RequestHeaderFieldsTooLarge(
      `More than ${limits.headerBytes} bytes of headers (limit 'headerBytes')`,
    );
  return undefined;
}

/** An absolute target names a host, too (RFC 9112 §3.2.2). */
function authorityProblem(target: string, host: string | undefined): BadRequest | undefined {
  const [, scheme = "", authority] = /^(https?):\/\/([^/?#]*)/i.exec(target) ?? [];
  // `*` and other targets are for the role to refuse.
  if (authority === undefined) return undefined;
  const defaultPort = scheme.toLowerCase() === "https" ? ":443" : ":80";
  const plain = (name: string): string => {
    const lower = name.toLowerCase();
    return lower.endsWith(defaultPort) ? lower.slice(0, -defaultPort.length) : lower;
  };
  if (host === undefined || plain(host) === plain(authority)) return undefined;
  return new BadRequest("The request's target and its Host field name different hosts");
}
