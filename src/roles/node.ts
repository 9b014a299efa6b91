// Node (§1.3): runs the procedures of the segments it loads, and joins its gateway.

import { createPublicOrigin, type PublicOriginOptions } from "../public-origin.ts";
import type { LocalNode } from "../dispatch.ts";
import { entryOf, type Manifest } from "../manifest.ts";
import type { Host } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { createRemote } from "../wire/remote-call.ts";
import { createCallHere } from "./call-here.ts";
import {
  createServerNode,
  followClasses,
  loadSegments,
  registerAsTheyRun,
  type ServerModules,
} from "./load-node.ts";
import { aboutNode } from "./member-about.ts";
import { createMembership } from "./membership.ts";
import { createLayers, createRole, type Role } from "./role.ts";
import { noteAnsweredError } from "../refusals.ts";
import { createCredentials } from "../trust.ts";

export interface NodeOptions {
  readonly trustKey: string;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Where calls for other nodes go; without it this node is on its own. */
  readonly gateway: string | undefined;
  readonly modules: ServerModules;
  readonly segments: readonly string[];
  readonly name: string | undefined;
  /** Every caller is sent the stacks of errors: in development. */
  readonly stacks?: boolean;
}

/** What a node took over of another manifest, and what is left to do when all others have done as much. */
export interface Followed {
  /** Tells the gateway what is no longer to be sent here. */
  readonly leave: () => Promise<void>;
  /** Lets go of it, once nothing is on its way any more. */
  readonly drop: () => void;
}

export interface NodeRole extends Role {
  /**
   * Goes by the manifest that its modules have now: loads what `segments` bring, and the files among `fresh`, which are others than before,
   * and tells the gateway. No call fails: what left is still here until `drop`.
   */
  follow(segments: readonly string[], fresh: ReadonlySet<string>): Promise<Followed>;
  /** Tells the gateway of itself once more: it may be another one at the same address. */
  rejoin(): Promise<void>;
  /** Every call through a seam of this node. */
  readonly observe: LocalNode["observe"];
}

export function createNode(host: Host, options: NodeOptions): NodeRole {
  const { trustKey, limits, gateway, modules, stacks } = options;
  let { segments } = options;
  const credentials = createCredentials(trustKey, host);
  const classes = new Classes();
  registerAsTheyRun(classes, modules);
  const layers = createLayers();
  const remote =
    gateway === undefined
      ? undefined
      : createRemote({
          transport: host.transport,
          base: gateway,
          credential: credentials.fields("service"),
          classes,
          limits,
          clock: host.clock,
          onError: noteAnsweredError,
        });
  const node = createServerNode(host, modules, remote);
  /** What the gateway is told in place of what is here. */
  let staying: readonly string[] | undefined;
  const callable = (): readonly string[] => staying ?? node.registry.callable();
  const about = () => aboutNode(options.name, segments, node.registry.all());
  const membership =
    gateway === undefined ? undefined : createMembership(host, gateway, trustKey, callable, about);
  const role = createRole({
    host,
    credentials,
    web: createPublicOrigin(host.log, options.web),
    limits,
    classes,
    layers,
    ...(stacks && { stacks }),
    call: createCallHere({ host, node, layers, classes, limits, name: options.name }),
    async start() {
      await loadSegments(host, node, classes, options);
    },
    ...(membership && { join: async (url) => await membership.join(url) }),
    stop: async () => await membership?.leave(),
    describe: () => ({ segments, procedures: node.registry.all().length }),
    runProcedure: node.runProcedure,
  });
  return {
    ...role,
    observe: node.observe,
    rejoin: async () => await membership?.update(),
    async follow(next, fresh) {
      const manifest = await modules.manifest();
      const before = callable().join();
      const drop = await node.follow(manifest, next, fresh);
      await followClasses(host, classes, { modules, segments: next }, fresh);
      segments = next;
      if (callable().join() !== before) await membership?.update();
      return {
        async leave() {
          staying = callableIn(manifest, next);
          await membership?.update();
        },
        drop() {
          drop();
          staying = undefined;
        },
      };
    },
  };
}

/** FQNs that others may call through a node with these segments. */
function callableIn(manifest: Manifest, segments: readonly string[]): readonly string[] {
  const entries = segments
    .flatMap((name) => entryOf(manifest.segments, name) ?? [])
    .filter((entry) => entry.access !== "private");
  return [...new Set(entries.map((entry) => manifest.procedures[entry.procedure]?.fqn ?? ""))];
}
