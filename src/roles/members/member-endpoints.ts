// The gateway's endpoints for its members: join, renew, leave. They need the trust key.

import { BadRequest, Unauthorized } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import { answerHeaders, mediaTypes, paths } from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";
import type { Credentials } from "../../http/trust.ts";
import { type MemberDetails, readMemberDetails } from "./member-details.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { readRoutes } from "../routes/route-list.ts";
import { routeClash } from "./route-directory.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { Members } from "./members.ts";
import type { Observer } from "./observer.ts";

export interface MemberEndpointsOptions {
  readonly credentials: Credentials;
  readonly lease: number;
  /** Without an observer, the details that members send aren't kept. */
  readonly observer?: Observer | undefined;
}

/** For the names of some hundred thousand procedures, from a member that has shown the key. */
const maxJoinBytes = 16 * 1024 * 1024;

/** Longest URL of a member, in characters: no real one is longer. */
const maxUrlLength = 2_048;

export function memberRoutes(
  host: Host,
  options: MemberEndpointsOptions,
  members: Members,
  addresses: MemberAddresses,
): Route[] {
  const demandKey = (request: HttpRequest): void => {
    if (!options.credentials.of(request.headers).holdsKey)
      throw new Unauthorized("Joining needs the trust key of this deployment");
  };
  const find = (id: unknown) => members.all().find((entry) => entry.id === id);
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
        const { url, procedures, routes, about } = readJoin(await request.readBody(maxJoinBytes));
        await addresses.check(url);
        const others = members.all().filter((entry) => entry.url !== url);
        const clash = routeClash(
          routes,
          others.flatMap((entry) => entry.routes),
        );
        if (clash !== undefined) throw new BadRequest(clash);
        const { id } = members.join(
          url,
          procedures,
          options.observer === undefined ? undefined : about,
          routes,
        );
        const counts = [
          counted(procedures.length, "procedure"),
          ...(routes.length === 0 ? [] : [counted(routes.length, "route")]),
        ];
        host.log.info(`${url} joined with ${counts.join(" and ")}`);
        return {
          status: 201,
          headers: { "content-type": mediaTypes.json, ...answerHeaders },
          body: JSON.stringify({ id, lease: options.lease }),
        };
      },
    ],
    ["PUT", member, (request, { id }) => (demandKey(request), answer(members.renew(String(id))))],
    // Answers whether the member is still known, without renewing: a restarted gateway forgets
    // members.
    ["GET", member, (request, { id }) => (demandKey(request), answer(find(id) !== undefined))],
    [
      "DELETE",
      member,
      (request, { id }) => {
        demandKey(request);
        const leaving = find(id);
        if (leaving !== undefined) host.log.info(`${leaving.url} left`);
        return answer(members.leave(String(id)));
      },
    ],
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function readJoin(body: Uint8Array): {
  url: string;
  procedures: string[];
  routes: readonly RouteInfo[];
  about: MemberDetails | undefined;
} {
  const wrong = (what: string): BadRequest =>
    new BadRequest(`${what}; expected {"url": "http://…", "procedures": ["…"]}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw wrong("The body is not JSON");
  }
  const { url, procedures, routes, node } = (value ?? {}) as {
    url?: unknown;
    procedures?: unknown;
    routes?: unknown;
    node?: unknown;
  };
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== "" ||
    parsed.password !== "" ||
    /[?#]/.test(parsed.href)
  )
    throw wrong("'url' is not an http address");
  // Measure the normalized URL, which is kept: escaping makes nine characters out of some.
  if (parsed.href.length > maxUrlLength)
    throw wrong(`'url' is longer than ${maxUrlLength} characters`);
  if (
    !Array.isArray(procedures) ||
    !procedures.every((fqn) => typeof fqn === "string" && fqn !== "")
  )
    throw wrong("'procedures' is not a list of FQNs");
  return {
    url: parsed.href.replace(/\/+$/, ""),
    procedures: procedures as string[],
    routes: routes === undefined ? [] : readRoutes(routes),
    // Members of an older version don't send it.
    about: node === undefined ? undefined : readMemberDetails(node),
  };
}
