// A node's membership in its gateway: joins, renews, joins again after the gateway was down, and
// leaves on a clean stop.

import { BackOff } from "../../base/back-off.ts";
import { bounded } from "../../base/aborts.ts";
import { type Host, isLocalFailure, type Peer } from "../../base/ports.ts";
import { mediaTypes, paths } from "../../base/protocol.ts";
import { trustKeyHeader, type TrustKey } from "../../http/trust.ts";
import { collected } from "../../http/bodies.ts";
import type { DialledLink } from "../links/dialled-link.ts";
import { type Joined, readJoined, RefusedKey, refusedKey } from "../upstreams/join-answer.ts";
import { createAnnouncement, type SendToGateway } from "./announcement.ts";
import type { MemberDetails } from "./member-details.ts";
import type { Announced } from "./member-list.ts";

export interface Membership {
  /**
   * Resolves after the first try, successful or not: a node that starts before its gateway keeps
   * trying. Rejects if the gateway refuses the trust key, since trying again wouldn't help.
   */
  join(url: string): Promise<void>;
  /**
   * Joins again with the current procedures. The gateway replaces the list at once, so no call
   * finds neither.
   */
  update(): Promise<void>;
  /**
   * Resolves when the gateway has stopped sending calls, and those on their way have arrived. Returns
   * whether the gateway has said so: over a link, nothing is on its way then.
   */
  leave(): Promise<boolean>;
  /** Requests to the gateway go another way: over a link, or not over one any more. Joins over that. */
  moved(): Promise<void>;
  /** The gateway takes this node for one of its members, as far as it has said. */
  readonly isMember: boolean;
  /** The gateway's process, if it says which. */
  readonly instance: string | undefined;
}

/** Delay between tries to join: short at first, since a restarting gateway is back soon. */
const firstRetryMs = 100;
const longestRetryMs = 1500;

/** How often a node checks that it is still a member, so that it soon joins a restarted gateway. */
const checkIntervalMs = 1000;

// Nodes that lost the same gateway must not all come back at the same moment.
const jittered = (ms: number): number => Math.round(ms * (0.5 + Math.random() / 2));

/** How long the gateway may take to answer. Less to leave, as a stopping node has little time. */
const answerTimeoutMs = 5000;
const leaveTimeoutMs = 900;

/** How long a node serves after it has left: calls that were sent before are still on their way. */
const lameDuckMs = 1000;

/** How long the same gateway under a second name is left alone. */
const twinRetryMs = 60_000;

/** How a node reaches its gateway, and what it says of itself. */
export interface LinkedMembership {
  /** The way to the gateway [HTTP to its address]. */
  readonly peer?: Peer;
  /** The same, if it may be a link. */
  readonly way: Pick<DialledLink, "kind" | "isTwin"> | undefined;
  /** The name under which this node is a member of that process already, if it is. */
  readonly twinOf?: (instance: string) => string | undefined;
  /** This process, as its links say. */
  readonly instance: string;
}

/**
 * `offered` returns what this node takes calls and requests for; `about` what it says about
 * itself, for the console.
 */
