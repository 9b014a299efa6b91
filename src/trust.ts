// Trust (decisions §5): never from an address. The key proves who sends; `x-svc-origin` says for whom.

import type { HeaderFields } from "./ports.ts";
import { headers } from "./protocol.ts";

export interface Trust {
  /** The sender showed the trust key: a service of this deployment, or a person who holds the key. */
  readonly member: boolean;
  /** The call itself may reach what is protected: a member sent it, and not on behalf of the outside. */
  readonly trusted: boolean;
}

const nobody: Trust = { member: false, trusted: false };

/** Reads what a request proves. Without a configured key nobody is trusted. */
export function trustOf(fields: HeaderFields, trustKey: string | undefined, equalSecrets: (one: string, other: string) => boolean): Trust {
  const shown = fields[headers.trustKey];
  if (typeof shown !== "string" || trustKey === undefined || trustKey === "" || !equalSecrets(shown, trustKey)) return nobody;
  const origin = fields[headers.origin];
  return { member: true, trusted: origin === undefined || origin === "trusted" };
}
