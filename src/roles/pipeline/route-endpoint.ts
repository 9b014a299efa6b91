// Requests for routes: finds a request's route, and answers those that match none.

import type { HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { SeenRequest } from "../../base/ports/telemetry.ts";
import { answerHeaders, mediaTypes, rpcPath } from "../../base/protocol.ts";
import { withoutVersion } from "../../base/version.ts";
import type { RouteTable } from "../../http/route-table.ts";
import { decodeSegment, pathOf, refuseMethod } from "../../http/router.ts";
import type { Trust } from "../../http/trust.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import type { MiddlewareChain } from "./middleware-chain.ts";
import type { Receive } from "./receive.ts";

/** The application's routes. They change as members come and go. */
export type RoutesNow = () => RouteTable<RouteInfo>;

/** Answers requests for routes; `undefined` for all others. */
export function createRouteEndpoint(
  routes: RoutesNow,
  { chain, receive }: { readonly chain: MiddlewareChain; readonly receive: Receive },
): (request: HttpRequest, trust: Trust) => Promise<HttpResponse> | undefined {
  return (request, trust) => {
    const match = routes().match(request.method, request.target);
    if (match.kind === "none") return undefined;
    if (match.kind === "malformed") return Promise.resolve(plain(404, "File not found"));
    const fields = request.headers;
    if (isUpgrade(fields)) return Promise.resolve(plain(501, "Routes can't upgrade a connection"));
    const allowed = [...match.allowed, "OPTIONS"];
    const { cors } = chain;
    if (request.method === "OPTIONS") {
      const options: HttpResponse = {
        status: 204,
        headers: { allow: allowed.join(", "), ...answerHeaders },
      };
      return Promise.resolve(cors?.ontoPreflight(options, fields, match.allowed) ?? options);
    }
    if (match.kind === "other-method") {
      const refused = refuseMethod(allowed);
      return Promise.resolve(cors?.onto(refused, fields) ?? refused);
    }
    const { route: info, params } = match;
    if (request.notes !== undefined) request.notes.route = info;
    return receive(request, trust, { info, params });
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
  routes: RoutesNow | undefined,
): string | undefined {
  if (!target.startsWith(rpcPath)) {
    const match = routes?.().match(method, target);
    return match?.kind === "found" ? match.route.name : undefined;
  }
  try {
    const name = withoutVersion(decodeSegment(pathOf(target).slice(rpcPath.length)));
    return knows(name) ? name : undefined;
  } catch {
    // A malformed escape: the call is refused for it.
    return undefined;
  }
}
