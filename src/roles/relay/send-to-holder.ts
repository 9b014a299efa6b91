// How a gateway sends a call to one of the members that have its procedure.

import { DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import {
  type AbortNotice,
  type HeaderFields,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { discard, watchedBody } from "../../http/bodies.ts";
import { isMisfit, type NotStartedReason, notStartedReason } from "../../http/relay-headers.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { Holders, Member, Members } from "../members/members.ts";
import type { Observer } from "../observer.ts";
import {
  type ForwardedRequest,
  forwardingError,
  type ForwardParts,
  sendForwarded,
  withoutItsSettings,
} from "./forward.ts";
import { HeldCall } from "./held-call.ts";
import type { Resending, Tries } from "./send-again.ts";

export interface HolderParts extends ForwardParts {
  readonly members: Members;
  readonly observer: Observer | undefined;
  readonly resending: Resending<Member>;
}

type Some = Extract<Holders, { kind: "some" }>;

export type SendToHolder = (
  call: Exchange,
  received: ForwardedRequest,
  holders: Some,
) => Promise<PeerResponse>;

export function createSendToHolder(parts: HolderParts): SendToHolder {
  return async (call, received, holders) => {
    const [forwarded, hasBegun] = watchedBody(received);
    const { fqn, departure } = call;
    const { trusted } = call.trust;
    let answer: PeerResponse;
    try {
      answer = await parts.resending.send(
        new HolderTries(parts, call, forwarded, hasBegun, holders),
      );
    } catch (thrown) {
      if (departure.aborted) throw forwardingError(departure.reason);
      if (unsentOf(thrown) !== undefined) throw noneTakes(call, trusted ? { cause: thrown } : {});
      const { cause } = thrown as Error;
      throw forwardingError(cause instanceof DeadlineExceeded ? cause : thrown, trusted);
    }
    const reason = notStartedReason(answer);
    if (reason === undefined || hasBegun()) return withoutItsSettings(call, answer);
    discard(answer.body);
    throw reason === "overload"
      ? new NodeNotAvailable(
          `The nodes with '${fqn}' have as many calls as they can take; try again`,
        )
      : noneTakes(call);
  };
}

/** A call that goes to one of its holders. A class, as functions of its own would be garbage of each call. */
class HolderTries implements Tries<Member> {
  readonly hasBegun: () => boolean;
  readonly #parts: HolderParts;
  readonly #call: Exchange;
  readonly #forwarded: ForwardedRequest;
  readonly #holders: Some;
  #held: HeldCall | undefined;

  constructor(
    parts: HolderParts,
    call: Exchange,
    forwarded: ForwardedRequest,
    hasBegun: () => boolean,
    holders: Some,
  ) {
    this.#parts = parts;
    this.#call = call;
    this.#forwarded = forwarded;
    this.hasBegun = hasBegun;
    this.#holders = holders;
  }

  get fqn(): string {
    return this.#call.fqn;
  }

  get headers(): HeaderFields {
    return this.#call.request.headers;
  }

  get caller(): AbortNotice {
    return this.#call.departure;
  }

  next(tried: readonly Member[]): Member | undefined {
    return this.#holders.next(tried);
  }

  send(member: Member): Promise<PeerResponse> {
    const { host, observer } = this.#parts;
    const call = this.#call;
    const timeoutMs = timeLimitOf(call, member);
    const held = (this.#held =
      timeoutMs === undefined
        ? undefined
        : new HeldCall(call, timeoutMs, this.#forwarded, host.clock));
    observer?.calls?.sent(call.request, member.id);
    return sendForwarded(this.#parts, member.url, call, this.#forwarded, held?.abort, member.via);
  }

  answered(): void {
    this.#held?.leave();
  }

  failed(_member: Member, thrown: unknown): unknown {
    this.#held?.leave();
    const reason = this.caller.aborted ? undefined : this.#held?.reason;
    return reason === undefined || unsentOf(thrown) !== undefined
      ? thrown
      : new TransportError(reason.message, true, { cause: reason });
  }

  mayRepeat({ idempotent }: Member): boolean {
    return idempotent.has(this.fqn);
  }

  refused(member: Member, reason: NotStartedReason): void {
    if (reason !== "overload") this.#parts.members.remove(member);
  }

  /** While a new build is rolled out, only some members may have what the call needs. */
  unlike(refusal: PeerResponse, tried: readonly Member[]): Member | undefined {
    return this.#call.route === undefined && isMisfit(refusal)
      ? this.#holders.next(tried, tried.at(-1))
      : undefined;
  }
}

function noneTakes({ fqn }: Exchange, options: ErrorOptions = {}): NodeNotAvailable {
  return new NodeNotAvailable(`No node can take '${fqn}' now`, options);
}

/** How long, in ms, the procedure may take there. */
function timeLimitOf({ fqn, route }: Exchange, { timeouts }: Member): number | undefined {
  return timeouts.size > 0 && route === undefined ? timeouts.get(fqn) : undefined;
}
