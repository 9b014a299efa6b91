// Gateway (§1.3, §3): tracks nodes and their procedures, balances, and passes calls on as bytes.

import { NodeNotAvailable } from "../errors.ts";
import { procedureNotFound } from "../registry.ts";
import { type Host, type IncomingResponse, TransportError } from "../ports.ts";
import { paths } from "../protocol.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";
import { asItCame, failureOf, type Forwarded, sendOn } from "./forward.ts";
import { throughLayers } from "./forward-layers.ts";
import { applicationOf, type ServerModules } from "./load-node.ts";
import { memberRoutes } from "./member-doors.ts";
import { createMembers, type Member, type Members } from "./members.ts";
import { createLayers, createRole, type Role } from "./role.ts";

export interface GatewayOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  /** Milliseconds between health checks of each member. */
  readonly monitor: number;
  /** Milliseconds that a membership lasts without being renewed (decisions §6). */
  readonly lease: number;
  readonly newId: () => string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
}

/** How long a member may take to say whether it is healthy: less ejects healthy ones under load (reliability, baselines). */
const checkTime = 1000;

/** Silence is no report of being unhealthy: so many times in a row it counts as one (reliability, baselines). */
const mostSilences = 2;

export function createGateway(host: Host, options: GatewayOptions): Role {
  const members = createMembers(host.clock, options.lease, options.newId);
  const layers = createLayers();
  const application = options.modules && applicationOf(options.modules);
  const classes = new Classes();
  const parts = { host, trustKey: options.trustKey, limits: options.limits };
  let cancelMonitor = (): void => {};
  let stopped = false;

  const forward = async (call: IncomingCall, forwarded: Forwarded): Promise<IncomingResponse> => {
    const holders = members.holders(call.fqn);
    if (holders.kind === "never") throw procedureNotFound(call.fqn, call.version.toString());
    for (let tries = members.all().length; holders.kind === "some" && tries > 0; tries--) {
      const member = holders.next();
      if (member === undefined) break;
      try {
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
    routes: memberRoutes(host, options, members),
    start: async () => {
      const check = (): void => {
        // A check that was under way when the gateway stopped must not begin the next one.
        if (!stopped) cancelMonitor = host.clock.after(options.monitor, () => void checkAll(host, options, members).finally(check));
      };
      check();
    },
    stop: async () => {
      stopped = true;
      cancelMonitor();
    },
    describe: () => ({ members: members.all().map((member) => member.url) }),
  });
}

async function checkAll(host: Host, options: GatewayOptions, members: Members): Promise<void> {
  await Promise.all(
    members.all().map(async (member) => {
      const said = await askHealth(host, member);
      member.silences = said === "nothing" ? member.silences + 1 : 0;
      if (said === "nothing" && member.silences < mostSilences) return;
      const healthy = said === "healthy";
      if (healthy === !member.out) return;
      host.log.info(healthy ? `${member.url} is healthy again` : `${member.url} is unhealthy: it gets no calls`);
      members.setOut(member, !healthy);
    }),
  );
}

async function askHealth(host: Host, member: Member): Promise<"healthy" | "unhealthy" | "nothing"> {
  const abort = new AbortController();
  const cancel = host.clock.after(checkTime, () => abort.abort(new Error(`no answer in ${checkTime} ms`)));
  try {
    const answer = await host.transport.send({ url: member.url + paths.healthStatus, method: "GET", headers: {}, signal: abort.signal });
    return answer.status === 200 && new TextDecoder().decode(answer.body) === "true" ? "healthy" : "unhealthy";
  } catch (thrown) {
    // A refused connection is an answer of its own: nobody is there.
    return thrown instanceof TransportError && !thrown.sent ? "unhealthy" : "nothing";
  } finally {
    cancel();
  }
}
