// A link as a way to another service, with the requests and answers that HTTP has. Credentials don't
// travel over it: what a call may do is in the kind of its frame.

import type {
  CallFrom,
  Host,
  HttpRequest,
  HttpResponse,
  OutgoingRequest,
  LinkedPeer,
  Peer,
  PeerResponse,
} from "../base/ports.ts";
import type { Credentials } from "../http/trust.ts";
import { serviceHeaders } from "../base/protocol.ts";
import { targetOf } from "../http/router.ts";
import type { ArrivedCall } from "./calls.ts";
import type { Introduction } from "./handshake.ts";
import type { Link } from "./link.ts";
import { LinkRequest } from "./link-request.ts";

/**
 * So many calls more than it runs a service takes over each link, for requests that hold the deployment
 * together: whose calls take all places can still tell its health, and leave.
 */
export const controlCalls = 8;

export interface LinkPeerParts {
  readonly credentials: Credentials;
  /** As in a host's `links`. */
  readonly sending?: NonNullable<Host["links"]>["sending"];
}

/** Sends requests over a link. */
export class LinkPeer implements LinkedPeer {
  readonly instance: string;
  readonly #link: Link;
  readonly #service: string | undefined;

  readonly send: Peer["send"];

  constructor(
    link: Link,
    { instance }: Pick<Introduction, "instance">,
    { credentials, sending }: LinkPeerParts,
  ) {
    this.instance = instance;
    this.#link = link;
    this.#service = credentials.fields("service")[serviceHeaders.credential];
    const send: Peer["send"] = (request) => this.#send(request);
    this.send = sending === undefined ? send : sending(send, () => link.name);
  }

  isAt(address: string): void {
    this.#link.rename(address);
  }

  get isSilent(): boolean {
    return this.#link.isSilent;
  }

  /** Whether the other end takes one more call now. */
  get hasRoom(): boolean {
    return this.#link.hasRoomBeside(controlCalls);
  }

  retire(reason: Error): void {
    void this.#link.retire(reason);
  }

  #send({ url, method, headers, body, signal, control }: OutgoingRequest): Promise<PeerResponse> {
    return this.#link.send(
      { from: this.#from(headers), method, target: targetOf(url), headers, body, signal },
      control === true ? 0 : controlCalls,
    );
  }

  /** This service has set these fields itself, so there is nothing to verify. They don't travel. */
  #from(headers: OutgoingRequest["headers"]): CallFrom {
    if (headers[serviceHeaders.trustKey] !== undefined) return "key";
    const credential = headers[serviceHeaders.credential];
    return credential !== undefined && credential === this.#service ? "service" : "outside";
  }
}

/** Answers what comes over a link as a role does. */
export function answering(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  via: LinkedPeer,
): (call: ArrivedCall) => Promise<HttpResponse> {
  return (call) => handle(new LinkRequest(call, via));
}
