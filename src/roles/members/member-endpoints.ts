// The gateway's endpoints for its members: join, renew, leave. They need the trust key.

import { BadRequest, Unauthorized } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import { answerHeaders, mediaTypes, paths } from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";
import type { Credentials } from "../../http/trust.ts";
import { readMemberDetails } from "./member-details.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { readRoutes, readTimeouts } from "../routes/route-list.ts";
import { routeClash } from "./route-directory.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { Joining, Members } from "./members.ts";
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
        const joining = readJoin(await request.readBody(maxJoinBytes));
        const { url, procedures, routes } = joining;
        await addresses.check(url);
        const others = members.all().filter((entry) => entry.url !== url);
        const clash = routeClash(
          routes,
          others.flatMap((entry) => entry.routes),
        );
        if (clash !== undefined) throw new BadRequest(clash);
        const about = options.observer === undefined ? undefined : joining.about;
        const { id } = members.join(Object.assign(joining, { about }));
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

function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function readJoin(body: Uint8Array): Joining & { readonly routes: readonly RouteInfo[] } {
  const wrong = (what: string): BadRequest =>
    new BadRequest(`${what}; expected {"url": "http://…", "procedures": ["…"]}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw wrong("The body is not JSON");
  }
  const { url, procedures, idempotent, timeouts, routes, instance, node } = (value ??
    {}) as Readonly<Record<string, unknown>>;
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
  if (!areNames(procedures)) throw wrong("'procedures' is not a list of FQNs");
  // Members of an older version send none of them.
  if (idempotent !== undefined && !areNames(idempotent))
    throw wrong("'idempotent' is not a list of FQNs");
  if (instance !== undefined && !(typeof instance === "string" && /^[\w-]{1,64}$/.test(instance)))
    throw wrong("'instance' is not an id of at most 64 letters, digits and dashes");
  return {
    url: parsed.href.replace(/\/+$/, ""),
    procedures,
    idempotent: idempotent ?? [],
    timeouts: readTimeouts(timeouts),
    instance,
    routes: routes === undefined ? [] : readRoutes(routes),
    // Members of an older version don't send it.
    about: node === undefined ? undefined : readMemberDetails(node),
  };
}
