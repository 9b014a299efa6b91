// What a request proves by itself. Neither an address nor a missing field grants anything.

import type { HeaderFields, Host } from "../base/ports.ts";
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
  /** What a request proves: one valid credential, or nothing. */
  of(fields: HeaderFields): Trust;
}

/** For joining a gateway and fetching modules. Calls carry a credential instead. */
export function trustKeyHeader(trustKey: string): Record<string, string> {
  return { [serviceHeaders.trustKey]: trustKey };
}

/** A request without valid credentials. */
export const stranger: Trust = { holdsKey: false, member: false, trusted: false };
const keyHolder: Trust = { holdsKey: true, member: true, trusted: true };
const granted: Readonly<Record<Sender, Trust>> = {
  service: { holdsKey: false, member: true, trusted: true },
  outside: { holdsKey: false, member: true, trusted: false },
};

/**
 * The credentials of a deployment. Each says by itself what it grants, so that losing a header on
 * the way can only reduce rights. Calls carry values derived from the trust key, which itself is
 * only sent where it is needed.
 */
export function createCredentials(
  trustKey: string | undefined,
  host: Pick<Host, "equalSecrets" | "sign">,
): Credentials {
  if (trustKey === undefined || trustKey === "") return { fields: () => ({}), of: () => stranger };
  const valueOf = (sender: Sender): string =>
    `${sender} ${host.sign(trustKey, `seamline/credential/1/${sender}`)}`;
  const values: Readonly<Record<Sender, string>> = {
    service: valueOf("service"),
    outside: valueOf("outside"),
  };
  const sent = {
    service: { [serviceHeaders.credential]: values.service },
    outside: { [serviceHeaders.credential]: values.outside },
  };
  return {
    fields: (sender) => sent[sender],
    of(fields) {
      const key = fields[serviceHeaders.trustKey];
      const credential = fields[serviceHeaders.credential];
      if (key === undefined && credential === undefined) return stranger;
      if (credential === undefined)
        return typeof key === "string" && host.equalSecrets(key, trustKey) ? keyHolder : stranger;
      if (key !== undefined || typeof credential !== "string") return stranger;
      if (host.equalSecrets(credential, values.service)) return granted.service;
      return host.equalSecrets(credential, values.outside) ? granted.outside : stranger;
    },
  };
}
