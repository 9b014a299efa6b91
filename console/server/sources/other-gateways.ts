// The deployment's other gateways, for a gateway's console. Nodes that are members of several gateways report them.

import type { Host } from "../../../src/base/ports.ts";
import { anyUpstream, gatewaysPath } from "../../../src/base/protocol.ts";
import type { MemberState } from "../../console-state.ts";
import type {
  ListedGateway,
  ListedMember,
  Member,
  Members,
} from "../../../src/roles/pipeline/observer.ts";
import { fetchJson } from "./fetch-json.ts";
import { keptMs, otherAnswerMs } from "../base/times.ts";

export interface OtherGateways {
  /** Asks one of the members, each time another one. */
  poll(): void;
  /** The gateways that have a member; `undefined` if no other gateway is known. */
  of(member: Pick<Member, "via">): readonly string[] | undefined;
  /** Members that only others have. */
  readonly strangers: readonly MemberState[];
}

const maxAnswerBytes = 16 * 1024 * 1024;

interface Seen extends ListedGateway {
  readonly members: readonly ListedMember[];
  readonly at: number;
}

export function otherGateways(
  { clock }: Pick<Host, "clock">,
  members: Pick<Members, "all">,
  instance: string,
): OtherGateways {
  let turn = 0;
  let own = "this gateway";
  const seen = new Map<string, Seen>();

  const current = (): readonly Seen[] => {
    for (const [name, { at }] of seen) if (clock.now() - at > keptMs) seen.delete(name);
    return [...seen.values()];
  };
  const note = (gateways: readonly ListedGateway[]): void => {
    for (const gateway of gateways) {
      if (gateway.instance === instance) own = gateway.url;
      else if (gateway.members !== undefined)
        seen.set(gateway.url, { ...gateway, members: gateway.members, at: clock.now() });
    }
  };
  const having = (process: string): readonly string[] =>
    current().flatMap(({ url, members: listed }) =>
      listed.some((member) => member.instance === process) ? [url] : [],
    );

  return {
    poll() {
      const all = members.all();
      const asked = all[turn++ % all.length];
      if (asked === undefined) return;
      void fetchJson(
        { clock, transport: asked.via },
        {
          url: anyUpstream + gatewaysPath,
          timeoutMs: otherAnswerMs,
          maxBytes: maxAnswerBytes,
        },
      ).then((answer) => note(gatewaysIn(answer)));
    },
    of: (member) =>
      current().length === 0 ? undefined : [own, ...having(member.via.instance)].toSorted(),
    get strangers() {
      const here = new Set(members.all().map(({ via }) => via.instance));
      const all = new Map<string, ListedMember>();
      for (const { members: listed } of current())
        for (const member of listed)
          if (!here.has(member.instance)) all.set(member.instance, member);
      return [...all.values()].map((member): MemberState => ({
        id: member.instance,
        url: member.url,
        ...(member.name !== undefined && { name: member.name }),
        state: member.state === "ready" ? "ready" : "out",
        gateways: having(member.instance),
        isElsewhere: true,
      }));
    },
  };
}

/** The entries of an answer that are valid gateways. */
function gatewaysIn(answer: unknown): readonly ListedGateway[] {
  const { gateways } = (answer ?? {}) as { gateways?: unknown };
  return Array.isArray(gateways) ? gateways.filter(isGateway) : [];
}

function isGateway(value: unknown): value is ListedGateway {
  const { url, members = [] } = (value ?? {}) as Partial<Record<keyof ListedGateway, unknown>>;
  return typeof url === "string" && Array.isArray(members) && members.every(isMember);
}

function isMember(value: unknown): value is ListedMember {
  const {
    url,
    instance,
    name = "",
  } = (value ?? {}) as Partial<Record<keyof ListedMember, unknown>>;
  return typeof url === "string" && typeof instance === "string" && typeof name === "string";
}
