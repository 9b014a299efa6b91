// The state of a proxy: the members of the gateway behind it if that has a console, otherwise the procedures of the
// application.

import type { ConsoleState, MemberState, ProcedureState } from "../../console-state.ts";
import { defaultServerSegments } from "../../../src/base/manifest.ts";
import type { Host, Peer } from "../../../src/base/ports.ts";
import {
  anyUpstream,
  consolePath,
  consoleTypesPath,
  typesPath,
} from "../../../src/base/protocol.ts";
import { proceduresIn, type Subject } from "../../../src/roles/pipeline/observer.ts";
import { fetchJson, fetchTypes } from "./fetch-json.ts";
import type { Source } from "./source.ts";
import { proxyPollMs } from "../base/times.ts";

export function proxySource(
  host: Host,
  { upstreams, manifest }: Extract<Subject, { mode: "proxy" }>,
): Source {
  const services = (segments?: readonly string[]): readonly MemberState[] =>
    upstreams.ways.map(({ to, isLinked }) => ({
      id: to,
      url: to,
      ...(segments !== undefined && { segments }),
      state: isLinked ? "ready" : "out",
    }));
  let members: readonly MemberState[] | undefined;
  let procedures: readonly ProcedureState[] = [];

  const setProcedures = (found: readonly ProcedureState[]): void => {
    if (JSON.stringify(found) !== JSON.stringify(procedures)) procedures = found;
  };

  const poll = async (): Promise<void> => {
    const state = await stateOf(host, upstreams);
    if (state !== undefined) {
      ({ members } = state);
      return setProcedures(state.procedures);
    }
    const application = await manifest?.().catch(() => undefined);
    if (application === undefined) return;
    const segments = defaultServerSegments(
      Object.keys(application.segments),
      application.browserSegments,
    );
    members = services(segments);
    setProcedures(proceduresIn(application, segments));
  };

  return {
    mode: "proxy",
    members: () => members ?? services(),
    procedures: () => procedures,
    async types(fqn, version) {
      const way = { clock: host.clock, transport: upstreams };
      const procedure = { fqn, version };
      return (
        (await fetchTypes(way, consoleTypesPath, procedure)) ??
        // A node, or a standalone whose console is off.
        (await fetchTypes(way, typesPath, procedure))
      );
    },
    watch() {
      let cancel: (() => void) | undefined = () => {};
      const repeat = async (): Promise<void> => {
        await poll();
        if (cancel !== undefined) cancel = host.clock.after(proxyPollMs, () => void repeat());
      };
      void repeat();
      return () => {
        cancel?.();
        cancel = undefined;
      };
    },
  };
}

/** `undefined` for a node, or a gateway that is down or without a console: then the manifest is used. */
async function stateOf({ clock }: Host, upstreams: Peer): Promise<ConsoleState | undefined> {
  const way = { clock, transport: upstreams };
  const state = (await fetchJson(way, {
    url: `${anyUpstream}${consolePath}/state`,
    timeoutMs: proxyPollMs,
  })) as Partial<ConsoleState> | null | undefined;
  return state?.format === 1 && Array.isArray(state.members) && Array.isArray(state.procedures)
    ? (state as ConsoleState)
    : undefined;
}
