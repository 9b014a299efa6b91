// The gateway's endpoints for its members: join, send a list, renew, leave. They need the trust key.

import { BadRequest, Forbidden, NodeNotAvailable, Unauthorized } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import {
  answerHeaders,
  listsPath,
  mediaTypes,
  paths,
  serviceHeaders,
} from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";
import type { Credentials } from "../../http/trust.ts";
import type { LinkMode } from "../links/service-links.ts";
import type { ListPart, Lists } from "./lists.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { MemberList } from "./member-list.ts";
import type { MemberDetails } from "./member-details.ts";
import { isReplaced, type Member, type Members } from "./members.ts";
import type { Observer } from "./observer.ts";
import { isDigest, type JoiningMember, readJoin } from "./read-join.ts";
import { routeClash } from "./route-directory.ts";

export interface MemberEndpointsOptions {
  readonly credentials: Credentials;
  readonly lease: number;
  /** The gateway's process. */
  readonly instance: string;
  /** Whether members may come over HTTP, unless it is `always` [auto]. */
  readonly link?: LinkMode | undefined;
  /** Hears of each member that has announced itself. */
  readonly joined: (member: Member) => void;
  /** Without an observer, the details that members send aren't kept. */
  readonly observer?: Observer | undefined;
}

/** A member as `GET /nodes` lists it. */
export interface ListedMember {
  readonly url: string;
  /** Its process. Members of an older version say none. */
  readonly instance?: string;
  readonly name?: string;
  /** How calls go to it. */
  readonly way: "link" | "http";
  readonly state: "ready" | "unhealthy" | "out";
  readonly procedures: number;
  readonly routes: number;
}

/** For the names of some hundred thousand procedures, from a member that has shown the key. */
const maxJoinBytes = 16 * 1024 * 1024;

/** A part of a list. Members send less, so that proxies in between take it. */
const maxPartBytes = 1024 * 1024;

