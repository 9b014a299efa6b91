// How gateway and proxy pass a call on: as bytes, or through the middleware if there is any.

import type { HttpResponse, PeerResponse } from "../../base/ports.ts";
import { isCors } from "../../http/cors.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { MiddlewareChain } from "../role.ts";
import {
  type ForwardedCall,
  type ForwardMiddlewareParts,
  readForwardedBody,
  relayAnswer,
  wholeAnswer,
} from "./forward.ts";

type Through = typeof import("./forward-middleware.ts");
/** With the code that reads and writes values, which a service without middleware doesn't need. */
let through: Through | undefined;

/** Loads what calls through this middleware need, so that the first of them doesn't wait for it. */
export async function prepareMiddleware({ list }: MiddlewareChain): Promise<void> {
  if (!list.every(isCors)) through ??= await import("./forward-middleware.ts");
}

/** Passes a call on, through the middleware if there is any. */
export async function forwardIncoming(
  parts: ForwardMiddlewareParts,
  incoming: IncomingCall,
  send: (call: IncomingCall, forwarded: ForwardedCall) => Promise<PeerResponse>,
  refuse: (thrown: unknown) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { method, target } = incoming.request;
  const reading = readForwardedBody(incoming, parts.limits);
  let body: Uint8Array;
  if (reading instanceof Uint8Array) body = reading;
  else {
    incoming.awaitBody();
    body = await reading;
    incoming.enter();
  }
  const received: ForwardedCall = { method, target, body };
  // The RPC endpoint handles CORS, which doesn't look at arguments or results.
  if (parts.chain.list.every(isCors)) {
    const head = await send(incoming, received);
    // The console shows errors, which are small.
    return relayAnswer(head.status < 400 ? head : await wholeAnswer(head));
  }
  through ??= await import("./forward-middleware.ts");
  return await through.forwardThroughMiddleware(parts, incoming, received, send, refuse);
}
