// A gateway's health checks: asks members over their links for the results of their applications' checks, and takes
// unhealthy members out of rotation. A member's link shows whether it is alive.

import type { Host } from "../../base/ports.ts";
import { anyUpstream, paths } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { Member, Members } from "./members.ts";

export interface Monitor {
  /** A member has announced itself: it is asked at once. */
  joined(member: Member): void;
  start(): void;
  stop(): void;
}

/** Members are asked in this many parts, one after the other: a thousand requests at once take 35 ms. */
const parts = 10;

/** Asks each member every `interval` ms, unless its last answer is still awaited. */
export function createMonitor(
  host: Pick<Host, "clock" | "log">,
  interval: number,
  members: Pick<Members, "all">,
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
    try {
      const isHealthy = await ask(member);
      member.checked = host.clock.now();
      // It may have left in the meantime.
      if (!stopped && !member.hasLeft && isHealthy !== undefined) set(member, isHealthy);
    } catch {
      // Without an answer its health is unknown, and its link tells whether it lives.
    } finally {
      asked.delete(member);
    }
  };

  const round = (part = 0): void => {
    cancel = host.clock.after(interval / parts, () => {
      for (const member of members.all()) if (member.order % parts === part) void check(member);
      round((part + 1) % parts);
    });
  };

  return {
    joined: (member) => void check(member),
    start: () => round(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** `undefined`: its answer says nothing about its health. */
async function ask({ via }: Member): Promise<boolean | undefined> {
  const { status, body } = await collected(
    via.send({
      url: anyUpstream + paths.healthStatus,
      method: "GET",
      headers: {},
      from: "key",
      control: true,
    }),
  );
  const text = new TextDecoder().decode(body);
  return status === 200 && (text === "true" || text === "false") ? text === "true" : undefined;
}
