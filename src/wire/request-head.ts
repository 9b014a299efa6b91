// The head of a request, before a role sees it: it must name one host, and fit into what every service on the way accepts.

import { BadRequest, RequestHeaderFieldsTooLarge } from "../errors.ts";
import { serviceHeaders } from "../protocol.ts";
import type { Limits } from "../serializer/limits.ts";

/** A request's head as it came. */
export interface RequestHead {
  /** A path, or an absolute address. */
  readonly target: string;
  /** Names and values alternately, in the order and the case in which they came. */
  readonly rawHeaders: readonly string[];
}

/**
 * What the wire carries beyond `header` and `headerCount`: services add fields of their own on the way, and what the first one accepted must
 * pass all others.
 */
export const wireMargin: { readonly bytes: number; readonly fields: number } = {
  bytes: 24 * 1024,
  fields: 16,
};

/** Set anew by each service that passes a request on. */
const remade: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  serviceHeaders.forwardedHost,
  serviceHeaders.forwardedProto,
]);

// Colon, space and line break: fields that are joined on the way must not make the head larger than it was.
const bytesAround = 4;

/** Why this head is refused, or nothing. */
export function headProblem(
  { target, rawHeaders }: RequestHead,
  limits: Pick<Limits, "header" | "headerCount">,
): BadRequest | RequestHeaderFieldsTooLarge | undefined {
  let hosts = 0;
  let host = "";
  let bytes = target.length;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    const value = rawHeaders[at + 1] ?? "";
    bytes += name.length + value.length + bytesAround;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts++;
      host = value;
    }
  }
  const count = rawHeaders.length / 2;
  if (count > limits.headerCount || bytes > limits.header) {
    const tooLarge = sizeProblem(target, rawHeaders, limits);
    if (tooLarge !== undefined) return tooLarge;
  }
  // Two services may each go by another of them.
  if (/[\s/?#@\\,]/.test(host)) return new BadRequest("The Host field names no host");
  if (hosts > 1) return new BadRequest("A request takes one Host field");
  if (!target.startsWith("/")) return authorityProblem(target, hosts === 0 ? undefined : host);
  return undefined;
}

/** The limits hold for what a caller sent: fields of services on the way don't count, up to the margin that the wire has for them. */
function sizeProblem(
  target: string,
  rawHeaders: readonly string[],
  limits: Pick<Limits, "header" | "headerCount">,
): RequestHeaderFieldsTooLarge | undefined {
  let count = 0;
  let bytes = target.length;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (name.startsWith("x-svc-") || remade.has(name)) continue;
    count++;
    bytes += name.length + (rawHeaders[at + 1] ?? "").length + bytesAround;
  }
  if (count > limits.headerCount || rawHeaders.length / 2 > limits.headerCount + wireMargin.fields)
    return new RequestHeaderFieldsTooLarge(
      `More than ${limits.headerCount} header fields (limit 'headerCount')`,
    );
  if (bytes > limits.header)
    return new RequestHeaderFieldsTooLarge(
      `More than ${limits.header} bytes of headers (limit 'header')`,
    );
  return undefined;
}

/** An absolute target names a host as well (RFC 9112 §3.2.2). */
function authorityProblem(target: string, host: string | undefined): BadRequest | undefined {
  const [, scheme = "", authority] = /^(https?):\/\/([^/?#]*)/i.exec(target) ?? [];
  // `*`, and what isn't an address of a website, is for the role to refuse.
  if (authority === undefined) return undefined;
  const defaultPort = scheme.toLowerCase() === "https" ? ":443" : ":80";
  const plain = (name: string): string => {
    const lower = name.toLowerCase();
    return lower.endsWith(defaultPort) ? lower.slice(0, -defaultPort.length) : lower;
  };
  if (host === undefined || plain(host) === plain(authority)) return undefined;
  return new BadRequest(
    "The address that the request asks for and its Host field name different hosts",
  );
}
