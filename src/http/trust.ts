// What a request proves by itself. Neither an address nor a missing field grants anything.

import type { CallFrom, Host, HttpRequest } from "../base/ports.ts";
import { serviceHeaders } from "../base/protocol.ts";

/** What the sender of a request may do, and what it is trusted to say. */
export interface Trust {
  /** Holds the trust key itself: may join a gateway, fetch modules, and open the console. */
  readonly holdsKey: boolean;
  /** Belongs to the deployment: trusted about hops, deadline, and the request that it forwards. */
  readonly member: boolean;
  /** May call protected procedures: a procedure or a holder of the key made the call. */
  readonly trusted: boolean;
}

/** On whose behalf a service sends a call: its own or a trusted caller's, or one from outside. */
export type Sender = "service" | "outside";

/** Writes and reads the credentials of a deployment. */
export interface Credentials {
  /**
   * The header for a call. There is none without a trust key, so the call counts as from outside.
   */
  fields(sender: Sender): Readonly<Record<string, string>>;
  /** What a request proves: by the link that it came over, by one valid credential, or nothing. */
  of(request: Pick<HttpRequest, "headers" | "from">): Trust;
}

/**
 * The trust key of a deployment. While it is changed, a list: the first key signs what this service
 * sends, and what others send may be signed with any.
 */
export type TrustKey = string | readonly string[];

/** All keys of a deployment, the one that signs first. */
export function keysOf(trustKey: TrustKey): readonly string[] {
  return typeof trustKey === "string" ? [trustKey] : trustKey;
}

/** For joining a gateway and fetching modules. Calls carry a credential instead. */
export function trustKeyHeader(trustKey: TrustKey): Record<string, string> {
  return { [serviceHeaders.trustKey]: keysOf(trustKey)[0] ?? "" };
}

/** A request without valid credentials. */
export const stranger: Trust = { holdsKey: false, member: false, trusted: false };
const keyHolder: Trust = { holdsKey: true, member: true, trusted: true };
const granted: Readonly<Record<CallFrom, Trust>> = {
  key: keyHolder,
  service: { holdsKey: false, member: true, trusted: true },
  outside: { holdsKey: false, member: true, trusted: false },
};

/**
 * The credentials of a deployment. Each says by itself what it grants, so that losing a header on
 * the way can only reduce rights. Calls carry values derived from the trust key, which itself is
 * only sent where it is needed.
 */
export function createCredentials(
  trustKey: TrustKey | undefined,
  host: Pick<Host, "equalSecrets" | "sign">,
): Credentials {
  // Everybody knows the empty key.
  const keys = keysOf(trustKey ?? []).filter((key) => key !== "");
  if (keys.length === 0) return { fields: () => ({}), of: () => stranger };
  const valuesOf = (sender: Sender): readonly [string, ...string[]] =>
    keys.map((key) => `${sender} ${host.sign(key, `seamline/credential/1/${sender}`)}`) as [string];
  const values = { service: valuesOf("service"), outside: valuesOf("outside") };
  const isOneOf = (secrets: readonly string[], shown: string): boolean =>
    secrets.some((secret) => host.equalSecrets(shown, secret));
  const sent = {
    service: { [serviceHeaders.credential]: values.service[0] },
    outside: { [serviceHeaders.credential]: values.outside[0] },
  };
  return {
    fields: (sender) => sent[sender],
    of({ headers: fields, from }) {
      if (from !== undefined) return granted[from];
      const key = fields[serviceHeaders.trustKey];
      const credential = fields[serviceHeaders.credential];
      if (key === undefined && credential === undefined) return stranger;
      if (credential === undefined)
        return typeof key === "string" && isOneOf(keys, key) ? keyHolder : stranger;
      if (key !== undefined || typeof credential !== "string") return stranger;
      if (isOneOf(values.service, credential)) return granted.service;
      return isOneOf(values.outside, credential) ? granted.outside : stranger;
    },
  };
}
