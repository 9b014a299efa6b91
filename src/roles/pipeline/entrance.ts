// Requests enter here: determines their senders' rights and the base of their targets, and starts their notes.

import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import { below, redirectToBase } from "../../http/base-path.ts";
import { discard } from "../../http/bodies.ts";
import type { PublicOrigin } from "../../http/public-origin.ts";
import { isOwnPath } from "../../http/router.ts";
import type { Credentials, Trust } from "../../http/trust.ts";
import type { RoutesNow } from "./route-endpoint.ts";
import type { Table } from "./table.ts";

export interface EntranceParts {
  readonly host: Pick<Host, "telemetry">;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  /** The routes of the application. */
  readonly routes?: RoutesNow | undefined;
  readonly table: Table;
}

export interface Entrance {
  /** Answers any request; never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /**
   * The same in a server that answers other requests, too: `undefined` for a request that isn't for an endpoint,
   * route or file of this service.
   */
  find(request: HttpRequest): Promise<HttpResponse | undefined>;
  /** Whether a path of the runtime or a route answers for a target, whatever the method. */
  isTaken(target: string): boolean;
}

type Respond<Answer> = (request: HttpRequest, trust: Trust) => Promise<Answer>;

export function createEntrance(parts: EntranceParts): Entrance {
  const { credentials, web, table, routes } = parts;
  const { telemetry } = parts.host;

  const noted = <Answer extends HttpResponse | undefined>(respond: Respond<Answer>) =>
    telemetry === undefined
      ? respond
      : (request: HttpRequest, trust: Trust) =>
          telemetry.request(request, (known) => respond(known, trust));
  const answer = noted(table.answer);

  const findFile = noted(async (request, trust) => {
    const found = await table.find(request, trust);
    if (found === undefined || !table.isMisdirected(request, trust)) return found;
    discard(found.body);
    return await table.refuse(web.misdirected(request), request, trust);
  });

  const isTakenBelow = (target: string): boolean =>
    isOwnPath(target) || routes?.().match("OPTIONS", target).kind === "other-method";

  const find: Respond<HttpResponse | undefined> = async (request, trust) => {
    const { method, target } = request;
    if (isTakenBelow(target)) return await answer(request, trust);
    return method === "GET" || method === "HEAD" ? await findFile(request, trust) : undefined;
  };

  /** Takes the base off a request from outside. Members have already done so. */
  const enter = <Answer>(
    request: HttpRequest,
    respond: Respond<Answer>,
    trust: Trust = credentials.of(request),
  ): Promise<Answer | HttpResponse> => {
    const { path } = web.base;
    if (path === "" || trust.relays) return respond(request, trust);
    if (path === undefined) {
      // Our own paths don't depend on the base, so calls don't wait for it.
      if (isOwnPath(request.target)) return respond(request, trust);
      const isKnown = (): boolean => web.base.path !== undefined;
      return web.base
        .find()
        .then(() => (isKnown() ? enter(request, respond, trust) : respond(request, trust)));
    }
    const redirect = redirectToBase(path, request.target);
    if (redirect !== undefined) return Promise.resolve(redirect);
    request.target = below(path, request.target);
    return respond(request, trust);
  };

  return {
    handle: (request) => enter(request, answer),
    find: (request) => enter(request, find),
    isTaken: (target) => isTakenBelow(below(web.base.path ?? "", target)),
  };
}
