// Node: runs the procedures of the segments it loads, and joins its gateway.

import { anyUpstream } from "../base/protocol.ts";
import { callableIn } from "../base/access.ts";
import type { LocalNode } from "../runtime/dispatch.ts";
import type { Host } from "../base/ports.ts";
import type { Gateways } from "../base/ports/gateways.ts";
import { Classes } from "../codec/classes.ts";
import { callStates } from "../wire/call-state.ts";
import { createRemote } from "../wire/outgoing/remote-call.ts";
import type { ServerModules } from "./application/application.ts";
import {
  createServerNode,
  followClasses,
  loadSegments,
  loadSegmentsBehind,
  registerAsTheyRun,
} from "./application/load-node.ts";
import { typesEndpoint } from "./application/types-endpoint.ts";
import { knownNameEndpoint } from "./relay/removed-names.ts";
import { OpenAnswers } from "./runs/open-answers.ts";
import { timeLimits } from "./application/time-limits.ts";
import { createNodeAnnouncement } from "./directory/announce-node.ts";
import type { Directory } from "./directory/directory.ts";
import { describeMember } from "./members/member-details.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { ToldProxies } from "./members/told-proxies.ts";
import { createMembership } from "./members/membership.ts";
import { gatewayListEndpoint } from "./upstreams/gateway-list.ts";
import { idempotentNames } from "./upstreams/idempotent-names.ts";
import { gatewaysOf } from "./upstreams/listed-gateways.ts";
import { Upstreams } from "./upstreams/upstreams.ts";
import type { RefuseParts } from "./pipeline/refuse.ts";
import { createRole, type Role } from "./pipeline/role.ts";
import { createRunner } from "./runs/runner.ts";
import { createService, type ServiceOptions } from "./pipeline/service.ts";
import { noteAnsweredError } from "../http/refusals.ts";

export interface NodeOptions extends ServiceOptions {
  /** Where calls to other nodes go, and where this node is a member; without gateways, it is on its own. */
  readonly gateway: string | readonly string[] | Gateways | undefined;
  /** The directory in which this node announces itself. The host starts and stops it. */
  readonly directory?: Directory | undefined;
  readonly modules: ServerModules;
  readonly segments: readonly string[];
  readonly name: string | undefined;
  /**
   * Joins before the bodies of procedures are loaded, in development: the first call of one loads its
   * body, and the others follow.
   */
  readonly loadsBehind?: boolean;
  /** Send stacks to every caller, in development. */
  readonly stacks?: boolean;
  /** As in {@link RefuseParts}. */
  readonly onFailedCall?: RefuseParts["onFailedCall"];
}

/** The rest of a node's switch to another manifest, to be done once all other nodes have switched. */
export interface Followed {
  /** Tells the gateway not to send calls for removed procedures. */
  readonly leave: () => Promise<void>;
  /** Drops them, once no call to them is on its way. */
  readonly drop: () => void;
}

export interface NodeRole extends Role {
  /** Once it has started: resolves when all its procedures are loaded, and rejects if one can't be. */
  readonly loaded: () => Promise<void>;
  /**
   * Switches to the current manifest: loads new procedures of `segments`, loads files in `fresh`
   * again, and tells the gateway. No call fails, since removed procedures stay until `drop`. All has to
   * be {@link loaded}.
   */
  follow(segments: readonly string[], fresh: ReadonlySet<string>): Promise<Followed>;
  /** Joins again, over another link: there may be another gateway at the same address. */
  rejoin(): Promise<void>;
  /** Reports every call through a seam of this node. */
  readonly observe: LocalNode["observe"];
}

