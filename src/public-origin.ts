// How the outside knows this service: the hosts that it answers for, and which requests come from pages of its own origin.

import { MisdirectedRequest } from "./errors.ts";
import type { HeaderFields, HttpRequest, Log } from "./ports.ts";
import { serviceHeaders } from "./protocol.ts";
import { stranger, type Trust } from "./trust.ts";

/** What a configuration says of it. */
export interface PublicOriginOptions {
  /** Origins at which browsers find this service: `https://shop.example`. */
  readonly origins?: readonly string[];
  /** Further names that requests may be for; `*` accepts all. */
  readonly hosts?: readonly string[];
  /** Something in front always sets `x-forwarded-host` and `x-forwarded-proto`, so they are believed. */
  readonly forwarded?: boolean;
}

/** What the outermost caller asked for, as far as it is known: a call that a procedure makes by itself has no caller outside. */
export interface Asked {
  /** With the port, as the caller wrote it. */
  readonly host: string | undefined;
  readonly scheme: "http" | "https" | undefined;
}

export interface PublicOrigin {
  /** The service listens there, so it answers for this host. */
  listensAt(url: string): void;
  /** Whether a stranger's request is for a host of this service. */
  accepts(request: HttpRequest): boolean;
  /** The error for one that isn't. Tells the log, once for each host. */
  misdirected(request: HttpRequest): MisdirectedRequest;
  /** What the caller asked for: as a member of the deployment says, or something in front that is believed. */
  asked(request: HttpRequest, trust: Trust): Asked;
  /** Whether procedures may see what the request says was forwarded. */
  believes(trust: Trust): boolean;
  /** Whether a page of another origin causes the request. Without a sign of it, it doesn't: programs send none. */
  isForeign(fields: HeaderFields, asked: Asked): boolean;
}

/** Hosts that are told to the log: strangers may make names up. */
const mostTold = 32;

export function createPublicOrigin(log: Log, options: PublicOriginOptions = {}): PublicOrigin {
  const { origins = [], forwarded = false } = options;
  const names = new Set([
    ...(options.hosts ?? []).map(nameOf),
    ...origins.map((origin) => nameOf(new URL(origin).host)),
  ]);
  const told = new Set<string>();

  const accepts = (host: string | undefined): boolean => {
    // HTTP/1.0 has no name that an attacker could have pointed here.
    if (host === undefined || host === "" || names.has("*")) return true;
    const name = nameOf(host);
    return (
      names.has(name) || name === "localhost" || name.endsWith(".localhost") || isAddress(name)
    );
  };

  const believes = (trust: Trust): boolean => trust.member || forwarded;

  const asked = (request: HttpRequest, trust: Trust): Asked => {
    const fields = request.headers;
    // A service that passes a request on names itself there, and has said beside it what its own caller asked for.
    const own =
      trust.member && !trust.holdsKey
        ? undefined
        : { host: textOf(fields["host"]), scheme: request.scheme };
    const scheme = believes(trust) ? firstOf(fields[serviceHeaders.forwardedProto]) : undefined;
    return {
      host:
        (believes(trust) ? firstOf(fields[serviceHeaders.forwardedHost]) : undefined) ?? own?.host,
      scheme: scheme === "http" || scheme === "https" ? scheme : own?.scheme,
    };
  };

  return {
    listensAt: (url) => void names.add(nameOf(new URL(url).host)),
    // With `forwarded` both count: a page whose name was pointed here could set the other field itself.
    accepts: (request) =>
      accepts(textOf(request.headers["host"])) &&
      (!forwarded || accepts(asked(request, stranger).host)),
    misdirected(request) {
      const host = textOf(request.headers["host"]);
      const name = nameOf((accepts(host) ? asked(request, stranger).host : host) ?? "").slice(
        0,
        255,
      );
      if (!told.has(name) && told.size < mostTold) {
        told.add(name);
        log.warn(
          `refused a request for the host ${JSON.stringify(name)}. If it is one of this service's, add it to 'hosts' or set 'origin'`,
        );
      }
      return new MisdirectedRequest(
        `This service doesn't answer for the host ${JSON.stringify(name)}`,
      );
    },
    asked,
    believes,
    isForeign(fields, { host }) {
      // Browsers let no script choose this field.
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
  if (typeof from !== "string" || !URL.canParse(from)) return false;
  const { origin, protocol, host: own } = new URL(from);
  if (origins.length > 0) return origins.includes(origin);
  // The scheme of the page says which port is left out. Whether the page came by https, nobody here knows for sure.
  const address = `${protocol}//${host}`;
  return host !== undefined && URL.canParse(address) && new URL(address).host === own;
}

/** A host without port, case and the dot that ends a full name. */
function nameOf(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, "");
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

function isAddress(name: string): boolean {
  return /^(?:\d{1,3}\.){3}\d{1,3}$/.test(name) || /^\[[\da-f:.]+\]$/.test(name);
}

function textOf(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === "string" ? field : undefined;
}

/** The first of a list: proxies add theirs behind it. */
function firstOf(field: string | readonly string[] | undefined): string | undefined {
  const first = textOf(field)?.split(",", 1)[0]?.trim();
  return first === "" ? undefined : first;
}
