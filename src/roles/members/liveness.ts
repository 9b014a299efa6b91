// Which members of a gateway seem to be alive. It is a guess: from connections that fail, and from
// silence. Whether a member is healthy is what its application says (monitor.ts).

import { Abort } from "../../base/aborts.ts";
import { type Host, isLocalFailure, type Peer, unsentOf } from "../../base/ports.ts";
import { paths } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import { type LifeSign, removeEnding, type Vitals } from "./vitals.ts";

/** A member that owes an answer is asked whether it is alive after this long without a byte. */
const silenceMs = 300;
/** It is suspected if the question isn't answered for as long again. */
const suspicionMs = 300;
/** The question has failed after this long. Less would eject healthy members under load. */
const probeMs = 1_000;
/** How often members that owe an answer are looked at. */
const lookMs = 100;
/** One failure may be chance. */
const maxFailures = 2;
/** A member that is out is asked again after this long, and then after twice as long each time. */
const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;

/** A service whose life is guessed: a member, or what a service sends its calls to over HTTP. */
export interface Living {
  readonly url: string;
  /** The way to it [HTTP to its address]. */
  readonly via: Peer | undefined;
  readonly vitals: Vitals;
  readonly hasLeft: boolean;
  readonly isHealthy: boolean;
  /** What may be sent again. */
  readonly idempotent: Pick<ReadonlySet<string>, "has">;
}

export interface Liveness<Member extends Living> {
  /** A call, or a question about its health, is on its way to the member. */
  sent(member: Member): void;
  /** Something came from it: the answer to a call that was sent at `called`, or to a question about its health. */
  heard(member: Member, called?: number): void;
  /** An answer, to a call that was sent at `called`, says that the member itself fails. */
  failing(member: Member, called: number): void;
  /** No answer came: nothing accepted the connection, or it broke. `started`: when it was sent. */
  failed(member: Member, thrown: unknown, started: number): void;
  stop(): void;
}

