// A gateway's health checks: asks members what their applications say of themselves, and gives no
// calls to those that aren't healthy. Whether a member is alive is a guess (liveness.ts).

import { bounded } from "../../base/aborts.ts";
import type { Host } from "../../base/ports.ts";
import { paths } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { Liveness } from "./liveness.ts";
import type { Member, Members } from "./members.ts";

export interface Monitor {
  /** A member with a link says what its application's checks say. */
  told(member: Member, isHealthy: boolean): void;
  start(): void;
  stop(): void;
}

/** A member's own checks may take 5 s, and the answer a moment more. */
const answerTimeoutMs = 6_000;

/** Checks all members every `interval` milliseconds, except those whose last check is running. */
export function createMonitor(
  host: Host,
  interval: number,
  members: Members,
  liveness: Liveness<Member>,
): Monitor {
  const checking = new Set<Member>();
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
    checking.add(member);
    const started = host.clock.now();
    try {
      liveness.sent(member);
      const isHealthy = await ask(host, member);
      member.checked = host.clock.now();
      // It may have left in the meantime.
      if (stopped || member.hasLeft) return;
      liveness.heard(member);
      set(member, isHealthy);
    } catch (thrown) {
      // No answer says nothing about its health.
      liveness.failed(member, thrown, started);
    } finally {
      checking.delete(member);
    }
  };

  const round = (): void => {
    cancel = host.clock.after(interval, () => {
      for (const member of members.all())
        if (member.via === undefined && !checking.has(member)) void check(member);
      round();
    });
  };

  return {
    start: round,
    told(member, isHealthy) {
      member.checked = host.clock.now();
      set(member, isHealthy);
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

async function ask(host: Host, { url }: Member): Promise<boolean> {
  const late = (): Error => new Error(`no answer in ${answerTimeoutMs} ms`);
  const answer = await bounded(undefined, host.clock, answerTimeoutMs, late, (signal) =>
    collected(
      host.transport.send({
        url: url + paths.healthStatus,
        method: "GET",
        headers: {},
        signal,
        control: true,
      }),
    ),
  );
  return answer.status === 200 && new TextDecoder().decode(answer.body) === "true";
}
