// Runs a route of this node, in node and standalone alike.

import { Unauthorized } from "../../base/errors.ts";
import { compose } from "../../http/middleware.ts";
import type { HttpResponse } from "../../base/ports.ts";
import { headers } from "../../base/protocol.ts";
import { contextOfCall } from "../../runtime/call-context.ts";
import type { RouteRegistration, RouteRegistry } from "../../runtime/routes.ts";
import { callOf, type Exchange, refuseCrossSite } from "../../wire/exchange.ts";
import { withHeaders } from "../../http/answers.ts";
import type { CallRunnerParts } from "../run-call.ts";
import type { OpenAnswers } from "./open-answers.ts";
import type { RoutesPart } from "./route-endpoint.ts";
import {
  answerOf,
  applyHeaders,
  isResponse,
  webRequest,
  withMiddlewareHeaders,
} from "./web-messages.ts";

export interface RouteRunnerParts extends Pick<CallRunnerParts, "host" | "chain" | "name"> {
  /** Where modules are replaced while the service runs. */
  readonly openAnswers?: OpenAnswers | undefined;
}

export function createRouteRunner(registry: RouteRegistry, parts: RouteRunnerParts): RoutesPart {
  const { host, chain } = parts;
  const nodeHeader = parts.name === undefined ? undefined : { [headers.node]: parts.name };

  const run = async (exchange: Exchange, route: RouteRegistration): Promise<HttpResponse> => {
    const { params = {} } = exchange.route ?? {};
    const request = webRequest(exchange, route.bodyBytes);
    const call = callOf(exchange, new Map([["request", request]]));
    if (chain.around.length === 0)
      return answerOf(await registry.run(route, call, params, request), route.name, host.memory);
    const before = new Map(exchange.headers);
    let result: unknown;
    const invoke = compose(
      chain.around,
      async (inner) => {
        const given = inner.args.get("request");
        const received = given instanceof Request ? given : request;
        applyHeaders(received, before, inner.headers);
        result = await registry.run(route, inner, params, received);
        // Middleware relies on it.
        if (!isResponse(result)) answerOf(result, route.name, host.memory);
        return result;
      },
      host.log,
    );
    const value = await host.carrier.run(contextOfCall(call, host.clock), () => invoke(call));
    return withMiddlewareHeaders(
      answerOf(value, route.name, host.memory, value === result),
      exchange,
    );
  };

  return {
    table: () => registry.table,
    async answer(exchange) {
      const route = exchange.route?.info as RouteRegistration;
      if (route.access === "protected" && !exchange.trust.trusted) throw new Unauthorized();
      if (route.crossSite !== true) refuseCrossSite(exchange);
      const turn = exchange.turn();
      if (turn !== undefined) await turn;
      const answer = withHeaders(await run(exchange, route), nodeHeader);
      return parts.openAnswers?.follow(route, exchange, answer) ?? answer;
    },
  };
}
