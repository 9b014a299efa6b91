// Trust: what a request proves by itself. Nothing is granted because of an address, or because a field is missing.

import type { HeaderFields, Host } from "./ports.ts";
import { serviceHeaders } from "./protocol.ts";

/** What the sender of a request may do and is believed about. */
export interface Trust {
  /** Holds the trust key itself: may join a gateway, fetch modules, and open the console. */
  readonly holdsKey: boolean;
  /** Belongs to the deployment: is believed about hops, deadline, and the request that it passes on. */
  readonly member: boolean;
  /** The call may reach what is protected: a procedure or a holder of the key made it, not a stranger. */
  readonly trusted: boolean;
}

/** For whom a service sends a call: for itself and those who are trusted, or for a stranger. */
export type Sender = "service" | "outside";

/** What a service shows to others, and how it reads what others show. */
export interface Credentials {
  /** The field that goes with a call. Without a trust key there is none, and the call is one of a stranger. */
  fields(sender: Sender): Readonly<Record<string, string>>;
  /** What a request proves: one valid credential, or nothing. */
  of(fields: HeaderFields): Trust;
}

/** Nothing is shown, or nothing valid. */
export const stranger: Trust = { holdsKey: false, member: false, trusted: false };
const keyHolder: Trust = { holdsKey: true, member: true, trusted: true };
const granted: Readonly<Record<Sender, Trust>> = {
  service: { holdsKey: false, member: true, trusted: true },
  outside: { holdsKey: false, member: true, trusted: false },
};

/**
 * The credentials of a deployment. Each says by itself what it grants: if a field gets lost on the way, a call loses rights and never gains any.
 * Calls carry values derived from the trust key, so the key itself travels only where it is needed.
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
