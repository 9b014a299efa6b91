// A service that calls go to: a gateway, or the node behind a proxy.

import { type GatewayAddress, gatewayName } from "../../base/ports/gateways.ts";
import type { OutgoingRequest, Peer, PeerResponse } from "../../base/ports.ts";
import type { DialledLink, Way } from "../links/dialled-link.ts";
import type { Membership } from "../members/membership.ts";
import type { Candidate } from "../resend/send-again.ts";

export class Upstream implements Candidate, Peer {
  readonly gateway: GatewayAddress;
  /** Its name in logs and errors. */
  readonly url: string;
  readonly link: DialledLink;
  inFlight = 0;
  /** Whether it is one of the gateways that are known now. */
  isListed = true;
  /** Set while its name has other addresses and it is about to be left; calling it keeps it. */
  stay: (() => void) | undefined;
  /** The membership of a node. */
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

  /** Whether it has accepted this service: by a link or, for a node, by a membership. */
  get isTaken(): boolean {
    return this.membership === undefined ? this.link.isLinked : this.membership.isMember;
  }

  /** The instance of the process there, while there is a link to it. */
  get instance(): string | undefined {
    return this.link.instance;
  }

  /** It refused a call: it gets none until then while others can take them. */
  restUntil(time: number): void {
    this.#restsUntil = time;
  }

  /** Until then it gets calls only if no other service takes them. */
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
