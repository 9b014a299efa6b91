// The members of a gateway as data: the procedures, lease and state of each. Behind this
// interface, a lasting connection can replace leases later.

import { createBalancer, type Rotation } from "./balancer.ts";
import { createRouteDirectory, type RouteDirectory } from "./route-directory.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import type { Lists } from "./lists.ts";
import type { MemberDetails } from "./member-details.ts";
import type { MemberList } from "./member-list.ts";
import { type LifeSign, newVitals, type Vitals } from "./vitals.ts";
import type { Clock, LinkedPeer, Peer } from "../../base/ports.ts";

export interface Member {
  readonly id: string;
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Its procedures and routes. Members that have the same share one list. */
  readonly list: MemberList;
  /** Those of its procedures that may be sent again, as running them twice does no harm. */
  readonly idempotent: ReadonlySet<string>;
  /** How long, in ms, calls of those of its procedures may take that have a time limit. */
  readonly timeouts: ReadonlyMap<string, number>;
  /** The process at this address: a restarted one is another member. Older versions send none. */
  readonly instance: string | undefined;
  /** Its build. Members of an older version don't say it. */
  readonly revision: string | undefined;
  /** Ascends from member to member. */
  readonly order: number;
  /** The way to it, if it came over a link; else calls go to its address. */
  readonly via: LinkedPeer | undefined;
  /** What its application's checks say. An unhealthy member gets no calls. */
  isHealthy: boolean;
  /** What the gateway guesses of its life. */
  readonly vitals: Vitals;
  /** It is no longer a member. */
  hasLeft: boolean;
  /** What it says about itself, for the console. */
  readonly about: MemberDetails | undefined;
  /** When its lease runs out, by the gateway's clock. */
  leaseEnds: number;
  /** When its last health check ended, answered or not. */
  checked: number | undefined;
}

/** What a member says when it joins. */
export interface Joining {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  readonly list: MemberList;
  readonly instance?: string | undefined;
  readonly revision?: string | undefined;
  readonly via?: LinkedPeer | undefined;
  readonly about?: MemberDetails | undefined;
}

/** Whether a gateway gives it no calls while others can take them. */
export function isOut({ isHealthy, vitals }: Member): boolean {
  return !isHealthy || vitals.sign === "out";
}

/** Whether both say their build, and it isn't the same. */
function isOfAnotherBuild({ revision }: Member, member: Member): boolean {
  return revision !== undefined && ![undefined, revision].includes(member.revision);
}

/**
 * Whether somebody who joins takes a member's place: it is the same process, or another one at the address to
 * which calls go. None go to the address of a member with a link, and its link tells when it is gone.
 */
export function isReplaced(
  { url, instance, via }: Pick<Member, "url" | "instance" | "via">,
  joining: Pick<Joining, "url" | "instance">,
): boolean {
  return (
    (instance !== undefined && instance === joining.instance) ||
    (via === undefined && url === joining.url)
  );
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
   * Calls may go to the member at once. Replaces one with the same address, which has restarted, or
   * which joins again and then stays as healthy as it was.
   */
  join(joining: Joining): Member;
  readonly routes: RouteDirectory<Member>;
  /** `false`: no such member; it has to join again. */
  renew(id: string): boolean;
  leave(id: string): boolean;
  /**
   * The same, where the member itself doesn't know: over a link it is told, and joins again. Over HTTP it
   * asks now and then.
   */
  remove(id: string): boolean;
  /** The link is over: those that came over it are gone. */
  leaveVia(via: Peer): readonly Member[];
  /** Round robin over the members that have the procedure `fqn`, or the route. */
  holders(fqn: string, route?: RouteInfo): Holders;
  /** Changes what the gateway guesses of a member's life. */
  setSign(member: Member, sign: LifeSign): void;
  /** How often somebody has joined with another build than the one before: 1 before any deploy. */
  readonly builds: number;
  get(id: string): Member | undefined;
  all(): readonly Member[];
  /** Lets no lease run out any more. */
  stop(): void;
}

