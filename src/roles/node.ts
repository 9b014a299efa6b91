// Node (§1.3): runs the procedures of the segments it loads, and joins its gateway.

import type { Host } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { createRemote } from "../wire/remote-call.ts";
import { createCallHere } from "./call-here.ts";
import { createServerNode, loadSegments, type ServerModules } from "./load-node.ts";
import { aboutNode } from "./member-about.ts";
import { createMembership } from "./membership.ts";
import { createLayers, createRole, type Role } from "./role.ts";

export interface NodeOptions {
  readonly trustKey: string;
  readonly limits: Limits;
  /** Where calls for other nodes go; without it this node is on its own. */
  readonly gateway: string | undefined;
  readonly modules: ServerModules;
  readonly segments: readonly string[];
  readonly name: string | undefined;
}

export function createNode(host: Host, options: NodeOptions): Role {
  const { trustKey, limits, gateway, modules } = options;
  const classes = new Classes();
  const layers = createLayers();
  const remote =
    gateway === undefined
      ? undefined
      : createRemote({ transport: host.transport, base: gateway, trustKey, classes, limits, clock: host.clock });
  const node = createServerNode(host, modules, remote);
  const callable = (): string[] => node.registry.callable();
  const about = () => aboutNode(options.name, options.segments, node.registry.all());
  const membership = gateway === undefined ? undefined : createMembership(host, gateway, trustKey, callable, about);
  return createRole({
    host,
    trustKey,
    limits,
    classes,
    layers,
    call: createCallHere({ host, node, layers, classes, limits, name: options.name }),
    async start(url) {
      await loadSegments(host, node, classes, options);
      await membership?.join(url);
    },
    stop: async () => await membership?.leave(),
    describe: () => ({ segments: options.segments, procedures: node.registry.all().length }),
    runProcedure: node.runProcedure,
  });
}