export function createMembership(
  host: Host,
  gateway: string,
  trustKey: TrustKey,
  offered: () => Announced,
  about?: () => MemberDetails | undefined,
  linked?: LinkedMembership,
): Membership {
  const decoder = new TextDecoder();
  const way = linked?.way;
  const peer = linked?.peer ?? host.transport;
  let joined: Joined | undefined;
  let address: string | undefined;
  let cancel = (): void => {};
  let stopped = false;
  const backOff = new BackOff(firstRetryMs, longestRetryMs);
  let warned = false;
  let starting = true;

  const send: SendToGateway = async (method, path, body, headers = {}) => {
    if (stopped && method !== "DELETE") throw new Error("this node has stopped");
    const ms = method === "DELETE" ? leaveTimeoutMs : answerTimeoutMs;
    const late = (): Error => new Error(`it didn't answer in ${ms / 1000} s`);
    return await bounded(undefined, host.clock, ms, late, (signal) =>
      collected(
        peer.send({
          url: gateway + path,
          method,
          headers: {
            ...trustKeyHeader(trustKey),
            ...(body === undefined ? {} : { "content-type": mediaTypes.json }),
            ...headers,
          },
          ...(body === undefined ? {} : { body }),
          signal,
          control: true,
        }),
      ),
    );
  };

  const announcement = createAnnouncement(host, send, offered, about, linked?.instance);

  const schedule = (ms: number, act: () => Promise<void>): void => {
    if (!stopped) cancel = host.clock.after(ms, () => void act());
  };

  const tryJoin = async (url: string): Promise<void> => {
    // A request from before the stop may be answered after it. Once the way is one of its own, it is
    // tried again.
    if (stopped || way?.isTwin === true) return;
    try {
      const answer = await announcement.join(url);
      const text = decoder.decode(answer.body);
      if (answer.status === 401) throw refusedKey(gateway);
      if (answer.status === 404 || answer.status === 405)
        throw new Error(
          `it answered ${answer.status}, so it isn't a gateway; set 'gateway' to the address of one`,
        );
      if (answer.status !== 201)
        throw new Error(`it answered ${answer.status}: ${text.slice(0, 200)}`);
      const found = readJoined(text, answer.headers);
      const twin = found.instance === undefined ? undefined : linked?.twinOf?.(found.instance);
      // To join here again and again would only end the membership there.
      if (twin !== undefined) {
        if (!warned) host.log.info(`${gateway} isn't used: it is the same gateway as ${twin}`);
        warned = true;
        return schedule(twinRetryMs, () => tryJoin(url));
      }
      joined = found;
      const isLinked = way?.kind === "link";
      host.log.info(`joined the gateway at ${gateway}${isLinked ? " over a link" : ""}`, {
        event: "joined",
        service: gateway,
      });
      backOff.reset();
      warned = false;
      // While the link lives, this is a member.
      if (!isLinked) watch(url, host.clock.now() + joined.lease / 3);
    } catch (error) {
      if (stopped) return;
      if (error instanceof RefusedKey && starting) throw error;
      // Warn once, not at every try.
      if (!warned)
        host.log.warn(
          `can't join the gateway at ${gateway} yet (${(error as Error).message}); trying again until it accepts this node`,
        );
      warned = true;
      schedule(backOff.next(), () => tryJoin(url));
    }
  };

  const watch = (url: string, renewal: number): void =>
    // The renewal may be overdue if the gateway's last answer was slow.
    schedule(Math.max(0, Math.min(jittered(checkIntervalMs), renewal - host.clock.now())), () =>
      check(url, renewal),
    );

  /**
   * Renews if it is time to, else only asks: both show whether the gateway still knows this node.
   */
  const check = async (url: string, renewal: number): Promise<void> => {
    const due = host.clock.now() >= renewal;
    const { id = "", lease = 0 } = joined ?? {};
    try {
      const { status } = await send(
        due ? "PUT" : "GET",
        `${paths.nodes}/${encodeURIComponent(id)}`,
      );
      // Joined again in the meantime, which started its own watch.
      if (joined?.id !== id) return;
      if (due ? status === 204 : status !== 404)
        return watch(url, due ? host.clock.now() + lease / 3 : renewal);
      host.log.info(`the gateway at ${gateway} no longer knows this node; joining again`);
      joined = undefined;
    } catch (error) {
      const { message } = error as Error;
      host.log.warn(
        isLocalFailure(error)
          ? `the gateway was not asked whether it knows this node (${message}); joining again`
          : `the gateway at ${gateway} can't be reached (${message}); joining again`,
      );
      warned = true;
    }
    await tryJoin(url);
  };

  return {
    async moved() {
      cancel();
      if (address !== undefined) await tryJoin(address);
    },
    async join(url) {
      address = url;
      try {
        await tryJoin(url);
      } finally {
        starting = false;
      }
    },
    get isMember() {
      return joined !== undefined && !stopped && (way === undefined || way.kind !== undefined);
    },
    get instance() {
      return joined?.instance;
    },
    async update() {
      cancel();
      announcement.changed();
      if (address !== undefined) await tryJoin(address);
    },
    async leave() {
      stopped = true;
      cancel();
      // Without its link it is no member.
      if (joined === undefined || (way !== undefined && way.kind === undefined)) return false;
      try {
        await send("DELETE", `${paths.nodes}/${encodeURIComponent(joined.id)}`);
        // Calls that were sent before have come before the answer.
        if (way?.kind === "link") return true;
        await new Promise<void>((resolve) => void host.clock.after(lameDuckMs, resolve));
        return true;
      } catch (error) {
        host.log.warn(
          `can't leave the gateway at ${gateway} (${(error as Error).message}); the lease will expire`,
        );
        return false;
      }
    },
  };
}
