// How a node or proxy sends a call to one of several services.

import type { Host, OutgoingRequest, PeerResponse } from "../../base/ports.ts";
import { headers, rpcPath } from "../../base/protocol.ts";
import { watchedBody } from "../../http/bodies.ts";
import { pathOf, targetOf } from "../../http/router.ts";
import { Resending } from "../relay/send-again.ts";
import type { Upstream } from "./upstream.ts";

export interface SpreadParts {
  readonly host: Pick<Host, "clock" | "log">;
  /** The next one in turn that isn't one of these. */
  readonly next: (tried: readonly Upstream[]) => Upstream | undefined;
  readonly all: () => readonly Upstream[];
  /** Whether calls of a procedure may be sent again without an answer. */
  readonly isIdempotent: (fqn: string) => boolean | Promise<boolean>;
}

/** How long a service is left alone that has said that it is leaving, or can't know yet who takes a call. */
const restMs = { leaving: 1_000, starting: 500, nobody: 0, overload: 0 } as const;

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

  /** `onSent` hears the name of each service to which it is sent. `undefined`: there is none. */
  async send(
    received: OutgoingRequest,
    onSent?: (name: string) => void,
  ): Promise<PeerResponse | undefined> {
    const { host, next, isIdempotent } = this.#parts;
    const { clock } = host;
    const started = clock.now();
    const [request, hasBegun] = watchedBody(received);
    const fqn = procedureOf(request);
    let isFirst = true;
    return await this.#resending.send({
      fqn: fqn ?? pathOf(targetOf(request.url)),
      headers: request.headers,
      caller: request.signal,
      hasBegun,
      next,
      send: (upstream) => {
        onSent?.(upstream.url);
        const sent = isFirst ? request : later(request, clock.now() - started);
        isFirst = false;
        return upstream.send(sent);
      },
      mayRepeat: () => fqn !== undefined && isIdempotent(fqn),
      refused: (upstream, reason) => upstream.restUntil(clock.now() + restMs[reason]),
    });
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
function procedureOf(request: OutgoingRequest): string | undefined {
  const path = pathOf(targetOf(request.url));
  if (!path.startsWith(rpcPath)) return undefined;
  try {
    return decodeURIComponent(path.slice(rpcPath.length));
  } catch {
    // No procedure has such a name.
    return undefined;
  }
}