export function createMembers(
  clock: Clock,
  lease: number,
  newId: () => string,
  lists: Lists,
  onExpired: (member: Member) => void = () => {},
  onLists: () => void = () => {},
): Members {
  const members = new Map<string, Member>();
  const leases = new Map<string, () => void>();
  const balancer = createBalancer<Member>();
  const routeDirectory = createRouteDirectory<Member>();
  let joined = 0;
  let latestBuild: string | undefined;
  let builds = 0;

  /** Members that seem dead. */
  const out = new Set<Member>();

  /**
   * The next member that may take a call. The gateway's guess keeps at most half of them out: if
   * more seem dead, the guess is wrong or nothing is left to lose. What their applications say
   * counts always.
   */
  const nextOf = (
    rotation: Rotation<Member>,
    tried: readonly Member[],
    unlike: Member | undefined,
  ): Member | undefined => {
    const canTake = (member: Member): boolean =>
      member.isHealthy &&
      !tried.includes(member) &&
      member.via?.hasRoom !== false &&
      (unlike === undefined || isOfAnotherBuild(member, unlike));
    const mostAreOut = out.size > 0 && rotation.share(({ isHealthy }) => isHealthy, out) > 0.5;
    const found = rotation.next(
      (member) =>
        canTake(member) &&
        member.via?.isSilent !== true &&
        (mostAreOut ? member.vitals.sign !== "suspected" : member.vitals.sign === "alive"),
    );
    return found ?? rotation.next(canTake);
  };

  const startLease = (member: Member): void => {
    const { id } = member;
    member.leaseEnds = clock.now() + lease;
    leases.get(id)?.();
    leases.set(
      id,
      clock.after(lease, () => {
        leave(id);
        onExpired(member);
      }),
    );
  };

  const leave = (id: string): boolean => {
    const member = members.get(id);
    if (member === undefined) return false;
    members.delete(id);
    member.hasLeft = true;
    out.delete(member);
    leases.get(id)?.();
    leases.delete(id);
    const { list } = member;
    const isGone = balancer.remove(member, list, () => list.procedures);
    routeDirectory.remove(member, list);
    lists.release(list);
    if (isGone) onLists();
    return true;
  };

  return {
    routes: routeDirectory,
    get builds() {
      return builds;
    },
    join({ url, list: announced, instance, revision, via, about }) {
      const list = lists.share(announced);
      const replaced: Member[] = [];
      let isHealthy = true;
      for (const previous of members.values()) {
        if (!isReplaced(previous, { url, instance })) continue;
        if (instance !== undefined && previous.instance === instance) ({ isHealthy } = previous);
        // Names and routes that stay needn't be taken away and added again.
        if (previous.list === list) replaced.push(previous);
        else leave(previous.id);
      }
      const member: Member = {
        id: newId(),
        url,
        list,
        idempotent: list.idempotent,
        timeouts: list.timeouts,
        instance,
        revision,
        order: ++joined,
        via,
        about,
        isHealthy,
        vitals: newVitals(),
        hasLeft: false,
        leaseEnds: 0,
        checked: undefined,
      };
      members.set(member.id, member);
      if (revision !== undefined && revision !== latestBuild) builds++;
      latestBuild = revision ?? latestBuild;
      const isNew = balancer.add(member, list, () => list.procedures);
      routeDirectory.add(member, list);
      // While its link lives, it is a member.
      if (via === undefined) startLease(member);
      for (const { id } of replaced) leave(id);
      if (isNew) onLists();
      return member;
    },
    renew(id) {
      const member = members.get(id);
      if (member !== undefined) startLease(member);
      return member !== undefined;
    },
    leave,
    remove(id) {
      const via = members.get(id)?.via;
      const isKnown = leave(id);
      via?.retire(new Error("It is no member any more"));
      return isKnown;
    },
    leaveVia(via) {
      const gone = [...members.values()].filter((member) => member.via === via);
      for (const { id } of gone) leave(id);
      return gone;
    },
    holders(fqn, route) {
      const rotation = route === undefined ? balancer.of(fqn) : routeDirectory.of(route);
      if (rotation === undefined)
        return { kind: route !== undefined || balancer.hasLeft(fqn) ? "gone" : "never" };
      return { kind: "some", next: (tried, unlike) => nextOf(rotation, tried, unlike) };
    },
    setSign(member, sign) {
      member.vitals.sign = sign;
      if (sign === "out" && !member.hasLeft) out.add(member);
      else out.delete(member);
    },
    get: (id) => members.get(id),
    all: () => [...members.values()],
    stop() {
      for (const cancel of leases.values()) cancel();
      leases.clear();
    },
  };
}
