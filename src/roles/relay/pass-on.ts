// Passes requests on, in gateway and proxy: calls with their whole bodies, requests for routes with streams.
// Through the middleware, if there is any.

import { announcesBody } from "../../http/bodies.ts";
import { bodyLimit, bodyTypeOf } from "../../wire/body-type.ts";
import type { MiddlewareChain } from "../pipeline/middleware-chain.ts";
import type { Answering } from "../pipeline/receive.ts";
import type { Content, Send } from "./attempt.ts";
import { type PassOnParts, relayAnswer, wholeAnswer } from "./forward.ts";

type Through = typeof import("./through-middleware.ts");
/** Includes the code that reads and writes values, which a service without middleware doesn't need. */
let through: Through | undefined;

/** Loads the code that calls through this middleware need, so that the first of them doesn't wait for it. */
export async function prepareMiddleware({ isEmpty }: MiddlewareChain): Promise<void> {
  if (!isEmpty) through ??= await import("./through-middleware.ts");
}

/** Answers exchanges by passing them on with `send`. */
export function createPassOn(parts: PassOnParts, send: Send): Answering {
  const passCall: Answering = async (exchange) => {
    const { method, target, headers } = exchange.request;
    let body = noBytes;
    if (method !== "GET") {
      const limit = bodyLimit(bodyTypeOf(headers), parts.limits);
      const receiving = exchange.receiveBody(limit, (whole) => {
        body = whole;
      });
      if (receiving !== undefined) await receiving;
    }
    const content: Content<Uint8Array> = { method, target, body };
    if (!parts.chain.isEmpty) {
      through ??= await import("./through-middleware.ts");
      return await through.passCall(parts, exchange, content, send);
    }
    const answer = await send(exchange, content);
    // The console shows errors of calls, which are small.
    return relayAnswer(answer.status >= 400 ? await wholeAnswer(answer) : answer, method);
  };
  const passRoute: Answering = async (exchange) => {
    const { method, target, headers } = exchange.request;
    const body = announcesBody(headers) ? exchange.body : noBytes;
    const content: Content = { method, target, body };
    if (!parts.chain.isEmpty) {
      through ??= await import("./through-middleware.ts");
      return await through.passRoute(parts, exchange, content, send);
    }
    return relayAnswer(await send(exchange, content), method);
  };
  return (exchange, refuse) =>
    exchange.route === undefined ? passCall(exchange, refuse) : passRoute(exchange, refuse);
}

const noBytes: Uint8Array = new Uint8Array();
