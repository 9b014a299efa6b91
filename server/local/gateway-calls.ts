// Calls made by the gateway's middleware and health checks, in development and in the test kit. In production, one
// process runs them and the procedures. Here the gateway has its own modules, and the procedures that they call run
// on the nodes. Such calls bypass the gateway, or middleware would run around its own calls.

import { mostOpen } from "../../src/base/access.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import { createServerNode, loadSegments } from "../../src/roles/application/load-node.ts";
import { NodeNotAvailable } from "../../src/base/errors.ts";
import { procedureNotFound } from "../../src/base/fqn.ts";
import { procedureKey } from "../../src/base/fqn.ts";
import {
  type Access,
  defaultServerSegments,
  entryOf,
  type ServerManifest,
} from "../../src/base/manifest.ts";
import type { Host, Peer } from "../../src/base/ports.ts";
import { noteAnsweredError } from "../../src/http/refusals.ts";
import { Classes } from "../../src/codec/classes.ts";
import type { Limits } from "../../src/base/limits.ts";
import { callStates } from "../../src/wire/call-state.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import { streamOf } from "../../src/runtime/stream.ts";
import type { OutgoingCall, Remote } from "../../src/types/outgoing-call.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";

/** A node as the gateway's modules call it. */
export interface ProcedureHolder {
  readonly name: string;
  readonly url: string;
  /** `undefined` while it isn't running. */
  readonly role: Pick<Role, "runProcedure"> | undefined;
  /** By the procedure's FQN and version. */
  accessOf(key: string): Access | undefined;
}

export interface GatewayCalls {
  readonly modules: ServerModules;
  /** Sends requests to nodes. */
  readonly peer: Peer;
  readonly limits: Limits;
  /** A node that holds a procedure now. */
  readonly holder: (fqn: string, version: string) => ProcedureHolder | undefined;
}

/** The access of a procedure in these segments, by its key; `undefined` if none has it. */
export function accessIn(
  { segments, procedures }: Pick<ServerManifest, "segments" | "procedures">,
  names: readonly string[],
  key: string,
): Access | undefined {
  const entries = names
    .flatMap((name) => entryOf(segments, name) ?? [])
    .filter(({ procedure }) => {
      const { fqn = "", version = "" } = procedures[procedure] ?? {};
      return procedureKey(fqn, version) === key;
    });
  return entries.length === 0 ? undefined : mostOpen(entries.map(({ access }) => access));
}

/** Binds the gateway's modules, so that they can call procedures. */
export async function bindGatewayCalls(
  host: Host,
  { modules, peer, limits, holder }: GatewayCalls,
): Promise<void> {
  const classes = new Classes();
  const remoteTo = (base: string): Remote =>
    createRemote({
      transport: peer,
      base,
      from: "service",
      classes,
      limits,
      clock: host.clock,
      carrier: host.carrier,
      states: callStates,
      onError: noteAnsweredError,
    });
  const holderOf = async ({ fqn, version }: OutgoingCall): Promise<ProcedureHolder> => {
    const target = holder(fqn, version);
    if (target?.role?.runProcedure !== undefined) return target;
    if (!isForNodes(await modules.manifest(), procedureKey(fqn, version)))
      throw procedureNotFound(fqn, version);
    throw new NodeNotAvailable(`No node can take '${fqn}' now`);
  };
  const node = createServerNode(host, modules, {
    async call(call) {
      const { fqn, version, args, context } = call;
      const target = await holderOf(call);
      const runProcedure = target.role?.runProcedure;
      // In production, middleware may call private procedures of its own process. A request may not.
      if (runProcedure !== undefined && target.accessOf(procedureKey(fqn, version)) === "private")
        return {
          value: await runProcedure(fqn, version, Object.fromEntries(args), context),
          node: target.name,
        };
      return await remoteTo(target.url).call(call);
    },
    stream: (context, makeCall, onEnd) =>
      streamOf(async () => {
        const call = makeCall();
        const { url } = await holderOf(call);
        return remoteTo(url).stream(context, () => call, onEnd);
      }),
  });
  await loadSegments(host, node, classes, { modules, segments: [] });
}

function isForNodes(manifest: ServerManifest, key: string): boolean {
  const { segments, browserSegments } = manifest;
  return (
    accessIn(manifest, defaultServerSegments(Object.keys(segments), browserSegments), key) !==
    undefined
  );
}
