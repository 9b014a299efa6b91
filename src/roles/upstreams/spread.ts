// How a node or proxy sends a call to one of several services.

import type {
  AbortNotice,
  HeaderFields,
  Host,
  OutgoingRequest,
  PeerResponse,
} from "../../base/ports.ts";
import { headers, rpcPath } from "../../base/protocol.ts";
import { watchedBody } from "../../http/bodies.ts";
import { pathOf, targetOf } from "../../http/router.ts";
import type { NotStartedReason } from "../../http/relay-headers.ts";
import { Resending, type Tries } from "../relay/send-again.ts";
import type { Upstream } from "./upstream.ts";
import { restMs } from "../times.ts";

export interface SpreadParts {
  readonly host: Pick<Host, "clock" | "log">;
  /** The next one in turn that isn't one of these. */
  readonly next: (tried: readonly Upstream[]) => Upstream | undefined;
  readonly all: () => readonly Upstream[];
  /** Whether calls of a procedure may be sent again without an answer. */
  readonly isIdempotent: (fqn: string) => boolean | Promise<boolean>;
}

export class Spread {
  readonly #parts: SpreadParts;
  readonly #resending: Resending<Upstream>;

  constructor(parts: SpreadParts) {
    this.#parts = parts;
    this.#resending = new Resending(parts.host, parts.all);
  }

  /** Calls that were sent again, by the reason. */
  get counts(): Resending<Upstream>["counts"] {
    return this.#resending.counts;
  }

  /** `onSent` hears the name of each service to which it is sent. */
  send(request: OutgoingRequest, onSent?: (name: string) => void): Promise<PeerResponse> {
    return this.#resending.send(new UpstreamTries(this.#parts, request, onSent));
  }
}

/** A call that goes to one of them. A class, as functions of its own would be garbage of each call. */
class UpstreamTries implements Tries<Upstream> {
  readonly hasBegun: () => boolean;
  readonly #parts: SpreadParts;
  readonly #request: OutgoingRequest;
  readonly #onSent: ((name: string) => void) | undefined;
  readonly #started: number;
  /** The one that has it, or had it last. */
  #last: Upstream | undefined;

  constructor(
    parts: SpreadParts,
    received: OutgoingRequest,
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

  again(upstream: Upstream): Upstream {
    return upstream;
  }

  mayRepeat(): boolean | Promise<boolean> {
    const fqn = procedureOf(this.#request.url);
    return fqn !== undefined && this.#parts.isIdempotent(fqn);
  }

  refused(upstream: Upstream, reason: NotStartedReason): void {
    upstream.restUntil(this.#parts.host.clock.now() + restMs[reason]);
  }
}

/** The same call when some of its time is over. */
function later(request: OutgoingRequest, ms: number): OutgoingRequest {
  const left = Number(request.headers[headers.deadline]);
  if (!Number.isFinite(left)) return request;
  const deadline = String(Math.max(1, Math.ceil(left - ms)));
  return Object.assign({}, request, {
    headers: Object.assign({}, request.headers, { [headers.deadline]: deadline }),
  });
}

/** The procedure that a request calls, if it calls one. */
function procedureOf(url: string): string | undefined {
  const path = pathOf(targetOf(url));
  if (!path.startsWith(rpcPath)) return undefined;
  try {
    return decodeURIComponent(path.slice(rpcPath.length));
  } catch {
    // No procedure has such a name.
    return undefined;
  }
}
