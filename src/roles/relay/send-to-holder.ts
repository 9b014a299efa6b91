// Sends a call to one of the members that have its procedure, and to another one if that is safe.
// What decides is the outcome: a call that wasn't sent, or that a member refused before it ran,
// can't have run; one that was sent and has no answer may have.

import {
  type Clock,
  isLocalFailure,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { NodeNotAvailable } from "../../base/errors.ts";
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
import { backOff, mostTried, ResendBudget } from "./resend-budget.ts";
import type { ResendReason, ResentCalls } from "./resent-calls.ts";

export interface HolderParts extends ForwardParts {
  readonly members: Members;
  readonly liveness: Liveness<Member>;
  readonly observer: Observer | undefined;
  readonly resent: ResentCalls;
}

type Some = Extract<Holders, { kind: "some" }>;

export type SendToHolder = (
  call: IncomingCall,
  received: ForwardedRequest,
  holders: Some,
) => Promise<PeerResponse>;

export function createSendToHolder(parts: HolderParts): SendToHolder {
  const { host, members, liveness, observer, resent } = parts;
  const { clock } = host;
  const budget = new ResendBudget(() =>
    members.all().reduce((most, { vitals }) => Math.max(most, vitals.inFlight), 0),
  );

  return async (call, received, holders) => {
    const [forwarded, hasBegun] = watchedBody(received);
    const tried: Member[] = [];
    let wasSentAgain = false;
    let shortages = 0;
    let isOverload = false;
    let failure: Error | undefined;
    let previous: { readonly url: string; readonly reason: ResendReason } | undefined;
    let unsent: unknown;
    /** Of another build than the member that refused the call. */
    let another: Member | undefined;
    let isMismatched = false;
    budget.called(clock.now());
    while (tried.length < mostTried) {
      const member = another ?? holders.next(tried);
      another = undefined;
      if (member === undefined) break;
      if (tried.length > 1) await backOff(clock, call.departure);
      tried.push(member);
      if (previous !== undefined) resent.add(call, previous.url, previous.reason);
      const started = clock.now();
      const { vitals } = member;
      const held = holdCall(call, member, forwarded, clock);
      observer?.calls?.sent(call.request, member.id);
      vitals.inFlight++;
      liveness.sent(member);
      try {
        let answer: PeerResponse;
        try {
          const { url, via } = member;
          answer = await sendForwarded(parts, url, call, forwarded, held?.abort, via);
        } finally {
          vitals.inFlight--;
          held?.leave();
        }
        if (saysThatItFails(answer)) liveness.failing(member, started);
        else liveness.heard(member, started);
        const reason = notStartedReason(answer);
        // While a new build is rolled out, only some members may have what the call needs.
        if (!isMismatched && call.route === undefined && isMisfit(answer) && !hasBegun())
          another = holders.next(tried, member);
        if (another !== undefined) {
          isMismatched = true;
          discard(answer.body);
          previous = { url: member.url, reason: "build" };
          failure = undefined;
          continue;
        }
        if (reason === undefined || hasBegun()) return withoutItsSettings(call, answer);
        discard(answer.body);
        previous = { url: member.url, reason: "refused" };
        failure = undefined;
        isOverload = reason === "overload";
        if (!isOverload) members.remove(member.id);
        else if (wasSentAgain || !budget.take(clock.now())) break;
        else wasSentAgain = true;
      } catch (raw) {
        // A short time that is over before there was a connection says nothing about the member.
        if (call.departure.aborted) throw forwardingError(call.departure.reason);
        const thrown = unsentOf(raw) === undefined ? (held?.reason ?? raw) : raw;
        const isEnded = held?.reason !== undefined;
        // A link says itself whether its other end lives.
        if (!isEnded && thrown instanceof TransportError && member.via === undefined)
          liveness.failed(member, thrown, started);
        if (!(isEnded || thrown instanceof TransportError) || hasBegun())
          throw forwardingError(thrown, call.trusted);
        if (isLocalFailure(thrown)) shortages++;
        unsent = thrown;
        previous = {
          url: member.url,
          reason: unsentOf(thrown) === undefined ? "unanswered" : "unsent",
        };
        if (previous.reason === "unsent") continue;
        failure = forwardingError(thrown, call.trusted);
        if (wasSentAgain || !member.idempotent.has(call.fqn) || !budget.take(clock.now())) break;
        wasSentAgain = true;
      }
    }
    if (failure !== undefined) throw failure;
    throw shortages > 0
      ? noConnection()
      : new NodeNotAvailable(
          isOverload
            ? `The nodes with '${call.fqn}' have as many calls as they can take; try again`
            : `No node can take '${call.fqn}' now`,
          call.trusted && unsent !== undefined ? { cause: unsent } : {},
        );
  };
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
