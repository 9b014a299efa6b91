// A gateway's health checks: asks members what their applications say of themselves, and gives no
// calls to those that aren't healthy. Whether a member is alive its link tells.

import { bounded } from "../../base/aborts.ts";
import type { Host } from "../../base/ports.ts";
import { paths } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import { trustKeyHeader, type TrustKey } from "../../http/trust.ts";
import type { Liveness } from "./liveness.ts";
import type { Member, Members } from "./members.ts";

export interface Monitor {
  /** A member has announced itself: it is asked at once. */
  joined(member: Member): void;
  start(): void;
  stop(): void;
}

/** Over HTTP, a member's own checks may take 5 s, and the answer a moment more. */
const httpAnswerMs = 6_000;

/** Asks all members every `interval` milliseconds, except those whose answer is awaited. */
export function createMonitor(
  host: Host,
  { interval, trustKey }: { readonly interval: number; readonly trustKey: TrustKey | undefined },
  members: Pick<Members, "all">,
  liveness: Liveness<Member>,
): Monitor {
  const asked = new Set<Member>();
  let cancel = (): void => {};
  let stopped = false;

  const set = (member: Member, isHealthy: boolean): void => {
    if (isHealthy === member.isHealthy) return;
    const about = { event: isHealthy ? "healthy" : "unhealthy", service: member.url };
    if (isHealthy) host.log.info(`${member.url} is healthy again`, about);
    else host.log.warn(`${member.url} is unhealthy: it gets no calls`, about);
    member.isHealthy = isHealthy;
  };

  const check = async (member: Member): Promise<void> => {
    if (asked.has(member)) return;
    asked.add(member);
    const isLinked = member.via !== undefined;
    const started = host.clock.now();
    try {
      if (!isLinked) liveness.sent(member);
      const isHealthy = await ask(host, member, trustKey);
      member.checked = host.clock.now();
      // It may have left in the meantime.
      if (stopped || member.hasLeft) return;
      if (!isLinked) liveness.heard(member);
      if (isHealthy !== undefined) set(member, isHealthy);
    } catch (thrown) {
      // Without an answer nothing is known of its health, and its link tells whether it lives.
      if (!isLinked) liveness.failed(member, thrown, started);
    } finally {
      asked.delete(member);
    }
  };

  const round = (): void => {
    cancel = host.clock.after(interval, () => {
      for (const member of members.all()) void check(member);
      round();
    });
  };

  return {
    joined: (member) => void check(member),
    start: round,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** `undefined`: its answer says nothing about its health. */
async function ask(
  { transport, clock }: Pick<Host, "transport" | "clock">,
  { url, via }: Member,
  trustKey: TrustKey | undefined,
): Promise<boolean | undefined> {
  const question = { url: url + paths.healthStatus, method: "GET", control: true } as const;
  const late = (): Error => new Error(`no answer in ${httpAnswerMs} ms`);
  const { status, body } = await (via === undefined || trustKey === undefined
    ? bounded(undefined, clock, httpAnswerMs, late, (signal) =>
        collected(transport.send({ ...question, headers: {}, signal })),
      )
    : collected(via.send({ ...question, headers: trustKeyHeader(trustKey) })));
  const text = new TextDecoder().decode(body);
  return status === 200 && (text === "true" || text === "false") ? text === "true" : undefined;
}
