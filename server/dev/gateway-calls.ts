// Calls that the gateway's middleware and health checks make. In one process of production these modules share the procedures' node; here the
// gateway has modules of its own, and what they call runs on the nodes that hold it. Not by the gateway itself: middleware would run round its own calls.

import { createServerNode, loadSegments, type ServerModules } from "../../src/roles/load-node.ts";
import { NodeNotAvailable } from "../../src/errors.ts";
import { procedureKey } from "../../src/fqn.ts";
import { entryOf, type ServerManifest } from "../../src/manifest.ts";
import type { Host } from "../../src/ports.ts";
import { noteAnsweredError } from "../../src/refusals.ts";
import { procedureNotFound } from "../../src/registry.ts";
import { Classes } from "../../src/serializer/classes.ts";
import type { Limits } from "../../src/serializer/limits.ts";
import { createCredentials } from "../../src/trust.ts";
import { createRemote } from "../../src/wire/remote-call.ts";
import type { ClusterNode } from "./cluster-node.ts";

export interface GatewayCalls {
  readonly modules: ServerModules;
  readonly trustKey: string;
  readonly limits: Limits;
  /** A node that holds a procedure now. */
  readonly holder: (fqn: string, version: string) => ClusterNode | undefined;
}

/** Binds the gateway's modules, so that they can call procedures. */
export async function bindGatewayCalls(
  host: Host,
  { modules, trustKey, limits, holder }: GatewayCalls,
): Promise<void> {
  const classes = new Classes();
  const credential = createCredentials(trustKey, host).fields("service");
  const node = createServerNode(host, modules, async (call) => {
    const { fqn, version, args, context } = call;
    const found = holder(fqn, version);
    if (found?.role?.runProcedure === undefined) {
      if (!isForNodes(await modules.manifest(), procedureKey(fqn, version)))
        throw procedureNotFound(fqn, version);
      throw new NodeNotAvailable(`No node can take '${fqn}' now`);
    }
    // One process of production lets its middleware call these as well, and no request would get in.
    if (found.accessOf(procedureKey(fqn, version)) === "private")
      return {
        value: await found.role.runProcedure(fqn, version, Object.fromEntries(args), context),
        node: found.name,
      };
    const { transport, clock } = host;
    return await createRemote({
      transport,
      base: found.url,
      credential,
      classes,
      limits,
      clock,
      onError: noteAnsweredError,
    })(call);
  });
  await loadSegments(host, node, classes, { modules, segments: [] });
}

function isForNodes({ segments, clients, procedures }: ServerManifest, key: string): boolean {
  return Object.keys(segments)
    .filter((name) => !clients.includes(name))
    .flatMap((name) => entryOf(segments, name) ?? [])
    .some(({ procedure }) => {
      const { fqn = "", version = "" } = procedures[procedure] ?? {};
      return procedureKey(fqn, version) === key;
    });
}
