// Which pages may open a link. A WebSocket has no preflight and no `Sec-Fetch-Site`, and brings its user's cookies:
// `Origin` is the only evidence of the page that asks for it.

import { Forbidden, type ServiceError } from "../base/errors.ts";
import type { HttpRequest, Log } from "../base/ports.ts";
import type { CorsMiddleware } from "./cors.ts";
import type { PublicOrigin } from "./public-origin.ts";
import type { Credentials } from "./trust.ts";

/** The request for a page's link. */
export type PageHandshake = Pick<HttpRequest, "headers" | "scheme" | "address">;

/** The page's address, as far as it is believed, or why it gets no link. */
export type PageAdmission =
  | { readonly address: string | undefined }
  | { readonly refused: ServiceError };

export interface PageAdmissionParts {
  readonly web: PublicOrigin;
  readonly credentials: Credentials;
  readonly chain: { readonly cors: CorsMiddleware | undefined };
  readonly host: { readonly log: Log };
}

/** Strangers can make origins up. */
const mostLoggedOrigins = 32;

export function createPageAdmission({
  web,
  credentials,
  chain,
  host,
}: PageAdmissionParts): (handshake: PageHandshake) => PageAdmission {
  const logged = new Set<string>();
  return (handshake) => {
    if (!web.accepts(handshake)) return { refused: web.misdirected(handshake) };
    const { headers } = handshake;
    const requested = web.requestedOrigin(handshake, credentials.of(handshake));
    const { origin } = headers;
    if (web.isOwnPage(headers, requested) || chain.cors?.admits(origin) === true)
      return { address: web.seen(handshake, requested).address };
    const from = typeof origin === "string" ? JSON.stringify(origin.slice(0, 255)) : "none";
    if (!logged.has(from) && logged.size < mostLoggedOrigins) {
      logged.add(from);
      host.log.warn(
        `refused a page's link: its origin is ${from}, and the request was for the host ${JSON.stringify(requested.host ?? "")}. If it is a page of this service, set 'origin' to the page's origin, or have the proxy in front pass the field Host on. If it is another, name it in a CorsMiddleware with credentials. Until then its streams go over HTTP`,
      );
    }
    return { refused: new Forbidden("Pages of this origin don't get a link") };
  };
}
