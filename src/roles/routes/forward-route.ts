// Passes requests for routes on: gateway and proxy see their heads only, and bodies as they come.

import type { Content } from "../relay/attempt.ts";
import { announcesBody } from "../../http/bodies.ts";
import { compose } from "../../http/middleware.ts";
import type { HttpResponse, PeerResponse } from "../../base/ports.ts";
import { contextOfCall } from "../../runtime/call-context.ts";
import { callOf, type Exchange } from "../../wire/exchange.ts";
import { withHeaders } from "../../http/answers.ts";
import {
  endToEndHeaders,
  type ForwardMiddlewareParts,
  joined,
  relayAnswer,
} from "../relay/forward.ts";
import { answerOf, changedHeaders, webResponse } from "./web-messages.ts";

/** Forwards the request through the middleware, which may change headers and answer. */
export async function forwardRoute(
  { host, chain }: Pick<ForwardMiddlewareParts, "host" | "chain">,
  exchange: Exchange,
  send: (call: Exchange, forwarded: Content) => Promise<PeerResponse>,
): Promise<HttpResponse> {
  const { request } = exchange;
  const { method, target } = request;
  const body = announcesBody(request.headers) ? exchange.body : new Uint8Array();
  const received: Content = { method, target, body };
  if (chain.around.length === 0) return relayAnswer(await send(exchange, received), method);
  let relayed: HttpResponse | undefined;
  let response: Response | undefined;
  let stream: Response["body"] | undefined;
  const invoke = compose(
    chain.around,
    async (call) => {
      const headers = joined(endToEndHeaders(Object.fromEntries(call.headers), () => false));
      relayed = relayAnswer(await send(exchange, { ...received, headers }), method);
      response = webResponse(relayed);
      stream = response.body;
      return response;
    },
    host.log,
  );
  const call = callOf(exchange, new Map());
  const value = await host.carrier.run(contextOfCall(call, host.clock), () => invoke(call));
  // Bytes as they came, unless middleware has read or cloned them, or answers itself.
  const isUntouched = response?.bodyUsed === false && response.body === stream;
  const answer =
    value === response && response !== undefined && relayed !== undefined && isUntouched
      ? { ...relayed, headers: changedHeaders(relayed.headers, response) }
      : answerOf(value, exchange.fqn, host.memory, value === response);
  return withHeaders(answer, exchange.headers.over(answer.headers));
}
