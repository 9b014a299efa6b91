// Sends a call to one of several services, and to another one if that is safe. The rules are those by
// which a gateway sends calls to members.

import {
  type Host,
  type OutgoingRequest,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { headers, rpcPath } from "../../base/protocol.ts";
import { discard } from "../../http/bodies.ts";
import { pathOf, targetOf } from "../../http/router.ts";
import { notStartedReason } from "../../http/relay-headers.ts";
import type { Liveness } from "../members/liveness.ts";
import { watchedBody } from "../../http/bodies.ts";
import { HeldCall } from "../relay/held-call.ts";
import { backOff, mostTried, ResendBudget } from "../relay/resend-budget.ts";
import { ResentCalls } from "../relay/resent-calls.ts";
import type { Upstream } from "./upstream.ts";

export interface SpreadParts {
  readonly host: Pick<Host, "clock" | "log">;
  readonly liveness: Liveness<Upstream>;
  /** The next one in turn that isn't one of these. */
  readonly next: (tried: readonly Upstream[]) => Upstream | undefined;
  readonly all: () => readonly Upstream[];
  /** Whether calls of a procedure may be sent again without an answer. */
  readonly isIdempotent: (fqn: string) => boolean | Promise<boolean>;
}

/** How long a service is left alone that has said that it is leaving, or can't know yet who takes a call. */
const restMs = { leaving: 1_000, starting: 500, nobody: 0, overload: 0 } as const;

const none: readonly Upstream[] = [];

export class Spread {
  readonly #parts: SpreadParts;
  readonly #budget: ResendBudget;
  readonly #resent: ResentCalls;

  constructor(parts: SpreadParts) {
    this.#parts = parts;
    this.#resent = new ResentCalls(parts.host);
    this.#budget = new ResendBudget(() =>
      parts.all().reduce((most, { vitals }) => Math.max(most, vitals.inFlight), 0),
    );
  }

  /** Calls that were sent again, by the reason. */
  get counts(): ResentCalls["counts"] {
    return this.#resent.counts;
  }

  /** `onSent` hears the name of each service to which it is sent. */
  async send(
    first: Upstream,
    received: OutgoingRequest,
    onSent?: (name: string) => void,
  ): Promise<PeerResponse> {
    const { clock } = this.#parts.host;
    const started = clock.now();
    this.#budget.called(started);
    const [request, hasBegun] = watchedBody(received);
    let upstream = first;
    let tried = none;
    let wasSentAgain = false;
    for (;;) {
      onSent?.(upstream.url);
      const sent = tried === none ? request : later(request, clock.now() - started);
      tried = tried === none ? [upstream] : [...tried, upstream];
      try {
        const answer = await this.#sendTo(upstream, sent);
        const reason = answer.status === 503 ? notStartedReason(answer) : undefined;
        if (reason === undefined || hasBegun()) return answer;
        upstream.restUntil(clock.now() + restMs[reason]);
        const following = this.#following(tried);
        if (following === undefined) return answer;
        if (reason === "overload") {
          if (wasSentAgain || !this.#budget.take(clock.now())) return answer;
          wasSentAgain = true;
        }
        discard(answer.body);
        this.#note(request, upstream, "refused");
        upstream = following;
      } catch (thrown) {
        const isLost = thrown instanceof TransportError && request.signal?.aborted !== true;
        const following = isLost && !hasBegun() ? this.#following(tried) : undefined;
        if (following === undefined) throw thrown;
        const isUnsent = unsentOf(thrown) !== undefined;
        if (!isUnsent) {
          if (wasSentAgain || !(await this.#mayRepeat(request))) throw thrown;
          if (!this.#budget.take(clock.now())) throw thrown;
          wasSentAgain = true;
        }
        this.#note(request, upstream, isUnsent ? "unsent" : "unanswered");
        upstream = following;
      }
      if (tried.length > 1) await backOff(clock, request.signal);
    }
  }

  #following(tried: readonly Upstream[]): Upstream | undefined {
    return tried.length < mostTried ? this.#parts.next(tried) : undefined;
  }

  async #sendTo(upstream: Upstream, request: OutgoingRequest): Promise<PeerResponse> {
    const { vitals } = upstream;
    vitals.inFlight++;
    try {
      return await (upstream.isOverHttp
        ? this.#sendOverHttp(upstream, request)
        : upstream.send(request));
    } finally {
      vitals.inFlight--;
    }
  }

  /** Only what comes tells whether the other end lives. */
  async #sendOverHttp(upstream: Upstream, request: OutgoingRequest): Promise<PeerResponse> {
    const { liveness, host, isIdempotent } = this.#parts;
    const started = host.clock.now();
    const fqn = request.signal === undefined ? undefined : procedureOf(request);
    const isHeld = fqn !== undefined && isIdempotent(fqn) === true;
    const held = isHeld ? new HeldCall({ fqn, departure: request.signal! }) : undefined;
    held?.endWith(upstream);
    liveness.sent(upstream);
    try {
      const answer = await upstream.send(
        held === undefined ? request : Object.assign({}, request, { signal: held.abort }),
      );
      liveness.heard(upstream, started);
      return answer;
    } catch (raw) {
      const thrown = unsentOf(raw) === undefined ? (held?.reason ?? raw) : raw;
      if (held?.reason === undefined && thrown instanceof TransportError)
        liveness.failed(upstream, thrown, started);
      throw thrown;
    } finally {
      held?.leave();
    }
  }

  async #mayRepeat(request: OutgoingRequest): Promise<boolean> {
    const fqn = procedureOf(request);
    return fqn !== undefined && (await this.#parts.isIdempotent(fqn));
  }

  #note(request: OutgoingRequest, { url }: Upstream, reason: keyof ResentCalls["counts"]): void {
    const fqn = procedureOf(request) ?? pathOf(targetOf(request.url));
    this.#resent.add({ fqn, request }, url, reason);
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
