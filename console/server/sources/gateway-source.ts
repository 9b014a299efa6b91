// The state of a gateway: its members, their descriptions from joining, and their health checks.

import { mostOpen } from "../../../src/base/access.ts";
import type { MemberState, ProcedureState } from "../../console-state.ts";
import type { Host } from "../../../src/base/ports.ts";
import type { CallFigures } from "../../../src/base/ports/telemetry.ts";
import { anyUpstream, callsPath, paths, typesPath } from "../../../src/base/protocol.ts";
import { conditionOf, type Member, type Subject } from "../../../src/roles/pipeline/observer.ts";
import { fetchJson, fetchTypes } from "./fetch-json.ts";
import { MembersElsewhere } from "./members-elsewhere.ts";
import { otherGateways } from "./other-gateways.ts";
import type { Source } from "./source.ts";
import { gatewayPollMs, memberAnswerMs } from "../base/times.ts";

/** The details of a health check are for people, who don't read more. */
const maxAnswerBytes = 16_384;

type Checks = Readonly<Record<string, unknown>>;

export function gatewaySource(
  host: Host,
  { members, instance, directory }: Omit<Extract<Subject, { mode: "gateway" }>, "mode">,
): Source {
  const { clock } = host;
  const elsewhere = directory && new MembersElsewhere(directory);
  const others = otherGateways(host, members, instance);
  /** Members that only other gateways have: a directory says more of them than a node. */
  const strangers = (): readonly MemberState[] => {
    const listed = elsewhere?.without(members.all()) ?? [];
    const ids = new Set(listed.map(({ id }) => id));
    return [...listed, ...others.strangers.filter(({ id }) => !ids.has(id))];
  };
  const checks = new Map<string, Checks>();
  const calls = new Map<string, CallFigures>();
  let listed: { ids: string; procedures: readonly ProcedureState[] } | undefined;

  const poll = (): void => {
    const all = members.all();
    others.poll();
    const keep = <Answer>(answers: Map<string, Answer>, id: string, answer: Answer | undefined) =>
      answer === undefined ? answers.delete(id) : answers.set(id, answer);
    for (const answers of [checks, calls])
      for (const id of answers.keys())
        if (!all.some((member) => member.id === id)) answers.delete(id);
    for (const member of all) {
      void checksOf(host, member).then((answer) => keep(checks, member.id, answer));
      void callsOf(host, member).then((answer) => keep(calls, member.id, answer));
    }
  };

  return {
    mode: "gateway",
    members: () => [
      ...members.all().map((member): MemberState => {
        const { id, url, about, checked } = member;
        const answer = checks.get(id);
        const figures = calls.get(id);
        const gateways = others.of(member);
        return {
          id,
          url,
          ...(about?.name === undefined ? {} : { name: about.name }),
          ...(about === undefined
            ? { procedures: member.list.procedures }
            : { segments: about.segments }),
          state: conditionOf(member) === "ready" ? "ready" : "out",
          ...(checked === undefined ? {} : { checked: Math.round(clock.now() - checked) }),
          ...(answer === undefined ? {} : { checks: answer }),
          ...(figures === undefined ? {} : { calls: figures }),
          ...(gateways === undefined ? {} : { gateways }),
        };
      }),
      ...strangers(),
    ],
    procedures() {
      const all = members.all();
      const ids = all.map(({ id }) => id).join(" ");
      if (listed?.ids !== ids) listed = { ids, procedures: proceduresOf(all) };
      return listed.procedures;
    },
    async types(fqn, version) {
      const holder = holderOf(members.all(), fqn, version);
      if (holder === undefined) return undefined;
      return await fetchTypes({ clock, transport: holder.via }, typesPath, { fqn, version });
    },
    watch() {
      let cancel = (): void => {};
      const repeat = (): void => {
        poll();
        cancel = clock.after(gatewayPollMs, repeat);
      };
      repeat();
      const unwatch = elsewhere?.watch();
      return () => {
        cancel();
        unwatch?.();
      };
    },
  };
}

/** Two members may hold the same procedure in different segments, and with different access. */
function proceduresOf(members: readonly Member[]): readonly ProcedureState[] {
  const byKey = new Map<string, ProcedureState>();
  const described = new Set<string>();
  // Many members have the same list.
  for (const procedures of new Set(members.map(({ about }) => about?.procedures)))
    for (const procedure of procedures ?? []) {
      const key = `${procedure.fqn} ${procedure.version}`;
      described.add(procedure.fqn);
      const previous = byKey.get(key);
      const guard = procedure.guard ?? previous?.guard;
      byKey.set(key, {
        ...procedure,
        ...(guard !== undefined && { guard }),
        access: mostOpen([procedure.access, previous?.access ?? procedure.access]),
        segments: [...new Set([...(previous?.segments ?? []), ...procedure.segments])],
      });
    }
  const undescribed = members.filter(({ about }) => about === undefined);
  for (const { procedures } of new Set(undescribed.map(({ list }) => list)))
    for (const fqn of procedures) if (!described.has(fqn)) byKey.set(fqn, { fqn, segments: [] });
  return [...byKey.values()].toSorted((a, b) => (a.fqn < b.fqn ? -1 : a.fqn > b.fqn ? 1 : 0));
}

/** A member that runs a procedure, if possible one that gets calls. */
function holderOf(members: readonly Member[], fqn: string, version: string): Member | undefined {
  const holders = members.filter(({ about, list }) =>
    about === undefined
      ? list.procedures.includes(fqn)
      : about.procedures.some((each) => each.fqn === fqn && each.version === version),
  );
  return holders.find((member) => conditionOf(member) === "ready") ?? holders[0];
}

async function checksOf({ clock }: Host, { via }: Member): Promise<Checks | undefined> {
  const checks = await fetchJson(
    { clock, transport: via },
    {
      url: anyUpstream + paths.health,
      timeoutMs: memberAnswerMs,
      maxBytes: maxAnswerBytes,
    },
  );
  return typeof checks === "object" && checks !== null ? (checks as Checks) : undefined;
}

const figures = ["running", "limit", "medianMs", "oldestMs", "streams"] as const;

async function callsOf({ clock }: Host, { via }: Member): Promise<CallFigures | undefined> {
  const answer = (await fetchJson(
    { clock, transport: via },
    {
      url: anyUpstream + callsPath,
      timeoutMs: memberAnswerMs,
      maxBytes: maxAnswerBytes,
    },
  )) as Partial<Record<keyof CallFigures, unknown>> | null | undefined;
  const isNumber = (name: keyof CallFigures): boolean => Number.isFinite(answer?.[name]);
  return figures.every(isNumber) ? (answer as CallFigures) : undefined;
}
