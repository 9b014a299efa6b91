// The members of a gateway as data: the procedures, lease and rotation state of each. Behind this
// interface, a lasting connection can replace leases later.

import { createBalancer } from "./balancer.ts";
import { createRouteDirectory, type RouteDirectory } from "./route-directory.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import type { MemberDetails } from "./member-details.ts";
import type { Clock } from "../../base/ports.ts";

export interface Member {
  readonly id: string;
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  readonly procedures: readonly string[];
  readonly routes: readonly RouteInfo[];
  /** Out of rotation: unhealthy, or it refused a connection. */
  out: boolean;
  /** Unanswered health checks in a row. */
  silences: number;
  /** What it says about itself, for the console. */
  readonly about: MemberDetails | undefined;
  /** When its lease runs out, by the gateway's clock. */
  leaseEnds: number;
  /** When its last health check ended, answered or not. */
  checked: number | undefined;
  /** When it last answered a call, so it was up then. */
  heard: number;
}

/** The members with a procedure. `next` returns the next one in turn that a call hasn't tried. */
export type Holders =
  | { readonly kind: "never" }
  | { readonly kind: "gone" }
  | { readonly kind: "some"; next(tried: ReadonlySet<Member>): Member | undefined };

export interface Members {
  /** Calls may go to the member at once. Replaces one with the same URL, which has restarted. */
  join(
    url: string,
    procedures: readonly string[],
    about?: MemberDetails,
    routes?: readonly RouteInfo[],
  ): Member;
  readonly routes: RouteDirectory<Member>;
  /** `false`: no such member; it has to join again. */
  renew(id: string): boolean;
  leave(id: string): boolean;
  /** Round robin over the members in rotation that have the procedure `fqn`, or the route. */
  holders(fqn: string, route?: RouteInfo): Holders;
  /** Takes a member out of rotation, or puts it back. */
  setOut(member: Member, out: boolean): void;
  all(): readonly Member[];
}

export function createMembers(clock: Clock, lease: number, newId: () => string): Members {
  const members = new Map<string, Member>();
  const leases = new Map<string, () => void>();
  const balancer = createBalancer<Member>();
  const routeDirectory = createRouteDirectory<Member>();

  const startLease = (member: Member): void => {
    const { id } = member;
    member.leaseEnds = clock.now() + lease;
    leases.get(id)?.();
    leases.set(
      id,
      clock.after(lease, () => void leave(id)),
    );
  };

  const leave = (id: string): boolean => {
    const member = members.get(id);
    if (member === undefined) return false;
    members.delete(id);
    leases.get(id)?.();
    leases.delete(id);
    balancer.remove(member, member.procedures);
    routeDirectory.remove(member, member.routes);
    return true;
  };

  return {
    routes: routeDirectory,
    join(url, procedures, about, routes = []) {
      for (const previous of members.values()) if (previous.url === url) leave(previous.id);
      const state = { out: false, silences: 0, leaseEnds: 0, checked: undefined, heard: -Infinity };
      const member: Member = {
        id: newId(),
        url,
        procedures,
        routes,
        about,
        ...state,
      };
      members.set(member.id, member);
      balancer.add(member, member.procedures);
      routeDirectory.add(member, routes);
      startLease(member);
      return member;
    },
    renew(id) {
      const member = members.get(id);
      if (member !== undefined) startLease(member);
      return member !== undefined;
    },
    leave,
    holders(fqn, route) {
      const rotation = route === undefined ? balancer.of(fqn) : routeDirectory.of(route);
      if (rotation === undefined)
        return { kind: route !== undefined || balancer.hasLeft(fqn) ? "gone" : "never" };
      return {
        kind: "some",
        next: (tried) => rotation.next((member) => !member.out && !tried.has(member)),
      };
    },
    setOut(member, out) {
      member.out = out;
    },
    all: () => [...members.values()],
  };
}
