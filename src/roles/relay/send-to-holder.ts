// How a gateway sends a call to one of the members that have its procedure.

import { DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import {
  type Clock,
  isLocalFailure,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { serviceHeaders } from "../../base/protocol.ts";
import { discard, watchedBody } from "../../http/bodies.ts";
import { isMarkedRefused, isMisfit, notStartedReason } from "../../http/relay-headers.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { Liveness } from "../members/liveness.ts";
import type { Holders, Member, Members } from "../members/members.ts";
import type { Observer } from "../members/observer.ts";
import {
  type ForwardedRequest,
  forwardingError,
  type ForwardParts,
  noConnection,
  sendForwarded,
  withoutItsSettings,
} from "./forward.ts";
import { HeldCall } from "./held-call.ts";
import type { Resending } from "./send-again.ts";

export interface HolderParts extends ForwardParts {
  readonly members: Members;
  readonly liveness: Liveness<Member>;
  readonly observer: Observer | undefined;
  readonly resending: Resending<Member>;
}

type Some = Extract<Holders, { kind: "some" }>;

export type SendToHolder = (
  call: IncomingCall,
  received: ForwardedRequest,
  holders: Some,
) => Promise<PeerResponse>;

export function createSendToHolder(parts: HolderParts): SendToHolder {
  const { host, members, liveness, observer, resending } = parts;
  const { clock } = host;

  return async (call, received, holders) => {
    const [forwarded, hasBegun] = watchedBody(received);
    const { fqn, trusted, departure } = call;
    let answer: PeerResponse | undefined;
    let started = 0;
    let held: HeldCall | undefined;
    try {
      answer = await resending.send({
        fqn,
        headers: call.request.headers,
        caller: departure,
        hasBegun,
        next: (tried) => holders.next(tried),
        send(member) {
          const { url, via } = member;
          started = clock.now();
          held = holdCall(call, member, forwarded, clock);
          observer?.calls?.sent(call.request, member.id);
          liveness.sent(member);
          return sendForwarded(parts, url, call, forwarded, held?.abort, via);
        },
        answered(member, given) {
          held?.leave();
          if (saysThatItFails(given)) liveness.failing(member, started);
          else liveness.heard(member, started);
        },
        failed(member, thrown) {
          held?.leave();
          // A short time that is over before there was a connection says nothing about the member.
          if (departure.aborted) return thrown;
          const reason = unsentOf(thrown) === undefined ? held?.reason : undefined;
          if (reason !== undefined)
            return reason instanceof TransportError
              ? reason
              : new TransportError(reason.message, true, { cause: reason });
          // A link says itself whether its other end lives.
          if (thrown instanceof TransportError && member.via === undefined)
            liveness.failed(member, thrown, started);
          return thrown;
        },
        mayRepeat: ({ idempotent }) => idempotent.has(fqn),
        refused(member, reason) {
          if (reason !== "overload") members.remove(member.id);
        },
        // While a new build is rolled out, only some members may have what the call needs.
        unlike: (refusal, tried) =>
          call.route === undefined && isMisfit(refusal)
            ? holders.next(tried, tried.at(-1))
            : undefined,
      });
    } catch (thrown) {
      if (departure.aborted) throw forwardingError(departure.reason);
      const isUnsent = unsentOf(thrown) !== undefined;
      if (isLocalFailure(thrown)) throw noConnection();
      if (isUnsent) throw noneTakes(call, trusted ? { cause: thrown } : {});
      const { cause } = thrown as Error;
      throw forwardingError(cause instanceof DeadlineExceeded ? cause : thrown, trusted);
    }
    const reason = answer && notStartedReason(answer);
    if (answer !== undefined && (reason === undefined || hasBegun()))
      return withoutItsSettings(call, answer);
    if (answer !== undefined) discard(answer.body);
    throw reason === "overload"
      ? new NodeNotAvailable(
          `The nodes with '${fqn}' have as many calls as they can take; try again`,
        )
      : noneTakes(call);
  };
}

function noneTakes({ fqn }: IncomingCall, options: ErrorOptions = {}): NodeNotAvailable {
  return new NodeNotAvailable(`No node can take '${fqn}' now`, options);
}

/**
 * Whether the member itself, not one of its procedures, answered that it can't take calls, without
 * the mark that the call hasn't begun: services of this version set that mark, others may not.
 */
function saysThatItFails({ status, headers }: PeerResponse): boolean {
  if (status !== 502 && status !== 503) return false;
  return isMarkedRefused(headers) && !(serviceHeaders.notStarted in headers);
}

/** What ends the call early, if anything may. */
function holdCall(
  call: IncomingCall,
  member: Member,
  forwarded: ForwardedRequest,
  clock: Clock,
): HeldCall | undefined {
  // Only a call that may be sent again is worth ending when the member seems dead.
  const isIdempotent = member.idempotent.has(call.fqn);
  const timeoutMs =
    member.timeouts.size > 0 && call.route === undefined
      ? member.timeouts.get(call.fqn)
      : undefined;
  if (!isIdempotent && timeoutMs === undefined) return undefined;
  const held = new HeldCall(call);
  if (isIdempotent) held.endWith(member);
  if (timeoutMs !== undefined) held.endAfter(timeoutMs, forwarded, clock);
  return held;
}
