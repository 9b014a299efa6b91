// The request of the outermost caller: described by the first service, and passed on by all others.

import type { OuterRequest } from "../../base/call-scope.ts";
import type { HttpRequest } from "../../base/ports.ts";
import { serviceHeaders } from "../../base/protocol.ts";
import type { SeenOrigin } from "../public-origin.ts";
import type { Trust } from "../trust.ts";

/** The outer request, as services pass it on to each other. */
export interface OuterCall {
  readonly request: OuterRequest;
  /** Whether cookies are `Secure` unless they say otherwise. */
  readonly secureCookies: boolean;
  /** Whether the answer brings cookies. */
  readonly takesCookies: boolean;
  /** Where pages are, below their origin: `/shop`, or "" at its root. */
  readonly base: string;
}

// <method> <secure, plain or none: cookies> <address or -> <url>, and <base> if there is one
const form = /^(\S+) (secure|plain|none) (\S+) (https?:\/\/\S+)(?: (\/\S+))?$/;

/** A member's account of the outer request; for other senders, the request that this service sees. */
export function readOuterCall(
  request: HttpRequest,
  trust: Trust,
  seen: () => SeenOrigin,
): OuterCall {
  const field = trust.member ? request.headers[serviceHeaders.request] : undefined;
  const [, method, cookies, address, url, base = ""] =
    form.exec(typeof field === "string" ? field : "") ?? [];
  if (method === undefined || url === undefined) {
    const { origin, base: own, address: from, secureCookies } = seen();
    const target = printable(request.target);
    return {
      request: { method: request.method, url: origin + own + target, address: from },
      secureCookies,
      takesCookies: request.cookiesAreSent !== false,
      base: own,
    };
  }
  return {
    request: {
      method,
      // Only the origin, while the call is still the outer request itself.
      url: url.indexOf("/", 8) < 0 ? url + base + printable(request.target) : url,
      address: address === "-" ? undefined : address,
    },
    secureCookies: cookies === "secure",
    takesCookies: cookies !== "none",
    base,
  };
}

/** For a call that is passed on: its path is that of the outer request unless it says otherwise. */
export function relayedOuterCall(
  request: HttpRequest,
  trust: Trust,
  seen: () => SeenOrigin,
): string {
  const field = trust.member ? request.headers[serviceHeaders.request] : undefined;
  // It is parsed only by services that believe it.
  if (typeof field === "string") return field;
  const { origin, secureCookies, address, base } = seen();
  const cookies = kindOf({ secureCookies, takesCookies: request.cookiesAreSent !== false });
  return fieldOf(request.method, cookies, address, origin, base);
}

/** For a call that a procedure makes. */
export function sentOuterCall(call: OuterCall): string {
  const { request, base } = call;
  return fieldOf(request.method, kindOf(call), request.address, request.url, base);
}

function kindOf({
  secureCookies,
  takesCookies,
}: Pick<OuterCall, "secureCookies" | "takesCookies">): string {
  if (!takesCookies) return "none";
  return secureCookies ? "secure" : "plain";
}

// Written for each call: to copy an object's other members costs more than all the rest of it.
function fieldOf(
  method: string,
  cookies: string,
  address: string | undefined,
  url: string,
  base: string,
): string {
  return `${method} ${cookies} ${address ?? "-"} ${url}${base === "" ? "" : ` ${base}`}`;
}

/** Percent-encodes characters that header fields can't carry. */
function printable(target: string): string {
  return target.replace(/[^\x21-\x7e]/g, (letter) => encodeURIComponent(letter));
}
