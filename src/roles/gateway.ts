// Gateway (§1.3, §3): tracks nodes and their procedures, balances, and passes calls on as bytes.

import { createPublicOrigin, type PublicOriginOptions } from "../public-origin.ts";
import type { Console } from "../console/console.ts";
import { membersSource } from "../console/members-source.ts";
import { NodeNotAvailable } from "../errors.ts";
import { procedureNotFound } from "../registry.ts";
import {
  type Host,
  type IncomingResponse,
  isLocalFailure,
  TransportError,
  unsentOf,
} from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { createCredentials } from "../trust.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";
import { asItCame, failureOf, type Forwarded, noConnection, sendOn } from "./forward.ts";
import { throughLayers } from "./forward-layers.ts";
import { applicationOf, type ServerModules } from "./load-node.ts";
import { createMemberAddresses } from "./member-addresses.ts";
import { memberRoutes } from "./member-doors.ts";
import { createMembers, type Member } from "./members.ts";
import { createMonitor } from "./monitor.ts";
import { createLayers, createRole, type Role } from "./role.ts";

export interface GatewayOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Milliseconds between health checks of each member. */
  readonly monitor: number;
  /** Milliseconds that a membership lasts without being renewed (decisions §6). */
  readonly lease: number;
  readonly newId: () => string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
  /** Host names and ranges of addresses that members must be among [all]. */
  readonly members?: readonly string[] | undefined;
  /** Where `modules` come from: the one service besides members that is called. */
  readonly repository?: string | undefined;
  /** Where this gateway will listen; its start says it exactly. */
  readonly url?: string | undefined;
  /** Whether the application has a procedure for nodes: one that no member has any more is not found then, and not away. */
  readonly has?: (fqn: string) => boolean;
  /** Shows this service to people (docs/guide/console.md). */
  readonly console?: Console | undefined;
}

/** Members to which a call may fail for want of a connection: there may be one to the next, but not to a hundred. */
const mostShortages = 3;

export function createGateway(host: Host, options: GatewayOptions): Role {
  const addresses = createMemberAddresses(host.names, options);
  host.transport.guard?.(addresses.rule);
  const members = createMembers(host.clock, options.lease, options.newId);
  const layers = createLayers();
  const application = options.modules && applicationOf(options.modules, host);
  const classes = new Classes();
  const credentials = createCredentials(options.trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const parts = { host, credentials, web, limits: options.limits };
  const monitor = createMonitor(host, options.monitor, members);
  const { console: view } = options;

  /** Takes a member that takes no connections out of rotation, unless it only took its time and answers other calls. */
  const blame = (member: Member, failure: TransportError, begun: number): void => {
    if (unsentOf(failure) === "silent" && member.heard >= begun) return;
    host.log.warn(
      `${member.url} can't be reached; it gets no calls until it answers a health check again (${failure.message})`,
    );
    members.setOut(member, true);
  };

  const forward = async (call: IncomingCall, forwarded: Forwarded): Promise<IncomingResponse> => {
    const holders = members.holders(call.fqn);
    if (holders.kind === "never" || (holders.kind === "gone" && options.has?.(call.fqn) === false))
      throw procedureNotFound(call.fqn, call.version.toString());
    const tried = new Set<Member>();
    let shortages = 0;
    while (holders.kind === "some" && shortages < mostShortages) {
      const member = holders.next(tried);
      if (member === undefined) break;
      tried.add(member);
      const begun = host.clock.now();
      try {
        view?.observer?.sent(call.request, member.id);
        const answer = await sendOn(parts, member.url, call, forwarded);
        member.heard = host.clock.now();
        return answer;
      } catch (thrown) {
        // Nothing was sent, so the next one may have the call (R11).
        if (!(thrown instanceof TransportError) || thrown.sent) throw failureOf(thrown);
        if (isLocalFailure(thrown)) shortages++;
        else blame(member, thrown, begun);
      }
    }
    throw shortages > 0
      ? noConnection()
      : new NodeNotAvailable(`No node can take '${call.fqn}' now`);
  };

  return createRole({
    ...parts,
    classes,
    layers,
    call: async (call, refuse) =>
      await throughLayers(
        { ...parts, layers, application },
        call,
        await asItCame(call, options.limits),
        forward,
        refuse,
      ),
    routes: memberRoutes(host, { ...options, credentials }, members, addresses),
    async start(url) {
      addresses.listensAt(url);
      monitor.start();
    },
    stop: async () => monitor.stop(),
    describe: () => ({ members: members.all().map((member) => member.url) }),
    console: view && { console: view, source: membersSource(host, members) },
  });
}
