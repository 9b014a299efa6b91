// How a gateway sends a call to one of the members that have its procedure.

import { NodeNotAvailable } from "../../base/errors.ts";
import {
  type AbortNotice,
  type HeaderFields,
  type Host,
  type PeerResponse,
  unsentOf,
} from "../../base/ports.ts";
import { discard, watchedBody } from "../../http/bodies.ts";
import {
  isMisfit,
  type NotStartedReason,
  notStartedReason,
  otherBuildHeader,
} from "../../http/relay-headers.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { Holders, Member, Members } from "../members/members.ts";
import type { Observer } from "../pipeline/observer.ts";
import { Attempt, type Content } from "./attempt.ts";
import { forwardingError, withoutItsSettings } from "./forward.ts";
import type { Resending, Tries } from "../resend/send-again.ts";

export interface HolderParts {
  readonly host: Pick<Host, "clock">;
  readonly members: Members;
  readonly observer: Observer | undefined;
  readonly resending: Resending<Member>;
}

type Some = Extract<Holders, { kind: "some" }>;

export type SendToHolder = (
  exchange: Exchange,
  content: Content,
  holders: Some,
) => Promise<PeerResponse>;

export function createSendToHolder(parts: HolderParts): SendToHolder {
  return async (exchange, received, holders) => {
    const [content, hasBegun] = watchedBody(received);
    const { fqn, departure } = exchange;
    const { trusted } = exchange.trust;
    let answer: PeerResponse;
    try {
      answer = await parts.resending.send(
        new HolderTries(parts, exchange, content, hasBegun, holders),
      );
    } catch (thrown) {
      if (departure.aborted) throw forwardingError(departure.reason);
      if (unsentOf(thrown) !== undefined)
        throw noneTakes(exchange, trusted ? { cause: thrown } : {});
      throw forwardingError(thrown, trusted);
    }
    const reason = notStartedReason(answer);
    if (reason === undefined || hasBegun()) return withoutItsSettings(exchange, answer);
    discard(answer.body);
    throw reason === "overload"
      ? new NodeNotAvailable(
          `The nodes with '${fqn}' have as many calls as they can take; try again`,
        )
      : noneTakes(exchange);
  };
}

/** A call that goes to one of its holders. A class, as functions of its own would be garbage of each call. */
class HolderTries implements Tries<Member> {
  readonly hasBegun: () => boolean;
  readonly #parts: HolderParts;
  readonly #exchange: Exchange;
  readonly #content: Content;
  readonly #holders: Some;
  #attempt: Attempt | undefined;

  constructor(
    parts: HolderParts,
    exchange: Exchange,
    content: Content,
    hasBegun: () => boolean,
    holders: Some,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#content = content;
    this.hasBegun = hasBegun;
    this.#holders = holders;
  }

  get fqn(): string {
    return this.#exchange.fqn;
  }

  get headers(): HeaderFields {
    return this.#exchange.request.headers;
  }

  get caller(): AbortNotice {
    return this.#exchange.departure;
  }

  next(tried: readonly Member[]): Member | undefined {
    return this.#holders.next(tried);
  }

  send(member: Member): Promise<PeerResponse> {
    const { host, members, observer } = this.#parts;
    const exchange = this.#exchange;
    const { inner } = exchange.trust;
    const timeoutMs = timeLimitOf(exchange, member);
    const attempt = new Attempt(exchange, this.#content, host.clock, timeoutMs);
    this.#attempt = attempt;
    observer?.calls?.sent(exchange.request, member.id);
    const isOther = inner && members.isOfOtherBuild(exchange.request.via, member);
    return attempt.send(member.via, otherBuildHeader(isOther));
  }

  answered(): void {
    this.#attempt?.answered();
  }

  failed(_member: Member, thrown: unknown): unknown {
    return this.#attempt?.failed(thrown) ?? thrown;
  }

  mayRepeat({ idempotent }: Member): boolean {
    return idempotent.has(this.fqn);
  }

  refused(member: Member, reason: NotStartedReason): void {
    if (reason !== "overload") this.#parts.members.remove(member);
  }

  /** While a new build is rolled out, only some members may have what the call needs. */
  unlike(refusal: PeerResponse, tried: readonly Member[]): Member | undefined {
    return this.#exchange.route === undefined && isMisfit(refusal)
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
