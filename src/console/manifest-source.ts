// What a service shows that has no members: a proxy the one behind it, a standalone itself.

import { bounded } from "../bounded.ts";
import { entryOf, type Access, type Manifest } from "../manifest.ts";
import type { Host } from "../ports.ts";
import { consolePath, serviceHeaders } from "../protocol.ts";
import type { LocalNode } from "../dispatch.ts";
import type { ConsoleSource } from "./console.ts";
import type { ConsoleState, MemberState, ProcedureState } from "./state.ts";

/** How often the service behind is asked while somebody looks, in ms. */
const interval = 3_000;

export interface BehindOptions {
  readonly trustKey: string | undefined;
  /** Gateway or node: where calls go. */
  readonly calls: string;
  /** What the application has, where it can be had. */
  readonly manifest:
    | (() => Promise<Manifest & { readonly clients: readonly string[] }>)
    | undefined;
}

/** What a proxy shows: the members of the gateway behind it, when that one has its console on; else what the build says, in one place. */
export function behindSource(
  host: Host,
  { trustKey, calls, manifest }: BehindOptions,
): ConsoleSource {
  let cancel = (): void => {};
  let looking = false;
  let members: readonly MemberState[] = [{ id: calls, url: calls, state: "ready" }];
  let procedures: readonly ProcedureState[] = [];

  const take = (found: readonly ProcedureState[]): void => {
    if (JSON.stringify(found) !== JSON.stringify(procedures)) procedures = found;
  };

  const round = async (): Promise<void> => {
    const state = trustKey === undefined ? undefined : await stateOf(host, calls, trustKey);
    if (state !== undefined) {
      ({ members } = state);
      take(state.procedures);
    } else {
      const known = await manifest?.().catch(() => undefined);
      if (known !== undefined) {
        const segments = Object.keys(known.segments).filter(
          (name) => !known.clients.includes(name),
        );
        members = [{ id: calls, url: calls, segments, state: "ready" }];
        take(proceduresOf(known, segments));
      }
    }
    if (looking) cancel = host.clock.after(interval, () => void round());
  };

  return {
    mode: "proxy",
    members: () => members,
    procedures: () => procedures,
    look() {
      looking = true;
      void round();
      return () => {
        looking = false;
        cancel();
      };
    },
  };
}

async function stateOf(
  host: Host,
  url: string,
  trustKey: string,
): Promise<ConsoleState | undefined> {
  try {
    const asked = {
      url: `${url}${consolePath}/state`,
      method: "GET",
      headers: { [serviceHeaders.trustKey]: trustKey },
      control: true,
    } as const;
    const { status, body } = await bounded(
      undefined,
      host.clock,
      interval,
      () => new Error("no answer"),
      (signal) => host.transport.send({ ...asked, signal }),
    );
    const state =
      status === 200
        ? (JSON.parse(new TextDecoder().decode(body)) as Partial<ConsoleState>)
        : undefined;
    return state?.format === 1 && Array.isArray(state.members) && Array.isArray(state.procedures)
      ? (state as ConsoleState)
      : undefined;
  } catch {
    // A node, or a gateway that is away or has no console: the build knows less, and is there.
    return undefined;
  }
}

function proceduresOf(manifest: Manifest, segments: readonly string[]): ProcedureState[] {
  const openness: Readonly<Record<Access, number>> = { private: 0, protected: 1, public: 2 };
  return manifest.procedures.flatMap(({ fqn, version, parameters }, index) => {
    const entries = segments.flatMap((segment) =>
      (entryOf(manifest.segments, segment) ?? [])
        .filter(({ procedure }) => procedure === index)
        .map(({ access }) => ({ segment, access })),
    );
    const [first, ...others] = entries.map(({ access }) => access);
    if (first === undefined) return [];
    const access = others.reduce(
      (one, other) => (openness[one] > openness[other] ? one : other),
      first,
    );
    return [{ fqn, version, access, segments: entries.map(({ segment }) => segment), parameters }];
  });
}

/** What a standalone shows: itself, and the calls of its procedures to each other. */
export function ownSource(
  node: LocalNode,
  name: string | undefined,
  segments: () => readonly string[],
): ConsoleSource {
  let procedures: readonly ProcedureState[] = [];
  return {
    mode: "standalone",
    name,
    members: () => [
      { id: here, ...(name === undefined ? {} : { name }), segments: segments(), state: "ready" },
    ],
    procedures() {
      const all = node.registry.all();
      if (procedures.length !== all.length)
        procedures = all.map(
          ({ record: { fqn, version, parameters }, access, segments: among }) => ({
            fqn,
            version,
            access,
            segments: among,
            parameters,
          }),
        );
      return procedures;
    },
    look: (local) => node.observe((call) => local(call, here)),
  };
}

/** Id of the one member of a standalone. */
const here = "here";
