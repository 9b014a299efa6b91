// The first steps of every call and request for a route, in all roles: reads and checks its head, once; gives it a
// place among the running ones; and enforces its time limit. Then the role runs it or passes it on.

import { DeadlineExceeded, RequestTimeout } from "../../base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../base/ports.ts";
import { callMethods, policyHeader, rpcHeaders } from "../../base/protocol.ts";
import { withCallVary, withHeaders } from "../../http/answers.ts";
import { methodNotAllowed, noMemory } from "../../http/refusals.ts";
import { withoutRefusedHeader } from "../../http/relay-headers.ts";
import type { Trust } from "../../http/trust.ts";
import type { MatchedRoute } from "../../runtime/routes.ts";
import type { Admission } from "../../wire/admission.ts";
import { type Encoding, readEncoding } from "../../wire/encoding.ts";
import { isStream, wantsStream } from "../../wire/event-stream.ts";
import type { OpenStreams } from "../../wire/open-streams.ts";
import { Exchange } from "../../wire/exchange.ts";
import type { Life } from "./life.ts";
import type { Refuse } from "./refuse.ts";
import { Movement } from "./movement.ts";
import type { Service } from "./service.ts";

export interface ReceiveParts extends Omit<Service, "credentials"> {
  /** Errors aren't masked, in development. */
  readonly stacks: boolean | undefined;
  readonly admission: Admission;
  readonly streams: OpenStreams;
  /** Exchanges wait until calls may run. */
  readonly life: Pick<Life, "mayRun">;
  readonly answer: Answering;
  readonly refuse: Refuse;
}

/**
 * Runs an exchange, or passes it on. Its answer counts, whether it resolves or rejects. `refuse` is for an error after
 * the head of the answer.
 */
export type Answering = (exchange: Exchange, refuse: Refuse) => Promise<HttpResponse>;

/**
 * Answers a call, or a request for the `route` that it matches, from a sender with the rights `trust`. Never
 * rejects.
 */
export type Receive = (
  request: HttpRequest,
  trust: Trust,
  route?: MatchedRoute,
) => Promise<HttpResponse>;

export function createReceive(parts: ReceiveParts): Receive {
  const { host, web, limits, admission, streams, life, answer } = parts;
  const { clock } = host;
  const masks = parts.errors === "masked" && parts.stacks !== true;
  // Not async, like the rest of a call's way where possible: each promise costs a call 0.1 µs, as contexts
  // are carried across all of them.
  return (request, trust, route) => {
    const { cors } = parts.chain;
    let encoding: Encoding = "plain";
    let exchange: Exchange | undefined;
    // Only bodies of routes stream.
    const movement = route && new Movement(clock, limits.idleTimeoutMs, () => exchange);
    const finish = (answered: HttpResponse): HttpResponse => {
      exchange?.end();
      let response = exchange === undefined ? answered : exchange.answered(answered);
      // Only services that relay or make calls may see which errors were refusals.
      if (!trust.relays) response = withoutRefusedHeader(response);
      if (route === undefined && (encoding === "plain" || isCacheable(response)))
        response = withCallVary(response);
      if (cors !== undefined) response = cors.onto(response, request.headers);
      if (movement !== undefined) return movement.response(response);
      response = withPolicy(response);
      return exchange !== undefined && isStream(response)
        ? streams.follow(exchange, response)
        : response;
    };
    const refuse = async (thrown: unknown): Promise<HttpResponse> =>
      finish(await parts.refuse(thrown, exchange ?? { request, encoding, trust, route }));
    try {
      if (route === undefined) encoding = readEncoding(request.headers);
      if (route === undefined && !callMethods.includes(request.method))
        throw methodNotAllowed(callMethods);
      if (!host.memory.hasRoom()) throw noMemory();
      const body = movement?.received(request);
      const places = { admission, streams };
      const options = { encoding, trust, web, cors, limits, clock, route, body, masks, ...places };
      const entering = (exchange = new Exchange(request, options));
      // Checked before the call is run or passed on.
      if (wantsStream(request.headers)) streams.assertRoom(entering.caller);
      entering.enter();
      const left = entering.deadline - clock.now();
      if (left <= 0) throw new DeadlineExceeded();
      return new Promise((resolve) => {
        let isOver = false;
        const end = (): void => {
          isOver = true;
          cancel();
          // Through `resolve` it would keep the answer, for as long as a caller takes to read it. A stream holds a
          // connection from now on, which has a limit of its own.
          request.onCut = undefined;
        };
        const fail = (thrown: unknown): void => {
          if (isOver) return;
          end();
          resolve(refuse(thrown));
        };
        const late = (): void => {
          // Until the body is complete, the caller is late.
          const error =
            (movement ?? request).isReceiving === true
              ? new RequestTimeout("The request's body did not arrive in time")
              : new DeadlineExceeded();
          entering.expire(error);
          fail(error);
        };
        const cancel =
          movement === undefined ? clock.after(left, late) : movement.untilHead(left, late);
        request.onCut = fail;
        const waiting = life.mayRun();
        const answering =
          waiting === undefined
            ? answer(entering, parts.refuse)
            : waiting.then(() => answer(entering, parts.refuse));
        answering.then((response) => {
          if (isOver) return;
          try {
            const finished = finish(response);
            end();
            resolve(finished);
          } catch (thrown) {
            fail(thrown);
          }
        }, fail);
      });
    } catch (thrown) {
      return refuse(thrown);
    }
  };
}

/** Whether the application lets caches keep it: they may have several forms of the same answer. */
function isCacheable({ headers }: HttpResponse): boolean {
  return headers["cache-control"] !== rpcHeaders["cache-control"];
}

/** Adds the policy of answers to calls: an answer that was passed on may have come without it. */
function withPolicy(response: HttpResponse): HttpResponse {
  const received = response.headers[policyHeader];
  const own = rpcHeaders[policyHeader];
  if (received === own) return response;
  const policies =
    received === undefined
      ? []
      : [received].flat().flatMap((field) => field.split(",").map((policy) => policy.trim()));
  return policies.includes(own)
    ? response
    : withHeaders(response, { [policyHeader]: [own, ...policies] });
}
