// What a gateway shows: its members, what they told of themselves, and what their health checks say.

import { bounded } from "../bounded.ts";
import type { Access } from "../manifest.ts";
import type { Host } from "../ports.ts";
import { paths } from "../protocol.ts";
import type { Member, Members } from "../roles/members.ts";
import type { ConsoleSource } from "./console.ts";
import type { MemberState, ProcedureState } from "./state.ts";

/** How often each member's checks are asked for while somebody looks, and how long it may take, in ms. */
const interval = 5_000;
const answerTime = 6_000;
/** Bytes of an answer of `/health` that are read: details are for people. */
const longest = 16_384;

export function membersSource(host: Host, members: Members): ConsoleSource {
  const { clock } = host;
  const checks = new Map<string, Readonly<Record<string, unknown>>>();
  let cancel = (): void => {};
  let listed: { ids: string; procedures: readonly ProcedureState[] } | undefined;

  const round = (): void => {
    const all = members.all();
    for (const id of checks.keys()) if (!all.some((member) => member.id === id)) checks.delete(id);
    for (const member of all)
      void checksOf(host, member).then((said) =>
        said === undefined ? checks.delete(member.id) : checks.set(member.id, said),
      );
    cancel = clock.after(interval, round);
  };

  return {
    mode: "gateway",
    members: () =>
      members.all().map((member): MemberState => {
        const { id, url, about, out, leaseEnds, checked } = member;
        const said = checks.get(id);
        return {
          id,
          url,
          ...(about?.name === undefined ? {} : { name: about.name }),
          ...(about === undefined
            ? { procedures: member.procedures }
            : { segments: about.segments }),
          state: out ? "out" : "ready",
          lease: Math.max(0, Math.round(leaseEnds - clock.now())),
          ...(checked === undefined ? {} : { checked: Math.round(clock.now() - checked) }),
          ...(said === undefined ? {} : { checks: said }),
        };
      }),
    procedures() {
      const all = members.all();
      const ids = all.map(({ id }) => id).join(" ");
      if (listed?.ids !== ids) listed = { ids, procedures: proceduresOf(all) };
      return listed.procedures;
    },
    look() {
      round();
      return () => cancel();
    },
  };
}

const openness: Readonly<Record<Access, number>> = { private: 0, protected: 1, public: 2 };

/** Of all members together: two may hold the same procedure in different segments, and with different access. */
function proceduresOf(members: readonly Member[]): readonly ProcedureState[] {
  const known = new Map<string, ProcedureState>();
  const versions = new Set<string>();
  for (const { about } of members)
    for (const one of about?.procedures ?? []) {
      const key = `${one.fqn} ${one.version}`;
      versions.add(one.fqn);
      const other = known.get(key);
      const access =
        other?.access !== undefined && openness[other.access] > openness[one.access]
          ? other.access
          : one.access;
      known.set(key, {
        ...one,
        access,
        segments: [...new Set([...(other?.segments ?? []), ...one.segments])],
      });
    }
  for (const { about, procedures } of members)
    if (about === undefined)
      for (const fqn of procedures) if (!versions.has(fqn)) known.set(fqn, { fqn, segments: [] });
  return [...known.values()].toSorted((one, other) =>
    one.fqn < other.fqn ? -1 : one.fqn > other.fqn ? 1 : 0,
  );
}

async function checksOf(
  host: Host,
  member: Member,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const { status, body } = await bounded(
      undefined,
      host.clock,
      answerTime,
      () => new Error("no answer"),
      (signal) =>
        host.transport.send({
          url: member.url + paths.health,
          method: "GET",
          headers: {},
          signal,
          control: true,
        }),
    );
    if (status !== 200 || body.length > longest) return undefined;
    const said: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof said === "object" && said !== null
      ? (said as Record<string, unknown>)
      : undefined;
  } catch {
    // Whether it can be reached is told by the monitor.
    return undefined;
  }
}
