// How a gateway sends a call to one of the members that have its procedure.

import { DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import { type PeerResponse, TransportError, unsentOf } from "../../base/ports.ts";
import { discard, watchedBody } from "../../http/bodies.ts";
import { isMisfit, notStartedReason } from "../../http/relay-headers.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { Holders, Member, Members } from "../members/members.ts";
import type { Observer } from "../members/observer.ts";
import {
  type ForwardedRequest,
  forwardingError,
  type ForwardParts,
  sendForwarded,
  withoutItsSettings,
} from "./forward.ts";
import { HeldCall } from "./held-call.ts";
import type { Resending } from "./send-again.ts";

export interface HolderParts extends ForwardParts {
  readonly members: Members;
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
  const { host, members, observer, resending } = parts;

  return async (call, received, holders) => {
    const [forwarded, hasBegun] = watchedBody(received);
    const { fqn, trusted, departure } = call;
    let answer: PeerResponse | undefined;
    let held: HeldCall | undefined;
    try {
      answer = await resending.send({
        fqn,
        headers: call.request.headers,
        caller: departure,
        hasBegun,
        next: (tried) => holders.next(tried),
        send(member) {
          const timeoutMs = timeLimitOf(call, member);
          if (timeoutMs !== undefined) held = new HeldCall(call, timeoutMs, forwarded, host.clock);
          observer?.calls?.sent(call.request, member.id);
          return sendForwarded(parts, member.url, call, forwarded, held?.abort, member.via);
        },
        answered: () => held?.leave(),
        failed(_member, thrown) {
          held?.leave();
          const reason = departure.aborted ? undefined : held?.reason;
          return reason === undefined || unsentOf(thrown) !== undefined
            ? thrown
            : new TransportError(reason.message, true, { cause: reason });
        },
        mayRepeat: ({ idempotent }) => idempotent.has(fqn),
        refused(member, reason) {
          if (reason !== "overload") members.remove(member);
        },
        // While a new build is rolled out, only some members may have what the call needs.
        unlike: (refusal, tried) =>
          call.route === undefined && isMisfit(refusal)
            ? holders.next(tried, tried.at(-1))
            : undefined,
      });
    } catch (thrown) {
      if (departure.aborted) throw forwardingError(departure.reason);
      if (unsentOf(thrown) !== undefined) throw noneTakes(call, trusted ? { cause: thrown } : {});
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

/** How long, in ms, the procedure may take there. */
function timeLimitOf({ fqn, route }: IncomingCall, { timeouts }: Member): number | undefined {
  return timeouts.size > 0 && route === undefined ? timeouts.get(fqn) : undefined;
}
