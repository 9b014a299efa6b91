// What all roles share: endpoints, middleware, health, and turning errors into answers.

import { Admission } from "../wire/admission.ts";
import { isCors } from "../http/cors.ts";
import { BadRequest, FileNotFound } from "../base/errors.ts";
import { createHealth, type HealthCheck, healthRoutes, isHealth } from "../http/health.ts";
import { type Middleware, nameMiddleware, ownName, signatureProblem } from "../http/middleware.ts";
import type { Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { PublicOrigin } from "../http/public-origin.ts";
import { isLeaving, refusedStart } from "../http/refusals.ts";
import { answerHeaders, mediaTypes, rpcPath } from "../base/protocol.ts";
import { createRouter, type Route } from "../http/router.ts";
import type { Classes } from "../codec/classes.ts";
import type { ErrorVisibility } from "../codec/error-mask.ts";
import type { Limits } from "../codec/values/limits.ts";
import type { Credentials } from "../http/trust.ts";
import type { IncomingCall } from "../wire/incoming-call.ts";
import { createRpcEndpoint } from "../wire/rpc-endpoint.ts";
import type { RouteInfo } from "../runtime/routes.ts";
import { createRouteEndpoint, type RoutesPart } from "./routes/route-endpoint.ts";
import type { Observer, Subject } from "./members/observer.ts";
import { createRefuse, type FailedCall } from "./refuse.ts";

/** A running service, as the host sees it. */
export interface Role {
  /** Answers any request; never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /**
   * Loads modules and joins; then the service answers calls. `url` is where it listens. Calls that
   * arrive while it joins run once `settled` has resolved, so that middleware can be added first.
   */
  start(url: string, settled?: () => Promise<void>): Promise<void>;
  /**
   * Isn't ready any more, and leaves the gateway. Resolves when no more calls come from there.
   * Until then, and afterwards, calls are answered.
   */
  leave(): Promise<void>;
  /** Refuses calls from now on: they may be sent to another service. Those that run go on. */
  refuseCalls(): void;
  /** Leaves, and ends what the role does by itself. The host waits for requests before. */
  stop(): Promise<void>;
  /** Whether the path of a request's target is that of a route, whatever its method. */
  isRoute(target: string): boolean;
  addMiddleware(middleware: Middleware): void;
  addHealthCheck(name: string, check: HealthCheck): void;
  /** Only in roles that have procedures or can call a node. */
  readonly runProcedure?: (
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: unknown,
  ) => Promise<unknown>;
  /** What the service holds at the moment. */
  describe(): RoleFacts;
}

/** Facts about a service; each role has others. */
export interface RoleFacts {
  /** The segments that a node or standalone has loaded. */
  readonly segments?: readonly string[];
  /** How many procedures they hold. */
  readonly procedures?: number;
  /** Routes that it answers, or passes on. */
  readonly routes?: readonly RouteInfo[];
  /** Addresses of a gateway's members. */
  readonly members?: readonly string[];
}

/** A role's middleware: what was added last runs first. */
export interface MiddlewareChain {
  readonly list: Middleware[];
  /** Increases with each addition. */
  revision: number;
}

export interface RoleParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  /** For the errors in answers. */
  readonly classes: Classes;
  readonly chain: MiddlewareChain;
  /**
   * Runs or forwards a call; without it there is no `/rpc`. `refuse` makes the answer for an error
   * that a procedure threw.
   */
  readonly call?: (
    call: IncomingCall,
    refuse: (thrown: unknown) => Promise<HttpResponse>,
  ) => Promise<HttpResponse>;
  readonly routes?: readonly Route[];
  /** The application's routes. */
  readonly application?: RoutesPart | undefined;
  /** Answers requests that no endpoint takes, for files for example. */
  readonly otherwise?: (request: HttpRequest) => Promise<HttpResponse | undefined>;
  readonly start: (url: string) => Promise<void>;
  /** Tells the gateway about this service, once it can take calls. */
  readonly join?: (url: string) => Promise<void>;
  /** Tells the gateway that no more calls may come. */
  readonly leave?: (() => Promise<void>) | undefined;
  readonly stop?: (() => void) | undefined;
  readonly describe: Role["describe"];
  readonly runProcedure?: Role["runProcedure"];
  /** Send stacks to every caller, not only to trusted ones, in development. */
  readonly stacks?: boolean;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** Receives errors of calls, instead of the log, unless they are meant for the caller. */
  readonly onFailedCall?: ((failure: FailedCall) => void) | undefined;
  readonly observed?: { readonly observer: Observer; readonly subject: Subject } | undefined;
}

export function createMiddlewareChain(): MiddlewareChain {
  return { list: [], revision: 0 };
}

