// A service that calls go to: a gateway, or the node behind a proxy.

import { baseAt, type GatewayAddress, gatewayName } from "../../base/ports/gateways.ts";
import type { OutgoingRequest, Peer, PeerResponse } from "../../base/ports.ts";
import { targetOf } from "../../http/router.ts";
import type { DialledLink, Way } from "../links/dialled-link.ts";
import type { Living } from "../members/liveness.ts";
import type { Membership } from "../members/membership.ts";
import { newVitals, type Vitals } from "../members/vitals.ts";

/** What requests name when any of several services may get them. Each puts its own address in place. */
export const anyUpstream = "http://upstream";

const everything = { has: (): boolean => true };

export class Upstream implements Living {
  readonly gateway: GatewayAddress;
  /** What logs and errors call it. */
  readonly url: string;
  /** Sends requests there that don't go over a link, whatever host they name. */
  readonly http: Peer;
  readonly vitals: Vitals = newVitals();
  readonly isHealthy: boolean = true;
  /** Only calls that may be sent again are ended with it. */
  readonly idempotent: Living["idempotent"] = everything;
  hasLeft = false;
  /** It is one of the gateways that are known now. */
  isListed = true;
  /** Missing where nothing links. */
  link: DialledLink | undefined;
  /** A node's. */
  membership: Membership | undefined;
  #restsUntil = -Infinity;

  constructor(gateway: GatewayAddress, transport: Peer) {
    this.gateway = gateway;
    this.url = gatewayName(gateway);
    this.http = addressed(transport, gateway);
  }

  /** The way to it, as for each service whose life is guessed. */
  get via(): Peer {
    return this.link ?? this.http;
  }

  /** Whether calls go there over HTTP. A link says itself whether its other end lives. */
  get isOverHttp(): boolean {
    return this.link === undefined || this.link.kind === "http";
  }

  get way(): Way {
    return this.link?.way ?? { to: this.url, kind: "http", because: "'link' is \"never\"" };
  }

  /** Whether it has said that it takes this service's calls, or those of others to this service. */
  get isTaken(): boolean {
    if (this.membership !== undefined) return this.membership.isMember;
    return this.link === undefined || this.link.kind !== undefined;
  }

  /** The process there, as far as it is known. */
  get instance(): string | undefined {
    return (
      this.link?.instance ?? (this.membership?.isMember ? this.membership.instance : undefined)
    );
  }

  /** It has said that it can't take calls now. */
  restUntil(time: number): void {
    this.#restsUntil = time;
  }

  /** Whether a call is likely to be taken. */
  isReady(now: number): boolean {
    if (now < this.#restsUntil) return false;
    return this.isOverHttp ? this.vitals.sign === "alive" : this.link?.isReady === true;
  }

  send(request: OutgoingRequest): Promise<PeerResponse> {
    return this.via.send(request);
  }
}

/** Sends requests to a gateway, whatever host they name. */
function addressed(transport: Peer, { url, address }: GatewayAddress): Peer {
  const base = address === undefined ? url : baseAt(url, address);
  // The name's: for hosts that are checked, and for certificates.
  const named = address === undefined ? undefined : { host: new URL(url).host };
  return {
    send(request) {
      const headers = named === undefined ? request.headers : { ...request.headers, ...named };
      const { method, body, signal, control } = request;
      return transport.send({
        url: base + targetOf(request.url),
        method,
        headers,
        signal,
        ...(body !== undefined && { body }),
        ...(control !== undefined && { control }),
      });
    },
  };
}
