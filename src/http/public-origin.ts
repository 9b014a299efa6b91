// This service as the outside knows it: the hosts that it answers for, and whether a request comes from a page of
// its own origin.

import { MisdirectedRequest } from "../base/errors.ts";
import type { HeaderFields, HttpRequest, Log } from "../base/ports.ts";
import { serviceHeaders } from "../base/protocol.ts";
import { type BasePath, noBase } from "./base-path.ts";
import { stranger, type Trust } from "./trust.ts";
import { parsedUrl } from "../base/url.ts";

/** A request, or one for a WebSocket. */
type Arrived = Pick<HttpRequest, "headers" | "scheme" | "address">;

/** The part of the configuration about the public origin. */
export interface PublicOriginOptions {
  /** Origins at which browsers reach this service: `https://shop.example`. */
  readonly origins?: readonly string[];
  /** More host names that requests may be for; `*` accepts all. */
  readonly hosts?: readonly string[];
  /**
   * A reverse proxy in front always sets `x-forwarded-host` and `x-forwarded-proto`, and adds the
   * address that it saw to `x-forwarded-for`: trust them.
   */
  readonly forwarded?: boolean;
  /** Where pages are, below their origin [at its root]. */
  readonly base?: BasePath;
}

/**
 * The host and scheme that the outermost caller requested. Unknown for a call that a procedure
 * makes on its own, without an outside caller.
 */
export interface RequestedOrigin {
  /** As the caller wrote it, port included. */
  readonly host: string | undefined;
  readonly scheme: "http" | "https" | undefined;
  /** The request's forwarding headers are believed: procedures may see them. */
  readonly isForwarded: boolean;
}

/** The origin of a request as the first service sees it, which its target doesn't contain. */
export interface SeenOrigin {
  /** The public origin that was requested. */
  readonly origin: string;
  readonly base: string;
  readonly address: string | undefined;
  readonly secureCookies: boolean;
}

export interface PublicOrigin {
  /** Where pages are, below their origin. */
  readonly base: BasePath;
  /** The service listens at `url`, so it answers for this host. */
  listensAt(url: string): void;
  /** Whether a request from outside is for a host of this service. */
  accepts(request: Arrived): boolean;
  /** The error for a request to any other host. Logs each host once. */
  misdirected(request: Arrived): MisdirectedRequest;
  /** The requested origin, according to a member of the deployment or a trusted reverse proxy. */
  requestedOrigin(request: Arrived, trust: Trust): RequestedOrigin;
  /** Describes a request as the first service that gets it. */
  seen(request: Arrived, requested: RequestedOrigin): SeenOrigin;
  /**
   * Whether a page of another origin sent the request. Programs send no sign of it, so a request without one isn't
   * foreign.
   */
  isForeign(fields: HeaderFields, requestedOrigin: RequestedOrigin): boolean;
  /** Whether `Origin` says that a page of this service's own origin sent the request. Every page says so for a WebSocket. */
  isOwnPage(fields: HeaderFields, requestedOrigin: RequestedOrigin): boolean;
}

/** Log no more hosts than this: attackers can make names up. */
const maxLoggedHosts = 32;
/** Remember no more requested origins than this, for the same reason. */
const maxKnownOrigins = 32;