export function createRole(parts: RoleParts): Role {
  const { host, web, chain, stacks = false } = parts;
  const health = createHealth(host.clock, host.log);
  let ready = false;
  let leaving: Promise<void> | undefined;
  let isClosed = false;
  /**
   * Resolves when this service has joined. The gateway may send calls before its answer arrives.
   */
  let joined: Promise<void> | undefined;
  const route = createRouter([
    ...healthRoutes(health, () => ready && leaving === undefined),
    ...(parts.routes ?? []),
  ]);
  const masks = parts.errors === "masked";
  const refuse = createRefuse({ ...parts, masks, stacks });

  // Its procedures are still loading, so 404 would be wrong.
  const starting = (): Promise<never> =>
    Promise.reject(refusedStart("starting", "This service is starting"));
  const { call, application } = parts;
  const cors = () => chain.list.findLast(isCors);
  const admission = new Admission(host, parts.limits.maxCalls);
  const site =
    application &&
    createRouteEndpoint({
      ...parts,
      cors,
      refuse,
      masks: masks && !stacks,
      admission,
      routes: application,
      ready: () =>
        isClosed ? Promise.reject(isLeaving()) : ready ? undefined : (joined ?? starting()),
    });
  const rpc =
    call &&
    createRpcEndpoint({
      ...parts,
      cors,
      masks: masks && !stacks,
      admission,
      // Only send stacks to callers that are trusted themselves, not when a member forwards a call
      // from outside.
      answer: (incoming) => {
        const run = (): Promise<HttpResponse> =>
          call(incoming, (thrown) => refuse(thrown, incoming.request, incoming.encoding, incoming));
        if (isClosed) return Promise.reject(isLeaving());
        // A role that leaves keeps answering: callers learn of it later.
        if (ready) return run();
        return joined === undefined ? starting() : joined.then(() => (ready ? run() : starting()));
      },
      refuse,
    });
  const { observer, subject } = parts.observed ?? {};
  if (subject !== undefined && rpc !== undefined) observer?.attach({ subject, health, rpc });

  const refuseRequest = (thrown: unknown, request: HttpRequest): Promise<HttpResponse> =>
    refuse(thrown, request, "plain", parts.credentials.of(request.headers), false);

  const leave = (): Promise<void> => (leaving ??= parts.leave?.() ?? Promise.resolve());

  const handleOther = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      const answer =
        (observer && (await observer.handle(request))) ??
        (await route(request)) ??
        (await site?.(request)) ??
        (await parts.otherwise?.(request));
      return answer ?? notFound();
    } catch (thrown) {
      return await refuseRequest(thrown, request);
    }
  };

  return {
    handle(request) {
      try {
        // Not `*` or an absolute URL: appended to the address behind a proxy, it could name another
        // host.
        if (!request.target.startsWith("/")) throw new BadRequest("Request target must be a path");
        if (
          !web.accepts(request) &&
          !isHealth(request.target) &&
          !parts.credentials.of(request.headers).member
        )
          throw web.misdirected(request);
        if (rpc === undefined || !request.target.startsWith(rpcPath)) return handleOther(request);
        const watching = observer?.calls;
        return watching === undefined ? rpc(request) : watching.call(request, rpc);
      } catch (thrown) {
        return refuseRequest(thrown, request);
      }
    },
    async start(url, settled = async () => {}) {
      web.listensAt(url);
      observer?.started(url);
      await parts.start(url);
      const joining = parts.join?.(url);
      joined = joining?.then(settled, () => {});
      await joining;
      ready = true;
    },
    leave,
    refuseCalls() {
      isClosed = true;
      // Its streams would last.
      observer?.stopped();
    },
    async stop() {
      observer?.stopped();
      await leave();
      parts.stop?.();
    },
    isRoute: (target) => application?.table().match("OPTIONS", target).kind === "other-method",
    addMiddleware(middleware) {
      if (typeof (middleware as { handle?: unknown } | undefined)?.handle !== "function")
        throw new TypeError(
          `addMiddleware takes an object with an async function handle(fqn, version, args, headers, next), not ${describeArgument(middleware)}`,
        );
      const problem = signatureProblem(middleware);
      if (problem !== undefined)
        throw new TypeError(
          `addMiddleware can't take ${ownName(middleware) ?? "this object"}: ${problem}`,
        );
      // Allowed in every mode, but don't let it go unnoticed that the middleware never runs.
      if (parts.call === undefined)
        host.log.warn("this service doesn't take calls, so middleware added to it never runs");
      chain.list.push(middleware);
      nameMiddleware(
        middleware,
        ownName(middleware) ?? `number ${chain.list.length} (in the order added)`,
      );
      chain.revision++;
    },
    addHealthCheck(name, check) {
      if (typeof name !== "string" || name === "")
        throw new TypeError(
          `addHealthCheck(name, check) takes a name first, not ${describeArgument(name)}`,
        );
      if (typeof (check as { isHealthy?: unknown } | undefined)?.isHealthy !== "function")
        throw new TypeError(
          `addHealthCheck('${name}', …) takes an object with an async function isHealthy(), not ${describeArgument(check)}`,
        );
      health.add(name, check);
    },
    describe: parts.describe,
    ...(parts.runProcedure === undefined ? {} : { runProcedure: parts.runProcedure }),
  };
}

/** Describes a wrong argument, with a hint. */
function describeArgument(value: unknown): string {
  if (typeof value === "object") return value === null ? "null" : "an object without it";
  if (typeof value !== "function") return value === "" ? "an empty string" : typeof value;
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  return isClass ? `the class ${value.name}; pass an instance: new ${value.name}()` : "a function";
}

/** The same answer, byte for byte, for files that don't exist and those that aren't public. */
export function notFound(): HttpResponse {
  return {
    status: 404,
    headers: { "content-type": mediaTypes.text, ...answerHeaders },
    body: new FileNotFound().message,
  };
}
