// A gateway's health checks: takes unhealthy and unresponsive members out of rotation.

import { bounded } from "../../base/aborts.ts";
import { type Host, isLocalFailure, unsentOf } from "../../base/ports.ts";
import { paths } from "../../base/protocol.ts";
import type { Member, Members } from "./members.ts";
import { collected } from "../../http/bodies.ts";

export interface Monitor {
  start(): void;
  stop(): void;
}

/** The outcome of a health check; `thrown` is why there was no answer. */
interface Outcome {
  readonly state: "healthy" | "unhealthy" | "unanswered";
  readonly thrown?: unknown;
}

/**
 * After this long, ask whether the member is alive. Less would eject healthy members under load.
 */
const aliveCheckMs = 1000;

/** A member's own checks may take 5 s, and the answer a moment more. */
const answerTimeoutMs = 6000;

/** No answer may only mean that a member is busy, so this many in a row count as unhealthy. */
const maxSilences = 2;

/** Checks all members every `interval` milliseconds, except those whose last check is running. */
export function createMonitor(host: Host, interval: number, members: Members): Monitor {
  const checking = new Set<Member>();
  let cancel = (): void => {};
  let stopped = false;

  const check = async (member: Member): Promise<void> => {
    checking.add(member);
    const started = host.clock.now();
    const { state, thrown } = await askHealth(host, member).finally(() => checking.delete(member));
    // The request wasn't sent, so it proves nothing.
    if (stopped || isLocalFailure(thrown)) return;
    // A member that answers calls is busy, not down.
    const isSilent = state === "unanswered" && member.heard < started;
    member.silences = isSilent ? member.silences + 1 : 0;
    member.checked = host.clock.now();
    if (state === "unanswered" && member.silences < maxSilences) return;
    const healthy = state === "healthy";
    // It may have left in the meantime.
    if (healthy === !member.out || !members.all().includes(member)) return;
    const why = thrown instanceof Error ? ` (${thrown.message})` : "";
    if (healthy) host.log.info(`${member.url} is healthy again`);
    else host.log.warn(`${member.url} is unhealthy: it gets no calls${why}`);
    members.setOut(member, !healthy);
  };

  const round = (): void => {
    cancel = host.clock.after(interval, () => {
      for (const member of members.all()) if (!checking.has(member)) void check(member);
      round();
    });
  };

  return {
    start: round,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/**
 * A member whose checks are slow still says at once that it is alive; a hanging process doesn't.
 */
async function askHealth(host: Host, member: Member): Promise<Outcome> {
  const abort = new AbortController();
  let giveUp = (): void => {};
  const slow = new Promise<"slow">(
    (resolve) => (giveUp = host.clock.after(aliveCheckMs, () => resolve("slow"))),
  );
  const status = ask(host, member.url + paths.healthStatus, answerTimeoutMs, abort.signal);
  const first = await Promise.race([status, slow]).finally(() => giveUp());
  if (first !== "slow") return first;
  const live = await ask(host, member.url + paths.healthLive, aliveCheckMs, abort.signal);
  if (live.state === "healthy") return await status;
  abort.abort(new Error("the member isn't alive"));
  return live;
}

async function ask(host: Host, url: string, ms: number, outer: AbortSignal): Promise<Outcome> {
  try {
    const late = (): Error => new Error(`no answer in ${ms} ms`);
    const answer = await bounded(outer, host.clock, ms, late, (signal) =>
      collected(host.transport.send({ url, method: "GET", headers: {}, signal, control: true })),
    );
    return {
      state:
        answer.status === 200 && new TextDecoder().decode(answer.body) === "true"
          ? "healthy"
          : "unhealthy",
    };
  } catch (thrown) {
    // A refused connection is certain: nothing listens there.
    return { state: unsentOf(thrown) === "refused" ? "unhealthy" : "unanswered", thrown };
  }
}
