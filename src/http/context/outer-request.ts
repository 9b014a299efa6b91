// The request of the outermost caller: described by the first service, and passed on by all others.

import type { OuterRequest } from "../../base/call-scope.ts";
import type { HttpRequest } from "../../base/ports.ts";
import { serviceHeaders } from "../../base/protocol.ts";
import type { Trust } from "../trust.ts";

/** What services tell each other about the outer request. */
export interface OuterCall {
  readonly request: OuterRequest;
  /** Whether cookies are `Secure` unless they say otherwise. */
  readonly secureCookies: boolean;
}

// <method> <secure or plain> <address or -> <url>
const form = /^(\S+) (secure|plain) (\S+) (https?:\/\/\S+)$/;

/** From a member, what it says; from others, what this service sees. */
export function readOuterCall(
  request: HttpRequest,
  trust: Trust,
  seen: () => OuterCall,
): OuterCall {
  const field = trust.member ? request.headers[serviceHeaders.request] : undefined;
  const [, method, cookies, address, url] = form.exec(typeof field === "string" ? field : "") ?? [];
  if (method === undefined || url === undefined) return seen();
  return {
    request: {
      method,
      // Only the origin, while the call is still the outer request itself.
      url: url.indexOf("/", 8) < 0 ? url + printable(request.target) : url,
      address: address === "-" ? undefined : address,
    },
    secureCookies: cookies === "secure",
  };
}

/** For a call that is passed on: its path is that of the outer request unless it says otherwise. */
export function relayedOuterCall(
  request: HttpRequest,
  trust: Trust,
  seen: () => OuterCall,
): string {
  const field = trust.member ? request.headers[serviceHeaders.request] : undefined;
  if (typeof field === "string" && form.test(field)) return field;
  const outer = seen();
  return fieldOf(outer, outer.request.url.slice(0, outer.request.url.indexOf("/", 8)));
}

/** For a call that a procedure makes. */
export function sentOuterCall(outer: OuterCall): string {
  return fieldOf(outer, outer.request.url);
}

function fieldOf({ request, secureCookies }: OuterCall, url: string): string {
  return `${request.method} ${secureCookies ? "secure" : "plain"} ${request.address ?? "-"} ${url}`;
}

/** Percent-encodes what header fields can't carry. */
export function printable(target: string): string {
  return target.replace(/[^\x21-\x7e]/g, (letter) => encodeURIComponent(letter));
}
