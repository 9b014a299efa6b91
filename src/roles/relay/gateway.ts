// Gateway: tracks nodes and their procedures, balances, and forwards calls as bytes.

import { createPublicOrigin, type PublicOriginOptions } from "../../http/public-origin.ts";
import { FileNotFound, NodeNotAvailable } from "../../base/errors.ts";
import { procedureNotFound } from "../../base/fqn.ts";
import type { Host, PeerResponse } from "../../base/ports.ts";
import {
  defaultGatheringMs,
  defaultHealthIntervalMs,
  defaultLeaseMs,
} from "../../base/protocol.ts";
import { Classes } from "../../codec/classes.ts";
import type { ErrorVisibility } from "../../codec/error-mask.ts";
import type { Limits } from "../../codec/values/limits.ts";
import { reservedPaths } from "../../http/route-pattern.ts";
import { pathOf } from "../../http/router.ts";
import { createCredentials } from "../../http/trust.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { ForwardedRequest } from "./forward.ts";
import { forwardIncoming, prepareMiddleware } from "./forward-call.ts";
import { applicationOf, type ServerModules } from "../application.ts";
import { forwardRoute } from "../routes/forward-route.ts";
import { routeListEndpoint } from "../routes/route-list.ts";
import { createMemberAddresses } from "../members/member-addresses.ts";
import { memberRoutes } from "../members/member-endpoints.ts";
import { createLiveness } from "../members/liveness.ts";
import { createLists } from "../members/lists.ts";
import { createMembers } from "../members/members.ts";
import { createMonitor } from "../members/monitor.ts";
import type { Observer } from "../members/observer.ts";
import { createMiddlewareChain, createRole, type Role } from "../role.ts";
import { createSendToHolder } from "./send-to-holder.ts";

export interface GatewayOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** Milliseconds between health checks of each member. @default 5000 */
  readonly healthIntervalMs?: number;
  /**
   * For this many milliseconds after the gateway's start, a procedure that no member has is
   * unavailable, and only then not found: nodes may still be joining. @default 3000
   */
  readonly gatheringMs?: number;
  /** Milliseconds that a membership lasts without renewal. @default 15000 */
  readonly lease?: number;
  readonly newId: () => string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
  /** Host names and address ranges that members may have [all]. */
  readonly members?: readonly string[] | undefined;
  /** Where `modules` come from: the only service besides members that the gateway calls. */
  readonly repository?: string | undefined;
  /** Where this gateway will listen; `start` gets the exact URL. */
  readonly url?: string | undefined;
  /**
   * Whether the application has a procedure, or a route, with this name for nodes. What it doesn't
   * have isn't found, even if members that had it have left or could still join.
   */
  readonly has?: (name: string, kind: "procedure" | "route") => boolean;
  readonly observer?: Observer | undefined;
}

export function createGateway(host: Host, options: GatewayOptions): Role {
  const addresses = createMemberAddresses(host.names, options);
  host.transport.guard?.(addresses.rule);
  const {
    lease = defaultLeaseMs,
    healthIntervalMs = defaultHealthIntervalMs,
    gatheringMs = defaultGatheringMs,
  } = options;
  const { observer } = options;
  const lists = createLists(host, { keepsDetails: observer !== undefined });
  const members = createMembers(host.clock, lease, options.newId, lists, ({ url }) =>
    host.log.warn(`${url} didn't renew its lease, so it is no longer a member`),
  );
  const chain = createMiddlewareChain();
  const application = options.modules && applicationOf(options.modules, host);
  const classes = application?.classes ?? new Classes();
  const credentials = createCredentials(options.trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const parts = { host, credentials, web, limits: options.limits };
  const liveness = createLiveness(host, members.all, members.setSign);
  const monitor = createMonitor(host, healthIntervalMs, members, liveness);
  const sendToHolder = createSendToHolder({ ...parts, members, liveness, observer });
  const middleware = { chain, application, ...parts };

  let started = -Infinity;
  const forward = (call: IncomingCall, received: ForwardedRequest): Promise<PeerResponse> => {
    const holders = members.holders(call.fqn, call.route?.info);
    if (holders.kind === "some") return sendToHolder(call, received, holders);
    // Those who have it may be joining.
    const mayCome = holders.kind === "gone" || host.clock.now() - started < gatheringMs;
    const kind = call.route === undefined ? "procedure" : "route";
    throw mayCome && options.has?.(call.fqn, kind) !== false
      ? new NodeNotAvailable(`No node can take '${call.fqn}' now`)
      : kind === "procedure"
        ? procedureNotFound(call.fqn, call.version.toString())
        : new FileNotFound();
  };

  return createRole({
    ...parts,
    classes,
    errors: options.errors,
    chain,
    call: (call, refuse) => forwardIncoming(middleware, call, forward, refuse),
    application: {
      table: () => members.routes.table,
      answer: async (call) => await forwardRoute({ host, chain }, call, forward),
    },
    otherwise: (request) => {
      // A proxy only asks for routes, and it remembers those of nodes that have yet to join again.
      const { member, holdsKey } = credentials.of(request.headers);
      const path = pathOf(request.target);
      const isOwn = reservedPaths.includes(path.split("/", 2)[1] ?? "");
      if (!member || holdsKey || isOwn) return Promise.resolve(undefined);
      return Promise.reject(new NodeNotAvailable(`No node with a route for ${path} has joined`));
    },
    routes: [
      ...memberRoutes(host, { ...options, lease, credentials }, members, lists, addresses),
      routeListEndpoint(host, credentials, () => ({ routes: members.routes.current })),
    ],
    async start(url) {
      addresses.listensAt(url);
      started = host.clock.now();
      monitor.start();
      await prepareMiddleware(chain);
    },
    stop() {
      monitor.stop();
      liveness.stop();
    },
    describe: () => ({
      members: members.all().map((member) => member.url),
      routes: members.routes.table.all,
    }),
    observed: observer && { observer, subject: { mode: "gateway", members } },
  });
}
