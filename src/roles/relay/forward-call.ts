// How gateway and proxy pass a call on: as bytes, or through the middleware if there is any.

import type { Content } from "./attempt.ts";
import type { HttpResponse, PeerResponse } from "../../base/ports.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { MiddlewareChain } from "../middleware-chain.ts";
import {
  type ForwardMiddlewareParts,
  readForwardedBody,
  relayAnswer,
  wholeAnswer,
} from "./forward.ts";

type Through = typeof import("./forward-middleware.ts");
/** With the code that reads and writes values, which a service without middleware doesn't need. */
let through: Through | undefined;

/** Loads what calls through this middleware need, so that the first of them doesn't wait for it. */
export async function prepareMiddleware({ around }: MiddlewareChain): Promise<void> {
  if (around.length > 0) through ??= await import("./forward-middleware.ts");
}

/** Passes a call on, through the middleware if there is any. */
export async function forwardIncoming(
  parts: ForwardMiddlewareParts,
  exchange: Exchange,
  send: (call: Exchange, forwarded: Content<Uint8Array>) => Promise<PeerResponse>,
): Promise<HttpResponse> {
  const { method, target } = exchange.request;
  const reading = readForwardedBody(exchange, parts.limits);
  let body: Uint8Array;
  if (reading instanceof Uint8Array) body = reading;
  else {
    exchange.awaitBody();
    body = await reading;
    exchange.enter();
  }
  const received: Content<Uint8Array> = { method, target, body };
  if (parts.chain.around.length === 0) {
    const head = await send(exchange, received);
    // The console shows errors, which are small.
    return relayAnswer(head.status < 400 ? head : await wholeAnswer(head));
  }
  through ??= await import("./forward-middleware.ts");
  return await through.forwardThroughMiddleware(parts, exchange, received, send);
}
