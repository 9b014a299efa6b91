// A call that a node or proxy sends to one of its services.

import type {
  AbortNotice,
  HeaderFields,
  Host,
  OutgoingRequest,
  PeerResponse,
} from "../../base/ports.ts";
import { headers, rpcPath } from "../../base/protocol.ts";
import { withoutVersion } from "../../base/version.ts";
import { watchedBody } from "../../http/bodies.ts";
import { pathOf, targetOf } from "../../http/router.ts";
import type { NotStartedReason } from "../../http/relay-headers.ts";
import type { Tries } from "../resend/send-again.ts";
import type { Upstream } from "./upstream.ts";
import { restMs } from "../common/times.ts";

export interface UpstreamTriesParts {
  readonly host: Pick<Host, "clock">;
  /** The next service in turn that hasn't been tried. */
  readonly next: (tried: readonly Upstream[]) => Upstream | undefined;
  /** Whether calls of a procedure may be sent again without an answer. */
  readonly isIdempotent: (fqn: string) => boolean | Promise<boolean>;
}

/** A class, as closures would be garbage of each call. */
export class UpstreamTries implements Tries<Upstream> {
  readonly hasBegun: () => boolean;
  /** The same service may get it again, over its next link. */
  readonly mayReturn = true;
  readonly #parts: UpstreamTriesParts;
  readonly #request: OutgoingRequest;
  readonly #onSent: ((name: string) => void) | undefined;
  readonly #started: number;
  /** The service that got the call last. */
  #last: Upstream | undefined;

  constructor(
    parts: UpstreamTriesParts,
    received: OutgoingRequest,
    /** Called with the name of each service to which the call is sent. */
    onSent: ((name: string) => void) | undefined,
  ) {
    this.#parts = parts;
    [this.#request, this.hasBegun] = watchedBody(received);
    this.#onSent = onSent;
    this.#started = parts.host.clock.now();
  }

  get fqn(): string {
    const { url } = this.#request;
    return procedureOf(url) ?? pathOf(targetOf(url));
  }

  get headers(): HeaderFields {
    return this.#request.headers;
  }

  get caller(): AbortNotice | undefined {
    return this.#request.signal;
  }

  next(tried: readonly Upstream[]): Upstream | undefined {
    return this.#parts.next(tried);
  }

  send(upstream: Upstream): Promise<PeerResponse> {
    this.#onSent?.(upstream.url);
    const last = this.#last;
    this.#last = upstream;
    if (last === undefined) return upstream.send(this.#request);
    const again = later(this.#request, this.#parts.host.clock.now() - this.#started);
    return upstream === last ? upstream.sendOverNext(again) : upstream.send(again);
  }

  mayRepeat(): boolean | Promise<boolean> {
    const fqn = procedureOf(this.#request.url);
    return fqn !== undefined && this.#parts.isIdempotent(fqn);
  }

  refused(upstream: Upstream, reason: NotStartedReason): void {
    upstream.restUntil(this.#parts.host.clock.now() + restMs[reason]);
  }
}

/** The same call with less time left. */
function later(request: OutgoingRequest, ms: number): OutgoingRequest {
  const left = Number(request.headers[headers.deadline]);
  if (!Number.isFinite(left)) return request;
  const deadline = String(Math.max(1, Math.ceil(left - ms)));
  return Object.assign({}, request, {
    headers: Object.assign({}, request.headers, { [headers.deadline]: deadline }),
  });
}

/** The name of the procedure that a request calls, if it is a call. */
function procedureOf(url: string): string | undefined {
  const path = pathOf(targetOf(url));
  if (!path.startsWith(rpcPath)) return undefined;
  try {
    return withoutVersion(decodeURIComponent(path.slice(rpcPath.length)));
  } catch {
    // An invalid escape: no procedure has such a name.
    return undefined;
  }
}