export function createPublicOrigin(log: Log, options: PublicOriginOptions = {}): PublicOrigin {
  const { origins = [], forwarded = false, base = noBase } = options;
  const names = new Set([
    ...(options.hosts ?? []).map(nameOf),
    ...origins.map((origin) => nameOf(new URL(origin).host)),
  ]);
  const loggedHosts = new Set<string>();

  const accepts = (host: string | undefined): boolean => {
    // An HTTP/1.0 request without a host can't come from a rebound DNS name.
    if (host === undefined || host === "" || names.has("*")) return true;
    const name = nameOf(host);
    return names.has(name) || isLocal(name);
  };

  const requestedOrigin = (request: Arrived, trust: Trust): RequestedOrigin => {
    const fields = request.headers;
    // A member that forwards a request sends its own address in `host`, and the address that its caller requested
    // in the forwarding headers.
    const own = trust.relays ? undefined : { host: textOf(fields["host"]), scheme: request.scheme };
    const isForwarded = trust.member || forwarded;
    if (!isForwarded) return { host: own?.host, scheme: own?.scheme, isForwarded };
    const scheme = firstOf(fields[serviceHeaders.forwardedProto]);
    return {
      host: firstOf(fields[serviceHeaders.forwardedHost]) ?? own?.host,
      scheme: scheme === "http" || scheme === "https" ? scheme : own?.scheme,
      isForwarded,
    };
  };

  const publicOrigins = new Map<string, { origin: string; secureCookies: boolean }>();
  /** The public form of a requested origin, and whether its cookies are `Secure`. */
  const publicOf = (asked: string): { origin: string; secureCookies: boolean } => {
    const known = publicOrigins.get(asked);
    if (known !== undefined) return known;
    const seen = parsedUrl(asked) ?? new URL("http://localhost");
    const configured = origins.find((origin) => new URL(origin).host === seen.host) ?? origins[0];
    const origin = configured === undefined ? seen.origin : new URL(configured).origin;
    const secureCookies =
      configured === undefined
        ? seen.protocol === "https:" || !isLocal(nameOf(seen.host))
        : origin.startsWith("https:");
    // Every call that is passed on needs it. Limited, since callers can make names up.
    if (publicOrigins.size < maxKnownOrigins) publicOrigins.set(asked, { origin, secureCookies });
    return { origin, secureCookies };
  };

  return {
    base,
    listensAt: (url) => void names.add(nameOf(new URL(url).host)),
    // With `forwarded`, check both: after DNS rebinding a page could set the forwarding header
    // itself.
    accepts: (request) =>
      accepts(textOf(request.headers["host"])) &&
      (!forwarded || accepts(requestedOrigin(request, stranger).host)),
    misdirected(request) {
      const host = textOf(request.headers["host"]);
      const name = nameOf(
        (accepts(host) ? requestedOrigin(request, stranger).host : host) ?? "",
      ).slice(0, 255);
      if (!loggedHosts.has(name) && loggedHosts.size < maxLoggedHosts) {
        loggedHosts.add(name);
        log.warn(
          `refused a request for the host ${JSON.stringify(name)}. If it is one of this service's, add it to 'hosts' or set 'origin'`,
        );
      }
      return new MisdirectedRequest(
        `This service doesn't answer for the host ${JSON.stringify(name)}`,
      );
    },
    requestedOrigin,
    seen(request, { host = "localhost", scheme = "http", isForwarded }) {
      const { origin, secureCookies } = publicOf(`${scheme}://${host}`);
      return {
        origin,
        base: base.path ?? "",
        secureCookies,
        address: (isForwarded ? lastOf(request) : undefined) ?? addressOf(request),
      };
    },
    isOwnPage: (fields, { host }) =>
      fields["origin"] !== undefined && isOwn(fields["origin"], origins, host),
    isForeign(fields, { host }) {
      // Scripts can't set this header.
      const site = fields["sec-fetch-site"];
      if (site !== undefined) return site !== "same-origin" && site !== "none";
      const from = fields["origin"] ?? fields["referer"];
      return from !== undefined && !isOwn(from, origins, host);
    },
  };
}

/** Whether an `Origin` or `Referer` is this service's own. */
function isOwn(
  from: string | readonly string[],
  origins: readonly string[],
  host: string | undefined,
): boolean {
  const url = typeof from === "string" ? parsedUrl(from) : undefined;
  if (url === undefined) return false;
  const { origin, protocol, host: own } = url;
  if (origins.length > 0) return origins.includes(origin);
  // Take the page's scheme for both, to compare default ports: a proxy in front may have ended https, so this
  // service doesn't know its own scheme for sure.
  return host !== undefined && parsedUrl(`${protocol}//${host}`)?.host === own;
}

/** A host in lower case, without its port and the trailing dot of a full name. */
function nameOf(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, "");
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Names and addresses at which developers reach a service without TLS. */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isAddress(name);
}

/** Without the prefix of an IPv4 address on an IPv6 socket. */
function addressOf(request: Arrived): string | undefined {
  const { address } = request;
  return address?.startsWith("::ffff:") === true && address.includes(".")
    ? address.slice("::ffff:".length)
    : address;
}

/**
 * The address that the reverse proxy in front saw: proxies append it. Addresses before it come from elsewhere, and
 * may be made up.
 */
function lastOf({ headers: fields }: Arrived): string | undefined {
  const last = textOf(fields[serviceHeaders.forwardedFor])?.split(",").at(-1)?.trim();
  return last !== undefined && /^[\w.:%[\]-]+$/.test(last) ? last : undefined;
}

function isAddress(name: string): boolean {
  return /^(?:\d{1,3}\.){3}\d{1,3}$/.test(name) || /^\[[\da-f:.]+\]$/.test(name);
}

function textOf(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === "string" ? field : undefined;
}

/** The first of a list, which is the client's: proxies append. */
function firstOf(field: string | readonly string[] | undefined): string | undefined {
  const text = textOf(field);
  const end = text?.indexOf(",") ?? -1;
  const first = (end < 0 ? text : text?.slice(0, end))?.trim();
  return first === "" ? undefined : first;
}
