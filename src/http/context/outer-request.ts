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
  /** Where pages are, below their origin: `/shop`, or "" at its root. */
  readonly base: string;
}

// <method> <secure or plain> <address or -> <url>, and <base> if there is one
const form = /^(\S+) (secure|plain) (\S+) (https?:\/\/\S+)(?: (\/\S+))?$/;

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
  return fieldOf(request.method, secureCookies, address, origin, base);
}

/** For a call that a procedure makes. */
export function sentOuterCall({ request, secureCookies, base }: OuterCall): string {
  return fieldOf(request.method, secureCookies, request.address, request.url, base);
}

// Written for each call: to copy an object's other members costs more than all the rest of it.
function fieldOf(
  method: string,
  secureCookies: boolean,
  address: string | undefined,
  url: string,
  base: string,
): string {
  const cookies = secureCookies ? "secure" : "plain";
  return `${method} ${cookies} ${address ?? "-"} ${url}${base === "" ? "" : ` ${base}`}`;
}

/** Percent-encodes characters that header fields can't carry. */
function printable(target: string): string {
  return target.replace(/[^\x21-\x7e]/g, (letter) => encodeURIComponent(letter));
}
