// Gateway: tracks nodes and their procedures, balances, and forwards calls as bytes.

import { createPublicOrigin, type PublicOriginOptions } from "../../http/public-origin.ts";
import { FileNotFound, NodeNotAvailable } from "../../base/errors.ts";
import { procedureNotFound } from "../../base/fqn.ts";
import {
  type Host,
  isLocalFailure,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { defaultHealthIntervalMs, defaultLeaseMs } from "../../base/protocol.ts";
import { Classes } from "../../codec/classes.ts";
import type { ErrorVisibility } from "../../codec/error-mask.ts";
import type { Limits } from "../../codec/values/limits.ts";
import { reservedPaths } from "../../http/route-pattern.ts";
import { pathOf } from "../../http/router.ts";
import { createCredentials } from "../../http/trust.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import {
  forwardingError,
  type ForwardedRequest,
  watchedBody,
  noConnection,
  sendForwarded,
  withoutItsSettings,
} from "./forward.ts";
import { forwardIncoming, prepareMiddleware } from "./forward-call.ts";
import { applicationOf, type ServerModules } from "../application.ts";
import { forwardRoute } from "../routes/forward-route.ts";
import { routeListEndpoint } from "../routes/route-list.ts";
import { createMemberAddresses } from "../members/member-addresses.ts";
import { memberRoutes } from "../members/member-endpoints.ts";
import { createMembers, type Member } from "../members/members.ts";
import { createMonitor } from "../members/monitor.ts";
import type { Observer } from "../members/observer.ts";
import { createMiddlewareChain, createRole, type Role } from "../role.ts";

export interface GatewayOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** Milliseconds between health checks of each member. @default 5000 */
  readonly healthIntervalMs?: number;
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
   * Whether the application still has a procedure for nodes. If it doesn't, a procedure whose
   * members have all left isn't found, instead of unavailable.
   */
  readonly has?: (fqn: string) => boolean;
  readonly observer?: Observer | undefined;
}

/**
 * Try this many members when connections run out: the next may have one left, but not a hundredth.
 */
const maxShortages = 3;

export function createGateway(host: Host, options: GatewayOptions): Role {
  const addresses = createMemberAddresses(host.names, options);
  host.transport.guard?.(addresses.rule);
  const { lease = defaultLeaseMs, healthIntervalMs = defaultHealthIntervalMs } = options;
  const members = createMembers(host.clock, lease, options.newId);
  const chain = createMiddlewareChain();
  const application = options.modules && applicationOf(options.modules, host);
  const classes = application?.classes ?? new Classes();
  const credentials = createCredentials(options.trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const parts = { host, credentials, web, limits: options.limits };
  const monitor = createMonitor(host, healthIntervalMs, members);
  const { observer } = options;
  const middleware = { chain, application, ...parts };

  /**
   * Takes a member out of rotation that can't be reached, unless it is only slow and answers other
   * calls.
   */
  const eject = (member: Member, failure: TransportError, started: number): void => {
    if (unsentOf(failure) === "silent" && member.heard >= started) return;
    host.log.warn(
      `${member.url} can't be reached; it gets no calls until it answers a health check again (${failure.message})`,
    );
    members.setOut(member, true);
  };

  const forward = async (call: IncomingCall, received: ForwardedRequest): Promise<PeerResponse> => {
    const holders = members.holders(call.fqn, call.route?.info);
    if (holders.kind === "never" || (holders.kind === "gone" && options.has?.(call.fqn) === false))
      throw call.route === undefined
        ? procedureNotFound(call.fqn, call.version.toString())
        : new FileNotFound();
    const [forwarded, hasBegun] = watchedBody(received);
    const tried = new Set<Member>();
    let shortages = 0;
    while (holders.kind === "some" && shortages < maxShortages) {
      const member = holders.next(tried);
      if (member === undefined) break;
      tried.add(member);
      const started = host.clock.now();
      try {
        observer?.calls?.sent(call.request, member.id);
        const answer = await sendForwarded(parts, member.url, call, forwarded);
        member.heard = host.clock.now();
        return withoutItsSettings(call, answer);
      } catch (thrown) {
        // If nothing was sent, the next member can take the call.
        if (!(thrown instanceof TransportError) || thrown.sent || hasBegun())
          throw forwardingError(thrown);
        if (isLocalFailure(thrown)) shortages++;
        else eject(member, thrown, started);
      }
    }
    throw shortages > 0
      ? noConnection()
      : new NodeNotAvailable(`No node can take '${call.fqn}' now`);
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
      ...memberRoutes(host, { ...options, lease, credentials }, members, addresses),
      routeListEndpoint(host, credentials, () => members.routes.current),
    ],
    async start(url) {
      addresses.listensAt(url);
      monitor.start();
      await prepareMiddleware(chain);
    },
    stop: async () => monitor.stop(),
    describe: () => ({
      members: members.all().map((member) => member.url),
      routes: members.routes.table.all,
    }),
    observed: observer && { observer, subject: { mode: "gateway", members } },
  });
}
