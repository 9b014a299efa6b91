// Gateway: tracks nodes and their procedures, balances, and forwards calls as bytes.

import { FileNotFound, ProcedureNotFound } from "../base/errors.ts";
import { procedureNotFound } from "../base/fqn.ts";
import type { Host } from "../base/ports.ts";
import type { RoleFigures } from "../base/ports/telemetry.ts";
import { defaultGatheringMs, defaultHealthIntervalMs } from "../base/protocol.ts";
import { Classes } from "../codec/classes.ts";
import { mayBeRoute } from "../http/route-table.ts";
import { refusedStart } from "../http/refusals.ts";
import { pathOf } from "../http/router.ts";
import type { Exchange } from "../wire/exchange.ts";
import { applicationOf, type ServerModules } from "./application/application.ts";
import type { Directory } from "./directory/directory.ts";
import { memberRoutes } from "./members/member-endpoints.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { createLists } from "./members/lists.ts";
import { conditionOf, createMembers, type Member } from "./members/members.ts";
import { KnownBase } from "./relay/known-base.ts";
import { createDeployedNames } from "./relay/removed-names.ts";
import { ToldProxies } from "./members/told-proxies.ts";
import { createMonitor } from "./members/monitor.ts";
import type { Observer } from "./pipeline/observer.ts";
import { createRole, type Role } from "./pipeline/role.ts";
import { createService, type ServiceOptions } from "./pipeline/service.ts";
import type { Send } from "./relay/attempt.ts";
import { createPassOn, prepareMiddleware } from "./relay/pass-on.ts";
import { repeatableNames } from "./relay/repeatable.ts";
import { Resending } from "./resend/send-again.ts";
import { createSendToHolder } from "./relay/send-to-holder.ts";

export interface GatewayOptions extends ServiceOptions {
  /** Milliseconds between health checks of each member. @default 1000 */
  readonly healthIntervalMs?: number | undefined;
  /**
   * For this many milliseconds after the gateway's start, a procedure that no member has is
   * unavailable, and only then not found: nodes may still be joining. @default 3000
   */
  readonly gatheringMs?: number;
  readonly newId: () => string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
  /** The repository that `modules` come from: the only service besides members that the gateway calls. */
  readonly repository?: string | undefined;
  /**
   * Whether the application has a procedure, or a route, with this name for nodes. Other names aren't found, even
   * if members that had them have left or could still join.
   */
  readonly has?: (name: string, kind: "procedure" | "route") => boolean;
  /** In development: a suggestion for the name of an unknown procedure. */
  readonly meant?: (fqn: string) => string | undefined;
  readonly observer?: Observer | undefined;
  /** The directory of the whole deployment's nodes. The host starts and stops it. */
  readonly directory?: Directory | undefined;
}

export function createGateway(host: Host, options: GatewayOptions): Role {
  const { healthIntervalMs = defaultHealthIntervalMs } = options;
  const { gatheringMs = defaultGatheringMs, observer, directory } = options;
  const keepsDetails = observer !== undefined;
  const lists = createLists(host, { keepsDetails });
  const members = createMembers(options.newId, lists, () => proxies.changed());
  const application = options.modules && applicationOf(options.modules, host);
  const classes = application?.classes ?? new Classes();
  const repeatable = repeatableNames(members);
  // The gateway keeps the time limits itself: a call that it sends again gets its whole time again.
  const list = () => ({ routes: members.routes.current, idempotent: repeatable() });
  const proxies = new ToldProxies({ host, list });
  const instance = directory?.instance ?? crypto.randomUUID();
  const links = new ServiceLinks({
    ...options,
    host,
    role: "gateway",
    instance,
    proxies,
    onLost(via, why) {
      const url = members.leave(via)?.url;
      if (url !== undefined)
        host.log.warn(`${url} is gone with its link (${why})`, { event: "left", service: url });
    },
  });
  const repository =
    options.repository === undefined
      ? undefined
      : links.keptToRepository(options.repository, () => void base?.find());
  const base = repository && new KnownBase(host.clock, repository);
  const web = { ...options.web, ...(base && { base }) };
  const service = createService(host, { ...options, web });
  const monitor = createMonitor(host, healthIntervalMs, members);
  const resending = new Resending<Member>(host, members.all);
  const sendToHolder = createSendToHolder({ host, members, observer, resending });

  const isDeployed = createDeployedNames(host, members);
  let started = -Infinity;
  /** Until the directory has answered, nodes can't know about this gateway. */
  const canBeFound = (): boolean => directory === undefined || directory.listedAt !== undefined;
  const isGathering = (): boolean =>
    !canBeFound() ||
    host.clock.now() - Math.max(started, directory?.listedAt ?? started) < gatheringMs;
  const send: Send = (call, received) => {
    const holders = members.holders(call.fqn, call.route?.info);
    return holders.kind === "some"
      ? sendToHolder(call, received, holders)
      : refuseMissing(call, holders.kind === "gone");
  };
  const notFound = ({ fqn, version }: Exchange): ProcedureNotFound => {
    const error = procedureNotFound(fqn, version.toString());
    const meant = options.meant?.(fqn);
    return meant === undefined ? error : new ProcedureNotFound(`${error.message}; ${meant}`);
  };
  const refuseMissing = async (call: Exchange, isGone: boolean): Promise<never> => {
    const isRemoved =
      isGone &&
      options.has === undefined &&
      call.route === undefined &&
      !(await isDeployed(call.fqn));
    // Members that have it may be joining.
    const mayCome = (isGone || isGathering()) && !isRemoved;
    const kind = call.route === undefined ? "procedure" : "route";
    if (mayCome && options.has?.(call.fqn, kind) !== false) {
      const reason = isGathering() ? "starting" : "no-member";
      throw refusedStart(reason, `No node can take '${call.fqn}' now`);
    }
    throw kind === "procedure" ? notFound(call) : new FileNotFound();
  };

  return createRole({
    ...service,
    classes,
    answer: createPassOn({ ...service, application }, send),
    routes: () => members.routes.table,
    otherwise: (request, { member, relays }) => {
      // A proxy only asks for routes, and it remembers those of nodes that have yet to join again.
      // Others may ask for one of them, too.
      const { method, target } = request;
      const mayCome = member ? relays : isGathering() && options.has === undefined;
      if (!mayCome || !mayBeRoute(method, target)) return Promise.resolve(undefined);
      return Promise.reject(
        refusedStart("starting", `No node with a route for ${pathOf(target)} has joined`),
      );
    },
    endpoints: [
      ...memberRoutes(host, { keepsDetails, joined: monitor.joined }, members, lists),
      proxies.endpoint,
    ],
    async start() {
      started = host.clock.now();
      monitor.start();
      await repository?.start();
      await prepareMiddleware(service.chain);
    },
    isReady: canBeFound,
    stop: monitor.stop,
    describe: () => ({
      members: members.all().map((member) => member.url),
      routes: members.routes.table.all,
    }),
    links,
    takesPages: true,
    measured: {
      knows: (name) => members.holders(name).kind === "some",
      figures: () => ({ members: membersByState(members.all()), resent: resending.counts }),
    },
    observed: observer && {
      observer,
      subject: { mode: "gateway", members, instance, directory },
    },
  });
}

function membersByState(all: readonly Member[]): NonNullable<RoleFigures["members"]> {
  const states = { ready: 0, unhealthy: 0, silent: 0 };
  for (const member of all) states[conditionOf(member)]++;
  return states;
}