export function memberRoutes(
  host: Host,
  options: MemberEndpointsOptions,
  members: Members,
  lists: Lists,
  addresses: MemberAddresses,
): Route[] {
  const demandKey = (request: HttpRequest): void => {
    if (!options.credentials.of(request).holdsKey)
      throw new Unauthorized("Joining needs the trust key of this deployment");
  };
  const answer = (isMember: boolean): HttpResponse => ({
    status: isMember ? 204 : 404,
    headers: answerHeaders,
  });
  const member = `${paths.nodes}/:id`;
  return [
    [
      "POST",
      paths.nodes,
      async (request) => {
        demandKey(request);
        const { via } = request;
        if (via === undefined && options.link === "always")
          throw new Forbidden(
            'This gateway takes members over links only (\'link\' is "always"): the node needs "link": "auto", and what is in between has to let upgrades at /svc/link pass',
          );
        const joining = readJoin(await request.readBody(maxJoinBytes));
        const { url, instance, revision, digest, offered } = joining;
        if (via !== undefined && instance !== via.instance)
          throw new BadRequest(
            `'instance' is ${instance ?? "missing"}, and the link is from ${via.instance}: a node joins over its own link`,
          );
        // Nothing is ever sent to the address of a member with a link.
        if (via === undefined) await addresses.check(url);
        else via.isAt(url);
        const list = digest === undefined ? lists.of(offered) : lists.find(digest);
        if (list === undefined) return unknownList(String(digest), lists);
        const clash = clashOf(members, list, joining);
        if (clash !== undefined) throw new BadRequest(clash);
        // Its link is over, and nothing would ever tell that this member is gone.
        if (request.departure?.aborted === true)
          throw new NodeNotAvailable("The node left before it had joined");
        const about = options.observer === undefined ? undefined : aboutOf(joining, list);
        const joined = members.join({ url, list, instance, revision, via, about });
        options.joined(joined);
        const counts = [
          counted(list.procedures.length, "callable procedure"),
          ...(list.routes.length === 0 ? [] : [counted(list.routes.length, "route")]),
        ];
        host.log.info(
          `${url} joined with ${counts.join(" and ")}${via === undefined ? "" : ", over a link"}`,
          { event: "joined", service: url },
        );
        return {
          status: 201,
          headers: {
            "content-type": mediaTypes.json,
            ...answerHeaders,
            [serviceHeaders.instance]: options.instance,
          },
          body: JSON.stringify({ id: joined.id, lease: options.lease }),
        };
      },
    ],
    [
      "GET",
      paths.nodes,
      (request) => {
        demandKey(request);
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
      async (request, { digest }) => {
        demandKey(request);
        if (!isDigest(digest))
          throw new BadRequest("The path ends in the list's SHA-256: 64 lower-case hex digits");
        const bytes = await request.readBody(maxPartBytes);
        const part = partOf(request, bytes);
        const received = lists.add(digest, part);
        return {
          status: received === part.total ? 201 : 202,
          headers: { "content-type": mediaTypes.json, ...answerHeaders },
          body: JSON.stringify({ received }),
        };
      },
    ],
    ["PUT", member, (request, { id }) => (demandKey(request), answer(members.renew(String(id))))],
    // Answers whether the member is still known, without renewing: a restarted gateway forgets
    // members.
    [
      "GET",
      member,
      (request, { id }) => (demandKey(request), answer(members.get(String(id)) !== undefined)),
    ],
    [
      "DELETE",
      member,
      (request, { id }) => {
        demandKey(request);
        const leaving = members.get(String(id));
        if (leaving !== undefined)
          host.log.info(`${leaving.url} left`, { event: "left", service: leaving.url });
        // Who leaves knows it.
        const isOwn = leaving?.via === request.via;
        return answer(isOwn ? members.leave(String(id)) : members.remove(String(id)));
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

/** Which bytes of a list a request brings: those that `content-range` says, or all. */
function partOf({ headers }: HttpRequest, bytes: Uint8Array): ListPart {
  const range = headers["content-range"];
  if (range === undefined) return { start: 0, total: bytes.length, bytes };
  const [, first, last, size] =
    /^bytes (\d{1,12})-(\d{1,12})\/(\d{1,12})$/.exec(String(range)) ?? [];
  const [start, end, total] = [Number(first), Number(last), Number(size)];
  if (first === undefined || end - start + 1 !== bytes.length || end >= total)
    throw new BadRequest(
      `'content-range' doesn't say which bytes of the list these ${bytes.length} are; expected 'bytes <first>-<last>/<length of the list>'`,
    );
  return { start, total, bytes };
}

/** Why the list's routes can't be in one deployment with those of the members that stay. */
function clashOf(
  members: Members,
  list: MemberList,
  joining: Pick<JoiningMember, "url" | "instance">,
): string | undefined {
  if (list.routes.length === 0) return undefined;
  const others = new Set<MemberList>();
  for (const member of members.all()) if (!isReplaced(member, joining)) others.add(member.list);
  // It was compared when the first of its members joined, and every later list with it.
  if (others.has(list)) return undefined;
  return routeClash(
    list.routes,
    [...others].flatMap(({ routes }) => routes),
  );
}

/** What a member says about itself: what its list says, with its own name. */
function aboutOf(
  { name, about }: JoiningMember,
  { details }: MemberList,
): MemberDetails | undefined {
  return about ?? (details && { ...(name !== undefined && { name }), ...details });
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function listed({ url, instance, via, about, isHealthy, vitals, list }: Member): ListedMember {
  return {
    url,
    ...(instance !== undefined && { instance }),
    ...(about?.name !== undefined && { name: about.name }),
    way: via === undefined ? "http" : "link",
    state: isHealthy ? (vitals.sign === "out" ? "out" : "ready") : "unhealthy",
    procedures: list.procedures.length,
    routes: list.routes.length,
  };
}
