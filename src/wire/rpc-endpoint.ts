// The RPC endpoint: what every role checks of a call before it runs the call or passes it on.

import type { CorsMiddleware } from "../http/cors.ts";
import { DeadlineExceeded, MethodNotAllowed, RequestTimeout } from "../base/errors.ts";
import { withHeaders } from "../http/answers.ts";
import type { Clock, Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { PublicOrigin } from "../http/public-origin.ts";
import { policyHeader, rpcHeaders } from "../base/protocol.ts";
import type { Admission } from "./admission.ts";
import { noMemory } from "../http/refusals.ts";
import { withoutRefusedHeader } from "../http/relay-headers.ts";
import type { Limits } from "../base/limits.ts";
import type { Credentials, Trust } from "../http/trust.ts";
import { type Encoding, readEncoding } from "./encoding.ts";
import { Exchange } from "./exchange.ts";

/** What the endpoints of calls and of routes share. */
export interface EndpointParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  readonly cors: () => CorsMiddleware | undefined;
  /** This service masks errors. */
  readonly masks: boolean;
  readonly admission: Admission;
  /** The response for what was thrown. */
  readonly refuse: (
    thrown: unknown,
    request: HttpRequest,
    encoding: Encoding,
    trust: Trust,
  ) => Promise<HttpResponse>;
}

export interface RpcEndpointParts extends EndpointParts {
  /** Runs the call or passes it on. What it throws goes to `refuse`. */
  readonly answer: (call: Exchange) => Promise<HttpResponse>;
}

export function createRpcEndpoint(
  parts: RpcEndpointParts,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { host, web, limits, masks, admission } = parts;
  // Not async, like all on the way of a call that needn't be: each promise costs a call 0.1 µs, as
  // contexts are carried across all of them.
  return (request) => {
    const cors = parts.cors();
    if (request.method === "OPTIONS") {
      const allowed: HttpResponse = { status: 204, headers: { allow: "GET, POST", ...rpcHeaders } };
      return Promise.resolve(cors?.ontoPreflight(allowed, request.headers) ?? allowed);
    }
    const trust = parts.credentials.of(request);
    let encoding: Encoding = "plain";
    let call: Exchange | undefined;
    const finish = (answer: HttpResponse): HttpResponse => {
      call?.end();
      let response = call === undefined ? answer : call.answered(answer);
      // Only services that relay or make calls may see which errors were refusals.
      if (!trust.member || trust.holdsKey) response = withoutRefusedHeader(response);
      return withPolicy(cors === undefined ? response : cors.onto(response, request.headers));
    };
    const refuse = async (thrown: unknown): Promise<HttpResponse> =>
      finish(await parts.refuse(thrown, request, encoding, trust));
    try {
      encoding = readEncoding(request.headers);
      if (request.method !== "GET" && request.method !== "POST") throw new MethodNotAllowed();
      if (!host.memory.hasRoom()) throw noMemory();
      const { clock } = host;
      const options = { encoding, trust, web, cors, limits, clock, masks, admission };
      call = new Exchange(request, options);
      call.enter();
      return withinDeadline(call, host.clock, parts.answer, finish, refuse);
    } catch (thrown) {
      return refuse(thrown);
    }
  };
}

/** Adds this endpoint's policy: a response that was passed on may have come without it. */
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

/** The finished answer to a call, or a refusal when its time is over. */
function withinDeadline(
  call: Exchange,
  clock: Clock,
  answer: (call: Exchange) => Promise<HttpResponse>,
  finish: (response: HttpResponse) => HttpResponse,
  refuse: (thrown: unknown) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const left = call.deadline - clock.now();
  if (left <= 0) throw new DeadlineExceeded();
  return new Promise((resolve) => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
      cancel();
      // Through `resolve` it would keep the answer, for as long as a caller takes to read it.
      call.request.onCut = undefined;
    };
    const fail = (thrown: unknown): void => {
      if (isOver) return;
      end();
      resolve(refuse(thrown));
    };
    const cancel = clock.after(left, () => {
      // Until the body is complete, it's the caller who is late.
      const late =
        call.request.isReceiving === true
          ? new RequestTimeout("The request's body did not arrive in time")
          : new DeadlineExceeded();
      call.expire(late);
      fail(late);
    });
    call.request.onCut = fail;
    answer(call).then((response) => {
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
}
