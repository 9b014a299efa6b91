// The gateway's endpoints for its members: join, send a list, leave. They come over links. Anyone with the
// trust key may list members.

import { BadRequest, Forbidden, NodeNotAvailable, Unauthorized } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse, LinkedPeer } from "../../base/ports.ts";
import { answerHeaders, listsPath, mediaTypes, paths } from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";
import type { Trust } from "../../http/trust.ts";
import { type Lists } from "./lists.ts";
import type { MemberList } from "./member-list.ts";
import type { MemberDetails } from "./member-details.ts";
import { conditionOf, type Member, type MemberCondition, type Members } from "./members.ts";
import { isDigest, type JoiningMember, readJoin } from "./read-join.ts";
import { routeClash } from "./route-directory.ts";
import { maxJoinBytes, maxListBytes } from "../common/limits.ts";

export interface MemberEndpointsOptions {
  /** Called for each member that has announced itself. */
  readonly joined: (member: Member) => void;
  /** Whether the details that members send are kept. */
  readonly keepsDetails: boolean;
}

/** A member as `GET /nodes` lists it. */
export interface ListedMember {
  readonly url: string;
  /** Its process. */
  readonly instance: string;
  readonly name?: string;
  readonly state: MemberCondition;
  readonly procedures: number;
  readonly routes: number;
}

export function memberRoutes(
  host: Pick<Host, "log">,
  options: MemberEndpointsOptions,
  members: Members,
  lists: Lists,
): Route[] {
  const demandKey = ({ holdsKey }: Trust): void => {
    if (!holdsKey) throw new Unauthorized("The members need the trust key of this deployment");
  };
  const memberOf = (request: HttpRequest, trust: Trust): LinkedPeer => {
    demandKey(trust);
    if (request.via === undefined)
      throw new Forbidden("Nodes join over links, which they dial at /svc/link");
    return request.via;
  };
  return [
    [
      "POST",
      paths.nodes,
      async (request, trust) => {
        const via = memberOf(request, trust);
        const joining = readJoin(await request.readBody(maxJoinBytes));
        const { url, revision, digest, offered } = joining;
        via.isAt(url);
        const list = digest === undefined ? lists.of(offered) : lists.find(digest);
        if (list === undefined) return unknownList(String(digest), lists);
        const clash = clashOf(members, list, via);
        if (clash !== undefined) throw new BadRequest(clash);
        // Its link is over, so nothing would ever remove this member.
        if (request.departure?.aborted === true)
          throw new NodeNotAvailable("The node left before it had joined");
        const about = options.keepsDetails ? aboutOf(joining, list) : undefined;
        const joined = members.join({ url, list, revision, via, about });
        options.joined(joined);
        const counts = [
          counted(list.procedures.length, "callable procedure"),
          ...(list.routes.length === 0 ? [] : [counted(list.routes.length, "route")]),
        ];
        host.log.info(`${url} joined with ${counts.join(" and ")}`, {
          event: "joined",
          service: url,
        });
        return { status: 201, headers: answerHeaders };
      },
    ],
    [
      "GET",
      paths.nodes,
      (_, trust) => {
        demandKey(trust);
        return {
          status: 200,
          headers: { "content-type": mediaTypes.json, ...answerHeaders },
          body: JSON.stringify({ members: members.all().map(listed) }),
        };
      },
    ],
    [
      "PUT",
      `${listsPath}/:digest`,
      async (request, trust, { digest }) => {
        memberOf(request, trust);
        if (!isDigest(digest))
          throw new BadRequest("The path ends in the list's SHA-256: 64 lower-case hex digits");
        await lists.receive(digest, () => request.readBody(maxListBytes));
        return { status: 201, headers: answerHeaders };
      },
    ],
    [
      "DELETE",
      paths.nodes,
      (request, trust) => {
        const url = members.leave(memberOf(request, trust))?.url;
        if (url !== undefined) host.log.info(`${url} left`, { event: "left", service: url });
        return { status: 204, headers: answerHeaders };
      },
    ],
  ];
}

/** The member sends the list and joins again, or joins again once another member has sent it. */
function unknownList(digest: string, lists: Lists): HttpResponse {
  const headers = { "content-type": mediaTypes.text, ...answerHeaders };
  return lists.shouldSend(digest)
    ? {
        status: 409,
        headers,
        body: `This gateway doesn't have the list ${digest}: send it with PUT ${listsPath}/${digest}, then join again`,
      }
    : {
        status: 409,
        headers: { ...headers, "retry-after": "1" },
        body: `Another member is sending the list ${digest}: join again in a moment`,
      };
}

/** Why the list's routes can't be in one deployment with those of the members that stay. */
function clashOf(members: Members, list: MemberList, via: LinkedPeer): string | undefined {
  if (list.routes.length === 0) return undefined;
  const others = new Set<MemberList>();
  for (const member of members.all())
    if (member.via.instance !== via.instance) others.add(member.list);
  // It was compared when the first of its members joined, and every later list with it.
  if (others.has(list)) return undefined;
  return routeClash(
    list.routes,
    [...others].flatMap(({ routes }) => routes),
  );
}

/** A member's description of itself: its list's, with its own name. */
function aboutOf(
  { name, about }: JoiningMember,
  { details }: MemberList,
): MemberDetails | undefined {
  return about ?? (details && { ...(name !== undefined && { name }), ...details });
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function listed(member: Member): ListedMember {
  const { url, via, about, list } = member;
  return {
    url,
    instance: via.instance,
    ...(about?.name !== undefined && { name: about.name }),
    state: conditionOf(member),
    procedures: list.procedures.length,
    routes: list.routes.length,
  };
}
