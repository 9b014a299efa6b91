// Lists a node's gateways. Gateways don't know each other, so the console of one of them asks a node, over the
// link that the node has dialled.

import { bounded } from "../../base/aborts.ts";
import { Unauthorized } from "../../base/errors.ts";
import type { Host } from "../../base/ports.ts";
import {
  anyUpstream,
  answerHeaders,
  gatewaysPath,
  mediaTypes,
  paths,
} from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { Route } from "../../http/router.ts";
import type { ListedMember } from "../members/member-endpoints.ts";
import type { Upstream } from "./upstream.ts";
import { answerMs } from "../common/times.ts";

/** A gateway as a node lists it. */
export interface ListedGateway {
  /** Its name at the node. */
  readonly url: string;
  /** The gateway's process, if the node knows it. */
  readonly instance?: string | undefined;
  /** Its members; missing if it doesn't answer. */
  readonly members?: readonly ListedMember[] | undefined;
}

/** The endpoint that lists a node's gateways, for those with the trust key. */
export function gatewayListEndpoint(
  { clock }: Pick<Host, "clock">,
  upstreams: () => readonly Upstream[],
): Route {
  const membersOf = async (upstream: Upstream): Promise<readonly ListedMember[] | undefined> => {
    try {
      const { status, body } = await bounded(
        undefined,
        clock,
        answerMs.members,
        () => new Error("no answer"),
        (signal) =>
          collected(
            upstream.send({
              url: anyUpstream + paths.nodes,
              method: "GET",
              headers: {},
              from: "key",
              signal,
              control: true,
            }),
          ),
      );
      if (status !== 200) return undefined;
      const { members } = JSON.parse(new TextDecoder().decode(body)) as { members?: unknown };
      return Array.isArray(members) ? (members as readonly ListedMember[]) : undefined;
    } catch {
      // Listed without members: it doesn't answer.
      return undefined;
    }
  };
  return [
    "GET",
    gatewaysPath,
    async (_, { holdsKey }) => {
      if (!holdsKey)
        throw new Unauthorized("The list of gateways needs the trust key of this deployment");
      const gateways = await Promise.all(
        upstreams().map(async (upstream): Promise<ListedGateway> => ({
          url: upstream.url,
          instance: upstream.instance,
          members: await membersOf(upstream),
        })),
      );
      return {
        status: 200,
        headers: { "content-type": mediaTypes.json, ...answerHeaders },
        body: JSON.stringify({ gateways }),
      };
    },
  ];
}
