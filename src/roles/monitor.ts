// A gateway's look at its members (§3, §4.5): one that is unhealthy or unresponsive is taken out of rotation.

import { bounded } from "../bounded.ts";
import { type Host, isLocalFailure, unsentOf } from "../ports.ts";
import { paths } from "../protocol.ts";
import type { Member, Members } from "./members.ts";

export interface Monitor {
  start(): void;
  stop(): void;
}

/** What became of a health check; `thrown` is why there was no answer. */
interface Outcome {
  readonly state: "healthy" | "unhealthy" | "nothing";
  readonly thrown?: unknown;
}

/** How long a member may take to answer before it is asked whether it lives at all: less ejects healthy ones under load (reliability, baselines). */
const checkTime = 1000;

/** A check may take 5 s (decisions §5, health); its answer needs a moment more. */
const longestAnswer = 6000;

/** Silence is no report of being unhealthy: so many times in a row it counts as one (reliability, baselines). */
const mostSilences = 2;

/** Asks every member each `interval` milliseconds, and one that is still at its answer not a second time. */
export function createMonitor(host: Host, interval: number, members: Members): Monitor {
  const asked = new Set<Member>();
  let cancel = (): void => {};
  let stopped = false;

  const check = async (member: Member): Promise<void> => {
    asked.add(member);
    const begun = host.clock.now();
    const { state, thrown } = await askHealth(host, member).finally(() => asked.delete(member));
    // It was not asked, so there is nothing to conclude.
    if (stopped || isLocalFailure(thrown)) return;
    // A member that answers calls is busy, not away.
    const isSilent = state === "nothing" && member.heard < begun;
    member.silences = isSilent ? member.silences + 1 : 0;
    member.checked = host.clock.now();
    if (state === "nothing" && member.silences < mostSilences) return;
    const healthy = state === "healthy";
    // One that has left is nobody's business any more.
    if (healthy === !member.out || !members.all().includes(member)) return;
    const why = thrown instanceof Error ? ` (${thrown.message})` : "";
    if (healthy) host.log.info(`${member.url} is healthy again`);
    else host.log.warn(`${member.url} is unhealthy: it gets no calls${why}`);
    members.setOut(member, !healthy);
  };

  const round = (): void => {
    cancel = host.clock.after(interval, () => {
      for (const member of members.all()) if (!asked.has(member)) void check(member);
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

/** A member whose checks take their time still says at once that it lives; a process that hangs says nothing. */
async function askHealth(host: Host, member: Member): Promise<Outcome> {
  const abort = new AbortController();
  let giveUp = (): void => {};
  const slow = new Promise<"slow">(
    (resolve) => (giveUp = host.clock.after(checkTime, () => resolve("slow"))),
  );
  const status = ask(host, member.url + paths.healthStatus, longestAnswer, abort.signal);
  const first = await Promise.race([status, slow]).finally(() => giveUp());
  if (first !== "slow") return first;
  const live = await ask(host, member.url + paths.healthLive, checkTime, abort.signal);
  if (live.state === "healthy") return await status;
  abort.abort(new Error("nobody waits for it any more"));
  return live;
}

async function ask(host: Host, url: string, ms: number, outer: AbortSignal): Promise<Outcome> {
  try {
    const late = (): Error => new Error(`no answer in ${ms} ms`);
    const answer = await bounded(outer, host.clock, ms, late, (signal) =>
      host.transport.send({ url, method: "GET", headers: {}, signal, control: true }),
    );
    return {
      state:
        answer.status === 200 && new TextDecoder().decode(answer.body) === "true"
          ? "healthy"
          : "unhealthy",
    };
  } catch (thrown) {
    // A refused connection is an answer of its own: nobody is there.
    return { state: unsentOf(thrown) === "refused" ? "unhealthy" : "nothing", thrown };
  }
}
