// Gateway (§1.3, §3): tracks nodes and their procedures, balances, and passes calls on as bytes.

import { createPublicOrigin, type PublicOriginOptions } from "../public-origin.ts";
import type { Console } from "../console/console.ts";
import { membersSource } from "../console/members-source.ts";
import { NodeNotAvailable } from "../errors.ts";
import { procedureNotFound } from "../registry.ts";
import { type Host, type IncomingResponse, TransportError } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { createCredentials } from "../trust.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";
import { asItCame, failureOf, type Forwarded, sendOn } from "./forward.ts";
import { throughLayers } from "./forward-layers.ts";
import { applicationOf, type ServerModules } from "./load-node.ts";
import { memberRoutes } from "./member-doors.ts";
import { createMembers } from "./members.ts";
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
  /** Whether the application has a procedure for nodes: one that no member has any more is not found then, and not away. */
  readonly has?: (fqn: string) => boolean;
  /** Shows this service to people (docs/guide/console.md). */
  readonly console?: Console | undefined;
}

export function createGateway(host: Host, options: GatewayOptions): Role {
  const members = createMembers(host.clock, options.lease, options.newId);
  const layers = createLayers();
  const application = options.modules && applicationOf(options.modules, host.clock);
  const classes = new Classes();
  const credentials = createCredentials(options.trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const parts = { host, credentials, web, limits: options.limits };
  const monitor = createMonitor(host, options.monitor, members);
  const { console: view } = options;

  const forward = async (call: IncomingCall, forwarded: Forwarded): Promise<IncomingResponse> => {
    const holders = members.holders(call.fqn);
    if (holders.kind === "never" || (holders.kind === "gone" && options.has?.(call.fqn) === false))
      throw procedureNotFound(call.fqn, call.version.toString());
    for (let tries = members.all().length; holders.kind === "some" && tries > 0; tries--) {
      const member = holders.next();
      if (member === undefined) break;
      try {
        view?.observer?.sent(call.request, member.id);
        return await sendOn(parts, member.url, call, forwarded);
      } catch (thrown) {
        // Nothing was sent: the member is gone for now, and the next one may have the call (R11).
        if (!(thrown instanceof TransportError) || thrown.sent) throw failureOf(thrown);
        host.log.warn(`${member.url} can't be reached; it gets no calls until it answers a health check again`);
        members.setOut(member, true);
      }
    }
    throw new NodeNotAvailable(`No node can take '${call.fqn}' now`);
  };

  return createRole({
    ...parts,
    classes,
    layers,
    call: async (call, refuse) =>
      await throughLayers({ ...parts, layers, application }, call, await asItCame(call, options.limits), forward, refuse),
    routes: memberRoutes(host, { ...options, credentials }, members),
    start: async () => monitor.start(),
    stop: async () => monitor.stop(),
    describe: () => ({ members: members.all().map((member) => member.url) }),
    console: view && { console: view, source: membersSource(host, members) },
  });
}
