// A node's membership in its gateway: joins, renews, joins again after the gateway was down, and
// leaves on a clean stop.

import { bounded } from "../../base/aborts.ts";
import { type Host, isLocalFailure } from "../../base/ports.ts";
import { mediaTypes, paths } from "../../base/protocol.ts";
import { trustKeyHeader } from "../../http/trust.ts";
import { collected } from "../../http/bodies.ts";
import { createAnnouncement, type SendToGateway } from "./announcement.ts";
import type { MemberDetails } from "./member-details.ts";
import type { Offered } from "./member-list.ts";

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
  /** Resolves when the gateway has stopped sending calls, and those on their way have arrived. */
  leave(): Promise<void>;
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

class RefusedKey extends Error {}

/**
 * `offered` returns what this node takes calls and requests for; `about` what it says about
 * itself, for the console.
 */
export function createMembership(
  host: Host,
  gateway: string,
  trustKey: string,
  offered: () => Offered,
  about?: () => MemberDetails | undefined,
): Membership {
  const decoder = new TextDecoder();
  let joined: { id: string; lease: number } | undefined;
  let address: string | undefined;
  let cancel = (): void => {};
  let stopped = false;
  let retryMs = firstRetryMs;
  let warned = false;
  let starting = true;

  const send: SendToGateway = async (method, path, body, headers = {}) => {
    if (stopped && method !== "DELETE") throw new Error("this node has stopped");
    const ms = method === "DELETE" ? leaveTimeoutMs : answerTimeoutMs;
    const late = (): Error => new Error(`it didn't answer in ${ms / 1000} s`);
    return await bounded(undefined, host.clock, ms, late, (signal) =>
      collected(
        host.transport.send({
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

  const announcement = createAnnouncement(host, send, offered, about);

  const schedule = (ms: number, act: () => Promise<void>): void => {
    if (!stopped) cancel = host.clock.after(ms, () => void act());
  };

  const tryJoin = async (url: string): Promise<void> => {
    // A request from before the stop may be answered after it.
    if (stopped) return;
    try {
      const answer = await announcement.join(url);
      const text = decoder.decode(answer.body);
      if (answer.status === 401)
        throw new RefusedKey(
          `The gateway at ${gateway} refuses this node's trust key: both must have the same trustKey`,
        );
      if (answer.status === 404 || answer.status === 405)
        throw new Error(
          `it answered ${answer.status}, so it isn't a gateway; set 'gateway' to the address of one`,
        );
      if (answer.status !== 201)
        throw new Error(`it answered ${answer.status}: ${text.slice(0, 200)}`);
      joined = readMembership(text);
      host.log.info(`joined the gateway at ${gateway}`);
      retryMs = firstRetryMs;
      warned = false;
      watch(url, host.clock.now() + joined.lease / 3);
    } catch (error) {
      if (stopped) return;
      if (error instanceof RefusedKey && starting) throw error;
      // Warn once, not at every try.
      if (!warned)
        host.log.warn(
          `can't join the gateway at ${gateway} yet (${(error as Error).message}); trying again until it accepts this node`,
        );
      warned = true;
      schedule(jittered(retryMs), () => tryJoin(url));
      retryMs = Math.min(retryMs * 2, longestRetryMs);
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
    async join(url) {
      address = url;
      await tryJoin(url);
      starting = false;
    },
    async update() {
      cancel();
      announcement.changed();
      if (address !== undefined) await tryJoin(address);
    },
    async leave() {
      stopped = true;
      cancel();
      if (joined === undefined) return;
      try {
        await send("DELETE", `${paths.nodes}/${encodeURIComponent(joined.id)}`);
        await new Promise<void>((resolve) => void host.clock.after(lameDuckMs, resolve));
      } catch (error) {
        host.log.warn(
          `can't leave the gateway at ${gateway} (${(error as Error).message}); the lease will expire`,
        );
      }
    },
  };
}

function readMembership(text: string): { id: string; lease: number } {
  const { id, lease } = JSON.parse(text) as { id?: unknown; lease?: unknown };
  if (typeof id !== "string" || typeof lease !== "number" || !(lease > 0))
    throw new Error("its answer has no id and lease; is it a Seamline gateway?");
  return { id, lease };
}
