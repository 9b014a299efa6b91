// Requests for routes: what every role checks before it runs the route or passes the request on.

import type { PathParameters } from "../../base/context.ts";
import type { HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { SeenRequest } from "../../base/ports/telemetry.ts";
import { answerHeaders, mediaTypes, rpcPath } from "../../base/protocol.ts";
import { noMemory } from "../../http/refusals.ts";
import { withoutRefusedHeader } from "../../http/relay-headers.ts";
import type { RouteTable } from "../../http/route-table.ts";
import { decodeSegment, pathOf, refuseMethod } from "../../http/router.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { Exchange } from "../../wire/exchange.ts";
import type { EndpointParts } from "../../wire/rpc-endpoint.ts";
import { Movement } from "./movement.ts";

/** The application's routes, as a role has them. */
export interface RoutesPart {
  /** Changes as members come and go. */
  readonly table: () => RouteTable<RouteInfo>;
  /** Runs the route or passes the request on. */
  readonly answer: (call: Exchange) => Promise<HttpResponse>;
}

export interface RouteEndpointParts extends EndpointParts {
  readonly routes: RoutesPart;
  /** Resolves when requests may run; rejects with the answer to those that can't. */
  readonly ready: () => Promise<void> | undefined;
}

/** Answers requests for routes; `undefined` for all others. */
export function createRouteEndpoint(
  parts: RouteEndpointParts,
): (request: HttpRequest) => Promise<HttpResponse> | undefined {
  const { host, web, limits, routes, masks, admission } = parts;

  const run = async (
    request: HttpRequest,
    info: RouteInfo,
    params: PathParameters,
  ): Promise<HttpResponse> => {
    if (request.notes !== undefined) request.notes.route = info;
    const cors = parts.cors();
    const trust = parts.credentials.of(request);
    let call: Exchange | undefined;
    let response: HttpResponse;
    const movement = new Movement(host.clock, limits, (isWaiting) =>
      isWaiting ? call?.awaitBody() : call?.resume(),
    );
    try {
      if (!host.memory.hasRoom()) throw noMemory();
      const route = { info, params };
      const encoding = "plain" as const;
      const options = { encoding, trust, web, cors, limits, route, masks, admission };
      const checked = new Exchange(movement.request(request), { ...options, clock: host.clock });
      call = checked;
      checked.enter();
      const expire = (error: Error): void => checked.expire(error);
      request.onCut = (reason) => movement.end(reason);
      response = await movement.untilHead(checked.deadline, expire, async () => {
        await parts.ready();
        return await routes.answer(checked);
      });
    } catch (thrown) {
      response = await parts.refuse(thrown, request, "plain", trust);
    }
    // What streams from now on holds a connection, which has a limit of its own.
    request.onCut = undefined;
    call?.end();
    if (call !== undefined) response = call.answered(response);
    if (!trust.member || trust.holdsKey) response = withoutRefusedHeader(response);
    return movement.response(cors?.onto(response, request.headers) ?? response);
  };

  return (request) => {
    const match = routes.table().match(request.method, request.target);
    if (match.kind === "none") return undefined;
    if (match.kind === "malformed") return Promise.resolve(plain(404, "File not found"));
    const fields = request.headers;
    if (isUpgrade(fields)) return Promise.resolve(plain(501, "Routes can't upgrade a connection"));
    const allowed = [...match.allowed, "OPTIONS"];
    const cors = parts.cors();
    if (request.method === "OPTIONS") {
      const answer: HttpResponse = {
        status: 204,
        headers: { allow: allowed.join(", "), ...answerHeaders },
      };
      return Promise.resolve(cors?.ontoPreflight(answer, fields, match.allowed) ?? answer);
    }
    if (match.kind === "other-method") {
      const refused = refuseMethod(allowed);
      return Promise.resolve(cors?.onto(refused, fields) ?? refused);
    }
    return run(request, match.route, match.params);
  };
}

function plain(status: number, body: string): HttpResponse {
  return { status, headers: { "content-type": mediaTypes.text, ...answerHeaders }, body };
}

function isUpgrade({ connection, upgrade }: HttpRequest["headers"]): boolean {
  return upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(String(connection));
}

/** The announced name of the procedure or route that a request is for. */
export function nameOf(
  { method, target }: SeenRequest,
  knows: (name: string) => boolean,
  routes: RoutesPart | undefined,
): string | undefined {
  if (!target.startsWith(rpcPath)) {
    const match = routes?.table().match(method, target);
    return match?.kind === "found" ? match.route.name : undefined;
  }
  try {
    const name = decodeSegment(pathOf(target).slice(rpcPath.length));
    return knows(name) ? name : undefined;
  } catch {
    // A malformed escape: the call is refused for it.
    return undefined;
  }
}
