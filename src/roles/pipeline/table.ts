// Finds the target of each request: a call, an endpoint of the runtime, a route of the application, or a file.

import { BadRequest } from "../../base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../base/ports.ts";
import { callMethods, rpcHeaders, rpcPath } from "../../base/protocol.ts";
import { isHealth } from "../../http/health.ts";
import type { PublicOrigin } from "../../http/public-origin.ts";
import { createRouter, type Route } from "../../http/router.ts";
import type { Trust } from "../../http/trust.ts";
import { refusalEncoding } from "../../wire/encoding.ts";
import type { MiddlewareChain } from "./middleware-chain.ts";
import type { Observer } from "./observer.ts";
import type { Receive } from "./receive.ts";
import { notFound, withCallVary } from "../../http/answers.ts";
import type { Refuse } from "./refuse.ts";
import { createRouteEndpoint, type RoutesNow } from "./route-endpoint.ts";

export interface TableParts {
  readonly web: PublicOrigin;
  readonly chain: MiddlewareChain;
  readonly observer: Observer | undefined;
  readonly endpoints: readonly Route[];
  /** The routes of the application. */
  readonly routes?: RoutesNow | undefined;
  /** Answers requests that no endpoint takes, for files for example. */
  readonly otherwise?:
    | ((request: HttpRequest, trust: Trust) => Promise<HttpResponse | undefined>)
    | undefined;
  /** Without it, there is no `/rpc`, and there are no routes. */
  readonly receive: Receive | undefined;
  readonly refuse: Refuse;
}

export interface Table {
  /** Answers any request. */
  answer(request: HttpRequest, trust: Trust): Promise<HttpResponse>;
  /** Answers a call. */
  call(request: HttpRequest, trust: Trust): Promise<HttpResponse>;
  /** Answers a request for anything but a call; `undefined` if nothing here answers it. */
  find(request: HttpRequest, trust: Trust): Promise<HttpResponse | undefined>;
  /** Whether a request is for a host that this service doesn't answer for. */
  isMisdirected(request: HttpRequest, trust: Trust): boolean;
  /** The answer to a request that isn't a call. */
  refuse(thrown: unknown, request: HttpRequest, trust: Trust): Promise<HttpResponse>;
}

export function createTable(parts: TableParts): Table {
  const { web, chain, observer, receive } = parts;
  const endpoint = createRouter(parts.endpoints);
  const route = receive && parts.routes && createRouteEndpoint(parts.routes, { chain, receive });

  const call: Table["call"] = (request, trust) => {
    if (receive !== undefined && request.method !== "OPTIONS") return receive(request, trust);
    const headers = { allow: callMethods.join(", "), ...rpcHeaders };
    const options: HttpResponse = { status: 204, headers };
    return Promise.resolve(chain.cors?.ontoPreflight(options, request.headers) ?? options);
  };

  const refuse: Table["refuse"] = async (thrown, request, trust) => {
    const encoding = refusalEncoding(request.headers);
    const refused = { request, trust, isOther: true } as const;
    if (request.target.startsWith(rpcPath))
      return withCallVary(await parts.refuse(thrown, { ...refused, encoding }));
    // Only calls have answers in JSON.
    return await parts.refuse(thrown, {
      ...refused,
      encoding: encoding === "json" ? "plain" : encoding,
    });
  };

  const find: Table["find"] = async (request, trust) => {
    try {
      return (
        (observer && (await observer.handle(request, trust))) ??
        (await endpoint(request, trust)) ??
        (await route?.(request, trust)) ??
        (await parts.otherwise?.(request, trust))
      );
    } catch (thrown) {
      return await refuse(thrown, request, trust);
    }
  };

  const isMisdirected: Table["isMisdirected"] = (request, { member }) =>
    !member && !web.accepts(request) && !isHealth(request.target);

  return {
    call,
    find,
    refuse,
    isMisdirected,
    answer(request, trust) {
      try {
        // Not `*` or an absolute URL: appended to the address behind a proxy, it could name another
        // host.
        if (!request.target.startsWith("/")) throw new BadRequest("Request target must be a path");
        if (isMisdirected(request, trust)) throw web.misdirected(request);
        if (receive === undefined || !request.target.startsWith(rpcPath))
          return find(request, trust).then((answer) => answer ?? notFound());
        const watching = observer?.calls;
        return watching === undefined
          ? call(request, trust)
          : watching.call(request, (watched) => call(watched, trust));
      } catch (thrown) {
        return refuse(thrown, request, trust);
      }
    },
  };
}