export function createNode(host: Host, options: NodeOptions): NodeRole {
  const { limits, gateway, modules, directory } = options;
  let { segments } = options;
  const service = createService(host, options);
  const classes = new Classes();
  registerAsTheyRun(classes, modules);
  const instance = directory?.instance ?? crypto.randomUUID();
  const links = new ServiceLinks({
    ...options,
    host,
    role: "node",
    instance,
    build: () => revision,
    proxies: {
      linked: (proxy) => proxies.linked(proxy),
      lost: (proxy) => proxies.lost(proxy),
    },
  });
  const repeatable = idempotentNames(() => modules.manifest());
  const upstreams =
    gateway === undefined
      ? undefined
      : new Upstreams({
          host,
          links,
          gateways: gatewaysOf(host, gateway),
          roles: ["gateway"],
          isIdempotent: repeatable.has,
          createMembership: ({ url, link }) =>
            createMembership({ host, gateway: url, link, offered, about }),
        });
  const remote =
    upstreams === undefined
      ? undefined
      : createRemote({
          transport: upstreams,
          base: anyUpstream,
          from: "service",
          classes,
          limits,
          clock: host.clock,
          carrier: host.carrier,
          states: callStates,
          onError: noteAnsweredError,
        });
  // Modules are only replaced where `onRun` is there.
  const openAnswers = modules.onRun === undefined ? undefined : new OpenAnswers(host.clock);
  const node = createServerNode(host, modules, remote, (run) => openAnswers?.replace(run));
  /** The revision of the build that it runs, if it is one. */
  let revision: string | undefined;
  /** The list that the gateway gets in place of all loaded procedures, while some are about to be dropped. */
  let staying: readonly string[] | undefined;
  let loaded: Promise<void> = Promise.resolve();
  const callable = (): readonly string[] => staying ?? node.registry.callable();
  const offered = () => {
    const routes = node.routes.callable;
    const procedures = callable();
    const known = new Set(procedures);
    const idempotent = node.registry.idempotent().filter((fqn) => known.has(fqn));
    const timeouts = timeLimits(node.registry.all().filter(({ record }) => known.has(record.fqn)));
    return {
      procedures,
      ...(revision !== undefined && { revision }),
      ...(idempotent.length > 0 && { idempotent }),
      ...(Object.keys(timeouts).length > 0 && { timeouts }),
      ...(routes.length > 0 && { routes }),
    };
  };
  const about = () => {
    const routes = node.routes.all();
    return describeMember(options.name, segments, node.registry.all(), routes);
  };
  const announcement =
    directory &&
    createNodeAnnouncement({
      host,
      directory,
      offered,
      about,
      isHealthy: () => role.isHealthy(),
    });
  const proxies = new ToldProxies({ host, list: offered });
  const update = async (): Promise<void> => {
    proxies.changed();
    await Promise.all([upstreams?.update(), announcement?.changed()]);
  };
  const role = createRole({
    ...service,
    classes,
    stacks: options.stacks,
    onFailedCall: options.onFailedCall,
    answer: createRunner({ ...service, node, classes, name: options.name, openAnswers }),
    routes: () => node.routes.table,
    endpoints: [
      knownNameEndpoint(modules),
      typesEndpoint(node),
      proxies.endpoint,
      gatewayListEndpoint(host, () => upstreams?.all ?? []),
    ],
    async start() {
      if (options.loadsBehind === true)
        ({ loaded } = await loadSegmentsBehind(host, node, classes, options));
      else await loadSegments(host, node, classes, options);
      // Where modules are replaced while it runs, all nodes have the same, whenever they have started.
      if (modules.onRun === undefined) ({ revision } = await modules.manifest());
      proxies.changed();
    },
    ...(upstreams && {
      async join(url) {
        await upstreams.start(url);
        await announcement?.begin(url);
      },
      leave: () => upstreams.leave(),
      stop() {
        upstreams.stop();
        announcement?.stop();
      },
    }),
    describe: () => ({
      segments,
      procedures: node.registry.size,
      routes: node.routes.callable,
      ways: upstreams?.ways ?? [],
    }),
    links,
    runProcedure: node.runProcedure,
    measured: {
      knows: (name) => node.registry.has(name),
      ...(upstreams && { figures: () => ({ resent: upstreams.resent }) }),
    },
  });
  return {
    ...role,
    loaded: () => loaded,
    observe: node.observe,
    rejoin: async () => await upstreams?.renew(),
    async follow(next, fresh) {
      const manifest = await modules.manifest();
      repeatable.changed();
      const before = JSON.stringify(offered());
      const [drop, closed] = await Promise.all([
        node.follow(manifest, next, fresh),
        Promise.allSettled([
          node.guards.load(manifest, next, fresh),
          node.checks.load(manifest, next, fresh),
        ]),
        node.routes.load(manifest, next, fresh),
      ]);
      const failed = closed.find((result) => result.status === "rejected");
      if (failed !== undefined) {
        // Procedures that need that guard, or these types, refuse their callers from now on.
        drop();
        throw failed.reason;
      }
      await followClasses(host, classes, { modules, segments: next }, fresh);
      segments = next;
      if (JSON.stringify(offered()) !== before) await update();
      return {
        async leave() {
          staying = callableIn(manifest, next);
          node.routes.drop();
          await update();
        },
        drop() {
          drop();
          staying = undefined;
        },
      };
    },
  };
}
