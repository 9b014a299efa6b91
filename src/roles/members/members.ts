// The members of a gateway, with their procedures and states, and which of them gets a call. A node is a member while
// its link lives.

import { createBalancer, type Rotation } from "./balancer.ts";
import { createRouteDirectory, type RouteDirectory } from "./route-directory.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import type { Lists } from "./lists.ts";
import type { MemberDetails } from "./member-details.ts";
import type { MemberList } from "./member-list.ts";
import type { Candidate } from "../resend/send-again.ts";
import type { LinkedPeer, Peer } from "../../base/ports.ts";

export interface Member extends Candidate {
  readonly id: string;
  /** Where it listens, without a trailing slash. It is a name: nothing is sent there. */
  readonly url: string;
  /** Its procedures and routes. Members with the same ones share a list. */
  readonly list: MemberList;
  /** Those of its procedures that may be sent again, as running them twice does no harm. */
  readonly idempotent: ReadonlySet<string>;
  /** The time limits in ms of its procedures that have one. */
  readonly timeouts: ReadonlyMap<string, number>;
  /** Its build, if it says it. */
  readonly revision: string | undefined;
  /** Ascends from member to member. */
  readonly order: number;
  /** The way to it, and its process: a restarted one is another member. */
  readonly via: LinkedPeer;
  /** The result of its application's checks. An unhealthy member gets no calls. */
  isHealthy: boolean;
  /** It is no longer a member. */
  hasLeft: boolean;
  /** Its description of itself, for the console. */
  readonly about: MemberDetails | undefined;
  /** When its last health check ended, answered or not. */
  checked: number | undefined;
}

/** A node's announcement. */
export interface Joining {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  readonly list: MemberList;
  readonly revision?: string | undefined;
  readonly via: LinkedPeer;
  readonly about?: MemberDetails | undefined;
}

/** A member's state, for people. A silent member gets no calls while others can take them. */
export type MemberCondition = "ready" | "unhealthy" | "silent";

export function conditionOf({ isHealthy, via }: Member): MemberCondition {
  return isHealthy ? (via.isSilent ? "silent" : "ready") : "unhealthy";
}

/** Whether both say their build, and it isn't the same. */
function isOfAnotherBuild({ revision }: Member, member: Member): boolean {
  return revision !== undefined && ![undefined, revision].includes(member.revision);
}

/**
 * The members with a procedure. `next` returns the next one in turn that a call hasn't tried, of
 * another build than `member` if there is one.
 */
export type Holders =
  | { readonly kind: "never" }
  | { readonly kind: "gone" }
  | { readonly kind: "some"; next(tried: readonly Member[], unlike?: Member): Member | undefined };

export interface Members {
  /**
   * Calls may go to the member at once. It takes the place of the same process, if that announces itself
   * again, and then stays as healthy as it was.
   */
  join(joining: Joining): Member;
  readonly routes: RouteDirectory<Member>;
  /** Removes a member that doesn't know it: its link is retired, and it announces itself over a new one. */
  remove(member: Member): void;
  /** The link is over, or its other end says goodbye. Returns the member that is gone. */
  leave(via: Peer): Member | undefined;
  /** Round robin over the members that have the procedure `fqn`, or the route. */
  holders(fqn: string, route?: RouteInfo): Holders;
  /**
   * Whether the service at the other end of a link runs, or may run, another build than `member`: its calls rely on
   * types that may have changed.
   */
  isOfOtherBuild(via: Peer | undefined, member: Member): boolean;
  /** How often a member has joined with another build than the one before: 1 before any deploy. */
  readonly builds: number;
  all(): readonly Member[];
}

export function createMembers(
  newId: () => string,
  lists: Lists,
  onLists: () => void = () => {},
): Members {
  const members = new Set<Member>();
  const balancer = createBalancer<Member>();
  const routeDirectory = createRouteDirectory<Member>();
  let joined = 0;
  /** Includes services that aren't members any more: their procedures may still make calls. */
  const buildOf = new WeakMap<Peer, string | undefined>();
  let latestBuild: string | undefined;
  let builds = 0;

  /**
   * The next member that may take a call. A silent member gets it if no other can: then there is nothing to lose. An
   * unhealthy one never does.
   */
  const nextOf = (
    rotation: Rotation<Member>,
    tried: readonly Member[],
    unlike: Member | undefined,
  ): Member | undefined => {
    const canTake = (member: Member): boolean =>
      member.isHealthy &&
      !tried.includes(member) &&
      member.via.hasRoom &&
      (unlike === undefined || isOfAnotherBuild(member, unlike));
    return (
      rotation.next((member) => canTake(member) && !member.via.isSilent) ?? rotation.next(canTake)
    );
  };

  const drop = (member: Member): void => {
    if (!members.delete(member)) return;
    member.hasLeft = true;
    const { list } = member;
    const isGone = balancer.remove(member, list, () => list.procedures);
    routeDirectory.remove(member, list);
    lists.release(list);
    if (isGone) onLists();
  };

  return {
    routes: routeDirectory,
    isOfOtherBuild(via, { revision }) {
      if (builds < 2) return false;
      const own = via && buildOf.get(via);
      return own === undefined || own !== revision;
    },
    get builds() {
      return builds;
    },
    join({ url, list: announced, revision, via, about }) {
      const list = lists.share(announced);
      let replaced: Member | undefined;
      let isHealthy = true;
      for (const previous of members) {
        if (previous.via.instance !== via.instance) continue;
        ({ isHealthy } = previous);
        // Names and routes that stay needn't be taken away and added again.
        if (previous.list === list) replaced = previous;
        else drop(previous);
      }
      const member: Member = {
        id: newId(),
        url,
        list,
        idempotent: list.idempotent,
        timeouts: list.timeouts,
        revision,
        order: ++joined,
        via,
        about,
        isHealthy,
        inFlight: 0,
        hasLeft: false,
        checked: undefined,
      };
      members.add(member);
      buildOf.set(via, revision);
      if (revision !== undefined && revision !== latestBuild) builds++;
      latestBuild = revision ?? latestBuild;
      const isNew = balancer.add(member, list, () => list.procedures);
      routeDirectory.add(member, list);
      if (replaced !== undefined) drop(replaced);
      if (isNew) onLists();
      return member;
    },
    remove(member) {
      drop(member);
      member.via.retire(new Error("It is no member any more"));
    },
    leave(via) {
      const member = [...members].find((entry) => entry.via === via);
      if (member !== undefined) drop(member);
      return member;
    },
    holders(fqn, route) {
      const rotation = route === undefined ? balancer.of(fqn) : routeDirectory.of(route);
      if (rotation === undefined)
        return { kind: route !== undefined || balancer.hasLeft(fqn) ? "gone" : "never" };
      return { kind: "some", next: (tried, unlike) => nextOf(rotation, tried, unlike) };
    },
    all: () => [...members],
  };
}
