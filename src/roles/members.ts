// Who is a member of a gateway (§3), as data: what each one holds, until when its lease runs, whether it may be called.
// Behind this interface a lasting link can stand for a lease later.

import { createBalancer } from "./balancer.ts";
import type { MemberAbout } from "./member-about.ts";
import type { Clock } from "../ports.ts";

export interface Member {
  readonly id: string;
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly procedures: readonly string[];
  /** Out of rotation: unhealthy, or it refused a connection. */
  out: boolean;
  /** Health checks in a row that it left unanswered. */
  silences: number;
  /** What it told of itself, for people who look. */
  readonly about: MemberAbout | undefined;
  /** When its lease runs out, by the clock of the gateway. */
  leaseEnds: number;
  /** When it last answered a health check, or did not. */
  checked: number | undefined;
  /** When it last answered a call: it can't have been away then. */
  heard: number;
}

/** What is known of a procedure's holders. `next` gives the one whose turn it is, of those that a call hasn't tried. */
export type Holders =
  | { readonly kind: "never" }
  | { readonly kind: "gone" }
  | { readonly kind: "some"; next(tried: ReadonlySet<Member>): Member | undefined };

export interface Members {
  /** Routable in the same moment. A member with the same address is replaced: it has restarted. */
  join(url: string, procedures: readonly string[], about?: MemberAbout): Member;
  /** `false`: no such member, it has to join again. */
  renew(id: string): boolean;
  leave(id: string): boolean;
  /** Round robin over those who hold `fqn` and are in rotation (§9, load balancing). */
  holders(fqn: string): Holders;
  /** Takes a member out of rotation, or puts it back. */
  setOut(member: Member, out: boolean): void;
  all(): readonly Member[];
}

export function createMembers(clock: Clock, lease: number, newId: () => string): Members {
  const members = new Map<string, Member>();
  const leases = new Map<string, () => void>();
  const balancer = createBalancer<Member>();

  const run = (member: Member): void => {
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
    return true;
  };

  return {
    join(url, procedures, about) {
      for (const other of members.values()) if (other.url === url) leave(other.id);
      const state = { out: false, silences: 0, leaseEnds: 0, checked: undefined, heard: -Infinity };
      const member: Member = {
        id: newId(),
        url,
        procedures: [...new Set(procedures)],
        about,
        ...state,
      };
      members.set(member.id, member);
      balancer.add(member, member.procedures);
      run(member);
      return member;
    },
    renew(id) {
      const member = members.get(id);
      if (member !== undefined) run(member);
      return member !== undefined;
    },
    leave,
    holders(fqn) {
      const held = balancer.of(fqn);
      if (held === undefined) return { kind: balancer.hasLeft(fqn) ? "gone" : "never" };
      return {
        kind: "some",
        next: (tried) => held.next((member) => !member.out && !tried.has(member)),
      };
    },
    setOut(member, out) {
      member.out = out;
    },
    all: () => [...members.values()],
  };
}
