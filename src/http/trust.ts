// The trust that a request proves by itself. Neither an address nor a missing field grants any.

import type { CallFrom, Host, HttpRequest } from "../base/ports.ts";
import { serviceHeaders } from "../base/protocol.ts";

/** The rights of the sender of a request, and which of its statements are believed. */
export interface Trust {
  /** Holds the trust key itself: may list members, fetch modules, and open the console. */
  readonly holdsKey: boolean;
  /** Belongs to the deployment: trusted about hops, deadline, and the request that it forwards. */
  readonly member: boolean;
  /** A member that passes on the request of its own caller. */
  readonly relays: boolean;
  /** May call protected procedures: a procedure or a holder of the key made the call. */
  readonly trusted: boolean;
  /** A procedure made the call, so no guard is asked. Any other call comes from outside. */
  readonly inner: boolean;
}

/** The rights with which a service passes a request on: never more than its sender has proven. */
export function passedOnFor({ inner, trusted }: Trust): CallFrom {
  if (inner) return "service";
  return trusted ? "trusted" : "outside";
}

/** Tells what requests prove. */
export interface Credentials {
  /** By the link that it came over, by the trust key, or nothing. */
  of(request: Pick<HttpRequest, "headers" | "from">): Trust;
}

/**
 * The trust key of a deployment. While it is changed, a list: the first key proves what this
 * service is, and others may prove it with any.
 */
export type TrustKey = string | readonly string[];

/** All keys of a deployment, the one that proves first. */
export function keysOf(trustKey: TrustKey): readonly string[] {
  return typeof trustKey === "string" ? [trustKey] : trustKey;
}

/** The header by which people show the key over HTTP. Services never send it to each other. */
export function trustKeyHeader(trustKey: TrustKey): Record<string, string> {
  return { [serviceHeaders.trustKey]: keysOf(trustKey)[0] ?? "" };
}

/** A request that proves nothing. */
export const stranger: Trust = {
  holdsKey: false,
  member: false,
  relays: false,
  trusted: false,
  inner: false,
};
/** Over HTTP. Its statements on other requests aren't believed. */
const keyHolder: Trust = {
  holdsKey: true,
  member: false,
  relays: false,
  trusted: true,
  inner: false,
};
const granted: Readonly<Record<CallFrom, Trust>> = {
  key: { holdsKey: true, member: true, relays: false, trusted: true, inner: false },
  service: { holdsKey: false, member: true, relays: true, trusted: true, inner: true },
  trusted: { holdsKey: false, member: true, relays: true, trusted: true, inner: false },
  outside: { holdsKey: false, member: true, relays: true, trusted: false, inner: false },
};

/** Losing a field on the way can only reduce rights. */
export function createCredentials(
  trustKey: TrustKey,
  host: Pick<Host, "equalSecrets">,
): Credentials {
  // The empty key isn't a secret.
  const keys = keysOf(trustKey).filter((key) => key !== "");
  return {
    of({ headers: fields, from }) {
      if (from !== undefined) return granted[from];
      const shown = fields[serviceHeaders.trustKey];
      return typeof shown === "string" && keys.some((key) => host.equalSecrets(shown, key))
        ? keyHolder
        : stranger;
    },
  };
}
