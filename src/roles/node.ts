// Node: runs the procedures of the segments it loads, and joins its gateway.

import { createPublicOrigin, type PublicOriginOptions } from "../http/public-origin.ts";
import { callableIn } from "../base/access.ts";
import type { LocalNode } from "../runtime/dispatch.ts";
import type { Host } from "../base/ports.ts";
import { Classes } from "../codec/classes.ts";
import type { ErrorVisibility } from "../codec/error-mask.ts";
import type { Limits } from "../codec/values/limits.ts";
import { callStates } from "../wire/call-state.ts";
import { createRemote } from "../wire/outgoing/remote-call.ts";
import { createCallRunner } from "./run-call.ts";
import type { ServerModules } from "./application.ts";
import { createServerNode, followClasses, loadSegments, registerAsTheyRun } from "./load-node.ts";
import { routeListEndpoint } from "./routes/route-list.ts";
import { createRouteRunner } from "./routes/run-route.ts";
import { timeLimits } from "./time-limits.ts";
import { describeNode, isDescribable } from "./members/member-details.ts";
import { createMembership } from "./members/membership.ts";
import { createMiddlewareChain, createRole, type Role, type RoleParts } from "./role.ts";
import { noteAnsweredError } from "../http/refusals.ts";
import { createCredentials } from "../http/trust.ts";

export interface NodeOptions {
  readonly trustKey: string;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** Takes calls to other nodes; without it this node is on its own. */
  readonly gateway: string | undefined;
  readonly modules: ServerModules;
  readonly segments: readonly string[];
  readonly name: string | undefined;
  /** Send stacks to every caller, in development. */
  readonly stacks?: boolean;
  /** As in {@link RoleParts}. */
  readonly onFailedCall?: RoleParts["onFailedCall"];
}

/**
 * What is left to do after a node's switch to another manifest, once all other nodes have switched.
 */
export interface Followed {
  /** Tells the gateway not to send calls for removed procedures. */
  readonly leave: () => Promise<void>;
  /** Drops them, once no call to them is on its way. */
  readonly drop: () => void;
}

export interface NodeRole extends Role {
  /**
   * Switches to the current manifest: loads new procedures of `segments`, loads files in `fresh`
   * again, and tells the gateway. No call fails, since removed procedures stay until `drop`.
   */
  follow(segments: readonly string[], fresh: ReadonlySet<string>): Promise<Followed>;
  /** Joins again: there may be another gateway at the same address. */
  rejoin(): Promise<void>;
  /** Reports every call through a seam of this node. */
  readonly observe: LocalNode["observe"];
}

export function createNode(host: Host, options: NodeOptions): NodeRole {
  const { trustKey, limits, gateway, modules, stacks } = options;
  let { segments } = options;
  const credentials = createCredentials(trustKey, host);
  const classes = new Classes();
  registerAsTheyRun(classes, modules);
  const chain = createMiddlewareChain();
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
          states: callStates,
          onError: noteAnsweredError,
        });
  const node = createServerNode(host, modules, remote);
  /** Sent to the gateway instead of all loaded procedures, while some are about to be dropped. */
  let staying: readonly string[] | undefined;
  const callable = (): readonly string[] => staying ?? node.registry.callable();
  const offered = () => {
    const routes = node.routes.callable;
    const procedures = callable();
    const known = new Set(procedures);
    const idempotent = node.registry.idempotent().filter((fqn) => known.has(fqn));
    const timeouts = timeLimits(node.registry.all().filter(({ record }) => known.has(record.fqn)));
    return {
      procedures,
      ...(idempotent.length > 0 && { idempotent }),
      ...(Object.keys(timeouts).length > 0 && { timeouts }),
      ...(routes.length > 0 && { routes }),
    };
  };
  const about = () => {
    const routes = node.routes.all();
    return isDescribable(node.registry.size + routes.length)
      ? describeNode(options.name, segments, node.registry.all(), routes)
      : undefined;
  };
  const membership =
    gateway === undefined ? undefined : createMembership(host, gateway, trustKey, offered, about);
  const role = createRole({
    host,
    credentials,
    web: createPublicOrigin(host.log, options.web),
    limits,
    classes,
    chain,
    ...(stacks && { stacks }),
    errors: options.errors,
    onFailedCall: options.onFailedCall,
    call: createCallRunner({ host, node, chain, classes, limits, name: options.name }),
    application: createRouteRunner(node.routes, { host, chain, name: options.name }),
    routes: [
      routeListEndpoint(host, credentials, () => ({
        routes: node.routes.callable,
        timeouts: timeLimits(node.registry.all()),
      })),
    ],
    async start() {
      await loadSegments(host, node, classes, options);
    },
    ...(membership && { join: async (url) => await membership.join(url) }),
    leave: membership?.leave,
    describe: () => ({
      segments,
      procedures: node.registry.size,
      routes: node.routes.callable,
    }),
    runProcedure: node.runProcedure,
  });
  return {
    ...role,
    observe: node.observe,
    rejoin: async () => await membership?.update(),
    async follow(next, fresh) {
      const manifest = await modules.manifest();
      const before = JSON.stringify(offered());
      const [drop] = await Promise.all([
        node.follow(manifest, next, fresh),
        node.routes.load(manifest, next, fresh),
      ]);
      await followClasses(host, classes, { modules, segments: next }, fresh);
      segments = next;
      if (JSON.stringify(offered()) !== before) await membership?.update();
      return {
        async leave() {
          staying = callableIn(manifest, next);
          node.routes.drop();
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
