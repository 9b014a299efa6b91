// Sends a call to one of the members that have its procedure, and to another one if that is safe.
// What decides is the outcome: a call that wasn't sent, or that a member refused before it ran,
// can't have run; one that was sent and has no answer may have.

import {
  type Clock,
  type Host,
  isLocalFailure,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { NodeNotAvailable } from "../../base/errors.ts";
import { serviceHeaders } from "../../base/protocol.ts";
import { discard } from "../../http/bodies.ts";
import { isMarkedRefused, notStartedReason } from "../../http/relay-headers.ts";
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
  watchedBody,
  withoutItsSettings,
} from "./forward.ts";
import { HeldCall } from "./held-call.ts";
import { ResendBudget } from "./resend-budget.ts";

export interface HolderParts extends ForwardParts {
  readonly members: Members;
  readonly liveness: Liveness;
  readonly observer: Observer | undefined;
}

/** A call goes to this many members at most. */
const maxMembers = 3;

/** The first try at another member comes at once, the next ones after this long. */
const shortestWaitMs = 20;
const longestWaitMs = 50;

type Some = Extract<Holders, { kind: "some" }>;

export type SendToHolder = (
  call: IncomingCall,
  received: ForwardedRequest,
  holders: Some,
) => Promise<PeerResponse>;

export function createSendToHolder(parts: HolderParts): SendToHolder {
  const { host, members, liveness, observer } = parts;
  const { clock } = host;
  const budget = new ResendBudget(() =>
    members.all().reduce((most, { vitals }) => Math.max(most, vitals.inFlight), 0),
  );

  return async (call, received, holders) => {
    const [forwarded, hasBegun] = watchedBody(received);
    const tried = new Set<Member>();
    let wasSentAgain = false;
    let shortages = 0;
    let isOverload = false;
    let failure: Error | undefined;
    budget.called(clock.now());
    while (tried.size < maxMembers) {
      const member = holders.next(tried);
      if (member === undefined) break;
      if (tried.size > 1) await backOff(host, call);
      tried.add(member);
      const started = clock.now();
      const { vitals } = member;
      const held = holdCall(call, member, forwarded, clock);
      observer?.calls?.sent(call.request, member.id);
      vitals.inFlight++;
      liveness.sent(member);
      try {
        let answer: PeerResponse;
        try {
          answer = await sendForwarded(parts, member.url, call, forwarded, held?.abort);
        } finally {
          vitals.inFlight--;
          held?.leave();
        }
        if (saysThatItFails(answer)) liveness.failing(member);
        else liveness.heard(member, true);
        const reason = notStartedReason(answer);
        if (reason === undefined || hasBegun()) return withoutItsSettings(call, answer);
        discard(answer.body);
        failure = undefined;
        isOverload = reason === "overload";
        if (!isOverload) members.leave(member.id);
        else if (wasSentAgain || !budget.take(clock.now())) break;
        else wasSentAgain = true;
      } catch (raw) {
        // A short time that is over before there was a connection says nothing about the member.
        if (call.departure.aborted) throw forwardingError(call.departure.reason);
        const thrown = unsentOf(raw) === undefined ? (held?.reason ?? raw) : raw;
        const isEnded = held?.reason !== undefined;
        if (!isEnded && thrown instanceof TransportError) liveness.failed(member, thrown, started);
        if (!(isEnded || thrown instanceof TransportError) || hasBegun())
          throw forwardingError(thrown);
        if (isLocalFailure(thrown)) shortages++;
        if (unsentOf(thrown) !== undefined) continue;
        failure = forwardingError(thrown);
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

/** Resolves a moment later. Rejects if the caller has left in the meantime. */
async function backOff({ clock }: Pick<Host, "clock">, call: IncomingCall): Promise<void> {
  const ms = shortestWaitMs + Math.random() * (longestWaitMs - shortestWaitMs);
  await new Promise<void>((resolve) => void clock.after(ms, resolve));
  call.departure.throwIfAborted();
}
