// The gateway's endpoints for its members: join, send a list, renew, leave. They need the trust key.

import { BadRequest, Unauthorized } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import { answerHeaders, listsPath, mediaTypes, paths } from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";
import type { Credentials } from "../../http/trust.ts";
import type { ListPart, Lists } from "./lists.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { MemberList } from "./member-list.ts";
import type { MemberDetails } from "./member-details.ts";
import type { Members } from "./members.ts";
import type { Observer } from "./observer.ts";
import { isDigest, type JoiningMember, readJoin } from "./read-join.ts";
import { routeClash } from "./route-directory.ts";

export interface MemberEndpointsOptions {
  readonly credentials: Credentials;
  readonly lease: number;
  /** Without an observer, the details that members send aren't kept. */
  readonly observer?: Observer | undefined;
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
    if (!options.credentials.of(request.headers).holdsKey)
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
        const joining = readJoin(await request.readBody(maxJoinBytes));
        const { url, instance, digest, offered } = joining;
        await addresses.check(url);
        const list = digest === undefined ? lists.of(offered) : lists.find(digest);
        if (list === undefined) return unknownList(String(digest), lists);
        const clash = clashOf(members, list, url);
        if (clash !== undefined) throw new BadRequest(clash);
        const about = options.observer === undefined ? undefined : aboutOf(joining, list);
        const { id } = members.join({ url, list, instance, about });
        const counts = [
          counted(list.procedures.length, "procedure"),
          ...(list.routes.length === 0 ? [] : [counted(list.routes.length, "route")]),
        ];
        host.log.info(`${url} joined with ${counts.join(" and ")}`);
        return {
          status: 201,
          headers: { "content-type": mediaTypes.json, ...answerHeaders },
          body: JSON.stringify({ id, lease: options.lease }),
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
        if (leaving !== undefined) host.log.info(`${leaving.url} left`);
        return answer(members.leave(String(id)));
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

/** Why the list's routes can't be in one deployment with those of members at other addresses. */
function clashOf(members: Members, list: MemberList, url: string): string | undefined {
  if (list.routes.length === 0) return undefined;
  const others = new Set<MemberList>();
  for (const member of members.all()) if (member.url !== url) others.add(member.list);
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
