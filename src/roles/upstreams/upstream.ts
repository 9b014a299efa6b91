// A service that calls go to: a gateway, or the node behind a proxy.

import { type GatewayAddress, gatewayName } from "../../base/ports/gateways.ts";
import type { OutgoingRequest, Peer, PeerResponse } from "../../base/ports.ts";
import type { DialledLink, Way } from "../links/dialled-link.ts";
import type { Membership } from "../members/membership.ts";
import type { Candidate } from "../resend/send-again.ts";

export class Upstream implements Candidate, Peer {
  readonly gateway: GatewayAddress;
  /** What logs and errors call it. */
  readonly url: string;
  readonly link: DialledLink;
  inFlight = 0;
  /** It is one of the gateways that are known now. */
  isListed = true;
  /** Its name has other addresses now. Until this is called, it is left soon. */
  stay: (() => void) | undefined;
  /** A node's. */
  membership: Membership | undefined;
  #restsUntil = -Infinity;
  #reserveUntil = -Infinity;

  constructor(gateway: GatewayAddress, dial: (upstream: Upstream) => DialledLink) {
    this.gateway = gateway;
    this.url = gatewayName(gateway);
    this.link = dial(this);
  }

  get way(): Way {
    return this.link.way;
  }

  /** Whether it has said that it takes this service's calls, or those of others to this service. */
  get isTaken(): boolean {
    return this.membership === undefined ? this.link.isLinked : this.membership.isMember;
  }

  /** The process there, while there is a link to it. */
  get instance(): string | undefined {
    return this.link.instance;
  }

  /** It has said that it can't take calls now. */
  restUntil(time: number): void {
    this.#restsUntil = time;
  }

  /** Until then calls go there only if no other service takes them. */
  reserveUntil(time: number): void {
    this.#reserveUntil = time;
  }

  isReserve(now: number): boolean {
    return now < this.#reserveUntil;
  }

  /** Whether a call is likely to be taken. */
  isReady(now: number): boolean {
    return now >= this.#restsUntil && this.link.isReady;
  }

  send(request: OutgoingRequest): Promise<PeerResponse> {
    return this.link.send(request);
  }

  sendOverNext(request: OutgoingRequest): Promise<PeerResponse> {
    return this.link.sendOverNext(request);
  }
}
