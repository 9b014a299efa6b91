// A node's membership in its gateway: it announces itself over each link, and says goodbye when it stops. It is
// a member for as long as the link lives.

import { BackOff } from "../../base/back-off.ts";
import { bounded } from "../../base/aborts.ts";
import type { Host } from "../../base/ports.ts";
import { anyUpstream, mediaTypes, paths } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { DialledLink } from "../links/dialled-link.ts";
import { createAnnouncement, type SendToGateway } from "./announcement.ts";
import type { MemberDetails } from "./member-details.ts";
import type { Announced } from "./member-list.ts";
import { answerMs, retryMs } from "../common/times.ts";

export interface Membership {
  /**
   * This node listens at `url`: announces it, now and over each later link. Resolves after the first try,
   * successful or not: a gateway that can't take the node yet is asked again.
   */
  join(url: string): Promise<void>;
  /** There is a new link. Resolves after the first try to announce the node over it. */
  linked(): Promise<void>;
  /** The link is over. */
  lost(): void;
  /**
   * Announces what the node has now. The gateway replaces the list at once, so no call finds neither.
   */
  update(): Promise<void>;
  /**
   * Leaves. Resolves when the gateway has stopped sending calls, and calls on their way have arrived. Returns whether
   * the gateway has confirmed it.
   */
  leave(): Promise<boolean>;
  /** Whether the gateway has confirmed that this node is a member. */
  readonly isMember: boolean;
}

export interface MembershipParts {
  readonly host: Pick<Host, "clock" | "digest" | "log">;
  /** The gateway's name in logs. */
  readonly gateway: string;
  readonly link: Pick<DialledLink, "isLinked" | "send">;
  /** The procedures and routes of this node. */
  readonly offered: () => Announced;
  /** Its description of itself, for the console. */
  readonly about?: () => MemberDetails | undefined;
}

export function createMembership(parts: MembershipParts): Membership {
  const { host, gateway, link, offered, about } = parts;
  const decoder = new TextDecoder();
  let isJoined = false;
  let address: string | undefined;
  let cancel = (): void => {};
  let stopped = false;
  const backOff = new BackOff(retryMs.announcement);
  let warned = false;

  const send: SendToGateway = async (method, path, body) => {
    if (stopped && method !== "DELETE") throw new Error("this node has stopped");
    const ms = answerMs[method];
    const late = (): Error => new Error(`it didn't answer in ${ms / 1000} s`);
    return await bounded(undefined, host.clock, ms, late, (signal) =>
      collected(
        link.send({
          url: anyUpstream + path,
          method,
          headers: body === undefined ? {} : { "content-type": mediaTypes.json },
          ...(body === undefined ? {} : { body }),
          from: "key",
          signal,
          control: true,
        }),
      ),
    );
  };

  const announcement = createAnnouncement(host, send, offered, about);

  const announce = async (): Promise<void> => {
    cancel();
    if (stopped || address === undefined || !link.isLinked) return;
    try {
      const { status, body } = await announcement.join(address);
      if (status !== 201)
        throw new Error(`it answered ${status}: ${decoder.decode(body).slice(0, 200)}`);
      isJoined = true;
      host.log.info(`joined the gateway at ${gateway}`, { event: "joined", service: gateway });
      backOff.reset();
      warned = false;
    } catch (error) {
      // Without a link, the next one begins again.
      if (stopped || !link.isLinked) return;
      // Warn once, not at every try.
      if (!warned)
        host.log.warn(
          `can't join the gateway at ${gateway} yet (${(error as Error).message}); trying again until it accepts this node`,
        );
      warned = true;
      cancel = host.clock.after(backOff.next(), () => void announce());
    }
  };

  return {
    async join(url) {
      address = url;
      await announce();
    },
    linked: announce,
    lost() {
      isJoined = false;
      cancel();
    },
    get isMember() {
      return isJoined && !stopped && link.isLinked;
    },
    async update() {
      announcement.changed();
      await announce();
    },
    async leave() {
      stopped = true;
      cancel();
      // Without its link it is no member.
      if (!isJoined || !link.isLinked) return false;
      try {
        // Calls that were sent before have come before the answer.
        await send("DELETE", paths.nodes);
        return true;
      } catch (error) {
        host.log.warn(`can't leave the gateway at ${gateway} (${(error as Error).message})`);
        return false;
      }
    },
  };
}
