// A link as a way to another service, with requests and answers like those of HTTP. The kind of a request's
// frame decides its rights.

import type {
  Host,
  HttpRequest,
  HttpResponse,
  OutgoingRequest,
  LinkedPeer,
  Peer,
  PeerResponse,
} from "../base/ports.ts";
import { targetOf } from "../http/router.ts";
import type { ArrivedCall } from "./calls.ts";
import type { Introduction } from "./handshake.ts";
import type { Link } from "./link.ts";
import { LinkRequest } from "./link-request.ts";
import { controlCalls } from "./limits.ts";

/** Sends requests over a link. */
export class LinkPeer implements LinkedPeer {
  readonly instance: string;
  readonly send: Peer["send"];
  readonly #link: Link;

  /** `sending` as in a host's `links`. */
  constructor(
    link: Link,
    { instance }: Pick<Introduction, "instance">,
    sending: Host["links"]["sending"],
  ) {
    this.instance = instance;
    this.#link = link;
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

  #send(request: OutgoingRequest): Promise<PeerResponse> {
    const { url, method, headers, body, signal, from = "outside", control } = request;
    return this.#link.send(
      { from, method, target: targetOf(url), headers, body, signal },
      control === true ? 0 : controlCalls,
    );
  }
}

/** Passes calls that come over a link to a role. */
export function answering(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  via: LinkedPeer,
): (call: ArrivedCall) => Promise<HttpResponse> {
  return (call) => handle(new LinkRequest(call, via));
}
