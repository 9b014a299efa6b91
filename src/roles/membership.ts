// A node's side of its membership (§3): joins, renews, joins again after the gateway was away, leaves on a clean stop.

import { bounded } from "../bounded.ts";
import { type Host, isLocalFailure } from "../ports.ts";
import { mediaTypes, paths, serviceHeaders } from "../protocol.ts";
import type { MemberAbout } from "./member-about.ts";

export interface Membership {
  /**
   * Resolves after the first try, whether it went well or not: a node that starts before its gateway keeps trying.
   * Rejects when the gateway refuses the trust key: that does not mend itself.
   */
  join(url: string): Promise<void>;
  /** Tells the gateway anew what can be called here: it takes one list for the other in one moment, so no call in between finds neither. */
  update(): Promise<void>;
  /** Resolves when no more calls come: the gateway knows, and what it had sent before has arrived. */
  leave(): Promise<void>;
}

/** Waits between tries, in ms: short at first, since a gateway that restarts is back soon. */
const firstWait = 100;
const longestWait = 1500;

/** How often a node asks whether it is still known, in ms: calls must not wait for its next renewal after a gateway's restart (R9). */
const lookTime = 1000;

// Nodes that lost the same gateway must not come back to it in one moment.
const jittered = (ms: number): number => Math.round(ms * (0.5 + Math.random() / 2));

/** How long the gateway may take for an answer, in ms: one that hangs is away, and a node that leaves has little time (R2). */
const answerTime = 5000;
const leaveTime = 900;

/** How long a node that has left serves on, in ms: calls that were sent before are on their way (R2). */
const lameDuck = 1000;

class RefusedKey extends Error {}

/** `procedures` gives the FQNs that this node takes calls for; `about` what it tells of itself to people who look. */
export function createMembership(
  host: Host,
  gateway: string,
  trustKey: string,
  procedures: () => readonly string[],
  about?: () => MemberAbout,
): Membership {
  const decoder = new TextDecoder();
  let joined: { id: string; lease: number } | undefined;
  let address: string | undefined;
  let cancel = (): void => {};
  let stopped = false;
  let wait = firstWait;
  let complained = false;
  let starting = true;
  /** Not to a gateway that finds it too much. */
  let tells = true;

  const send = async (method: string, path: string, body?: unknown) => {
    const ms = method === "DELETE" ? leaveTime : answerTime;
    const late = (): Error => new Error(`it gave no answer in ${ms / 1000} s`);
    return await bounded(undefined, host.clock, ms, late, (signal) =>
      host.transport.send({
        url: gateway + path,
        method,
        headers: {
          [serviceHeaders.trustKey]: trustKey,
          ...(body === undefined ? {} : { "content-type": mediaTypes.json }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        control: true,
      }),
    );
  };

  const again = (ms: number, act: () => Promise<void>): void => {
    if (!stopped) cancel = host.clock.after(ms, () => void act());
  };

  const tryJoin = async (url: string): Promise<void> => {
    // What was asked before the stop may be answered after it.
    if (stopped) return;
    try {
      const node = tells ? about?.() : undefined;
      const answer = await send("POST", paths.nodes, {
        url,
        procedures: procedures(),
        ...(node !== undefined && { node }),
      });
      // To be shown is less than to be called: once more without it.
      if (answer.status === 413 && node !== undefined) {
        tells = false;
        return await tryJoin(url);
      }
      const text = decoder.decode(answer.body);
      if (answer.status === 401)
        throw new RefusedKey(
          `The gateway at ${gateway} refuses this node's trust key: both must have the same trustKey`,
        );
      if (answer.status === 404 || answer.status === 405)
        throw new Error(
          `it answered ${answer.status}, so it is no gateway: 'gateway' has to be the address of one`,
        );
      if (answer.status !== 201)
        throw new Error(`it answered ${answer.status}: ${text.slice(0, 200)}`);
      joined = readMembership(text);
      host.log.info(`joined the gateway at ${gateway}`);
      wait = firstWait;
      complained = false;
      watch(url, host.clock.now() + joined.lease / 3);
    } catch (error) {
      if (error instanceof RefusedKey && starting) throw error;
      // Once, not at every try: the terminal is for people.
      if (!complained)
        host.log.warn(
          `can't join the gateway at ${gateway} yet (${(error as Error).message}); trying again until it takes this node`,
        );
      complained = true;
      again(jittered(wait), () => tryJoin(url));
      wait = Math.min(wait * 2, longestWait);
    }
  };

  const watch = (url: string, renewal: number): void =>
    // The gateway may have taken until after the renewal was due to answer, and a timer may run a little early.
    again(Math.max(0, Math.min(jittered(lookTime), renewal - host.clock.now())), () =>
      look(url, renewal),
    );

  /** Renews when it is time for that, else only asks: either way a gateway that has forgotten this node says so. */
  const look = async (url: string, renewal: number): Promise<void> => {
    const due = host.clock.now() >= renewal;
    const { id = "", lease = 0 } = joined ?? {};
    try {
      const { status } = await send(
        due ? "PUT" : "GET",
        `${paths.nodes}/${encodeURIComponent(id)}`,
      );
      // Told anew in between: that has a watch of its own.
      if (joined?.id !== id) return;
      if (due ? status === 204 : status !== 404)
        return watch(url, due ? host.clock.now() + lease / 3 : renewal);
      host.log.info(`the gateway at ${gateway} doesn't know this node any more: joining again`);
      joined = undefined;
    } catch (error) {
      const { message } = error as Error;
      host.log.warn(
        isLocalFailure(error)
          ? `the gateway was not asked whether it knows this node (${message}); joining again`
          : `the gateway at ${gateway} can't be reached (${message}); joining again`,
      );
      complained = true;
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
      if (address !== undefined) await tryJoin(address);
    },
    async leave() {
      stopped = true;
      cancel();
      if (joined === undefined) return;
      try {
        await send("DELETE", `${paths.nodes}/${encodeURIComponent(joined.id)}`);
        await new Promise<void>((resolve) => void host.clock.after(lameDuck, resolve));
      } catch (error) {
        host.log.warn(
          `could not tell the gateway at ${gateway} that this node leaves (${(error as Error).message}); its lease runs out by itself`,
        );
      }
    },
  };
}

function readMembership(text: string): { id: string; lease: number } {
  const { id, lease } = JSON.parse(text) as { id?: unknown; lease?: unknown };
  if (typeof id !== "string" || typeof lease !== "number" || !(lease > 0))
    throw new Error("its answer names no id and lease: is it a Seamline gateway?");
  return { id, lease };
}