export function createLiveness<Member extends Living>(
  host: Pick<Host, "clock" | "log" | "transport">,
  members: () => Iterable<Member>,
  setSign: (member: Member, sign: LifeSign) => void,
): Liveness<Member> {
  const { clock, log } = host;
  const probes = new Set<Abort>();
  let cancelLook: (() => void) | undefined;
  let stopped = false;

  const sent = (member: Member): void => {
    const { vitals } = member;
    // One that is out is asked at its own times.
    if (vitals.silentSince !== undefined || vitals.sign === "out" || stopped) return;
    vitals.silentSince = clock.now();
    cancelLook ??= clock.after(lookMs, look);
  };

  const look = (): void => {
    cancelLook = undefined;
    const now = clock.now();
    let owes = false;
    for (const member of members()) {
      const { silentSince, probe } = member.vitals;
      if (silentSince === undefined) continue;
      owes = true;
      if (probe === undefined && now - silentSince >= silenceMs) ask(member);
    }
    if (owes && !stopped) cancelLook = clock.after(lookMs, look);
  };

  /** Asks the member whether it is alive. The question stays open: it may wake up. */
  const ask = (member: Member): void => {
    const { vitals } = member;
    vitals.probe?.abort(new Error("asked again"));
    const probe = new Abort();
    probes.add(probe);
    vitals.probe = probe;
    const isCurrent = (): boolean => vitals.probe === probe && !stopped && !member.hasLeft;
    let isOverdue = false;
    const cancels = [
      clock.after(suspicionMs, () => {
        if (isCurrent() && vitals.sign === "alive") setSign(member, "suspected");
      }),
      clock.after(probeMs, () => {
        isOverdue = true;
        // Nobody asks again, which would end this question.
        if (member.hasLeft) probe.abort(new Error("it has left"));
        else if (isCurrent()) fail(member, `no answer in ${probeMs} ms`);
      }),
    ];
    const url = member.url + paths.healthLive;
    collected(
      (member.via ?? host.transport).send({
        url,
        method: "GET",
        headers: {},
        signal: probe,
        control: true,
      }),
    )
      .then(
        () => isCurrent() && heard(member),
        (thrown: unknown) => {
          if (!isCurrent()) return;
          vitals.probe = undefined;
          // That has counted. A second failure would double the times at which it is asked again.
          if (isOverdue) return;
          // Nothing was sent, which proves nothing.
          if (isLocalFailure(thrown)) askLater(member);
          else fail(member, messageOf(thrown), unsentOf(thrown) === "refused");
        },
      )
      .finally(() => {
        probes.delete(probe);
        cancels.forEach((cancel) => cancel());
      });
  };

  const askLater = (member: Member): void => {
    const { vitals } = member;
    const backOff = Math.min(
      longestBackOffMs,
      firstBackOffMs * 2 ** Math.max(0, vitals.ejections - 1),
    );
    vitals.cancelAsk?.();
    vitals.cancelAsk = clock.after(backOff, () => {
      if (member.hasLeft) vitals.probe?.abort(new Error("it has left"));
      else if (!stopped && vitals.sign === "out") ask(member);
    });
  };

  const fail = (member: Member, why: string, isCertain = false): void => {
    const { vitals } = member;
    vitals.failures++;
    if (vitals.sign !== "out" && !isCertain && vitals.failures < maxFailures) {
      if (vitals.sign === "alive") setSign(member, "suspected");
      return ask(member);
    }
    const now = clock.now();
    if (vitals.sign !== "out") {
      // One that was back for long enough starts again with the shortest time.
      if (now - vitals.ejected > 2 * longestBackOffMs) vitals.ejections = 0;
      log.warn(`${member.url} can't be reached; it gets no calls until it answers again (${why})`, {
        event: "ejected",
        service: member.url,
      });
      setSign(member, "out");
    }
    vitals.ejections++;
    vitals.ejected = now;
    vitals.silentSince = undefined;
    endCalls(member);
    askLater(member);
  };

  /** Calls that no other member could take stay: this one may wake up in time. */
  const endCalls = (member: Member): void => {
    const { vitals } = member;
    const alive = Array.from(members()).filter((entry) => entry.vitals.sign === "alive");
    const movable = vitals.endings.filter(({ fqn }) =>
      alive.some((entry) => entry !== member && entry.isHealthy && entry.idempotent.has(fqn)),
    );
    for (const ending of movable) {
      removeEnding(vitals, ending);
      ending.end();
    }
  };

  const heard = (member: Member, called?: number): void => {
    const { vitals } = member;
    const now = clock.now();
    // One that stops takes no new calls, and still answers those that it has.
    if (vitals.sign === "out" && called !== undefined && called < vitals.ejected) return;
    if (called !== undefined) vitals.unaccepted = 0;
    vitals.heard = now;
    vitals.failures = 0;
    if (vitals.probe !== undefined) {
      vitals.probe.abort(new Error("it has answered"));
      vitals.probe = undefined;
    }
    if (vitals.inFlight > 0) vitals.silentSince &&= now;
    else vitals.silentSince = undefined;
    if (vitals.sign === "alive") return;
    if (vitals.sign === "out")
      log.info(`${member.url} answers again`, { event: "readmitted", service: member.url });
    setSign(member, "alive");
  };

  return {
    sent,
    heard,
    failing(member, called) {
      const { vitals } = member;
      // It is asked at its own times.
      if (vitals.sign === "out") return;
      const failures = vitals.failures + 1;
      heard(member, called);
      if (failures < maxFailures) vitals.failures = failures;
      else fail(member, "it can't take calls", true);
    },
    failed(member, thrown, started) {
      const { vitals } = member;
      if (member.hasLeft || stopped || vitals.sign === "out" || isLocalFailure(thrown)) return;
      const unsent = unsentOf(thrown);
      // It is slow, and answers other calls.
      if (unsent !== "refused" && vitals.heard > started) return;
      const isStuck = unsent === "silent" && ++vitals.unaccepted >= maxFailures;
      fail(member, messageOf(thrown), unsent === "refused" || isStuck);
    },
    stop() {
      stopped = true;
      cancelLook?.();
      for (const probe of probes) probe.abort(new Error("the gateway stops"));
    },
  };
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
