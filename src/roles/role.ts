// What all roles share: endpoints, middleware, health, and turning errors into answers.

import type { LinkAnswer, LinkUpgrade } from "../base/ports/links.ts";
import { Admission } from "../wire/admission.ts";
import { BadRequest } from "../base/errors.ts";
import { createHealth, type HealthCheck, healthRoutes, isHealth } from "../http/health.ts";
import { discard } from "../http/bodies.ts";
import type { Middleware } from "../http/middleware.ts";
import type { Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { CallFigures, MeasuredParts } from "../base/ports/telemetry.ts";
import type { PublicOrigin } from "../http/public-origin.ts";
import { isLeaving, refusedStart } from "../http/refusals.ts";
import { rpcHeaders, rpcPath } from "../base/protocol.ts";
import { below, redirectToBase } from "../http/base-path.ts";
import { createRouter, isOwnPath, type Route } from "../http/router.ts";
import type { Limits } from "../base/limits.ts";
import type { Credentials, Trust } from "../http/trust.ts";
import { refusalEncoding } from "../wire/encoding.ts";
import type { ServiceLinks } from "./links/service-links.ts";
import { createRouteEndpoint, nameOf, type RoutesPart } from "./routes/route-endpoint.ts";
import { callsEndpoint } from "./members/calls-endpoint.ts";
import type { Observer, Subject } from "./observer.ts";
import { checkHealthCheck, checkMiddleware } from "./hook-arguments.ts";
import type { MiddlewareChain } from "./middleware-chain.ts";
import { type Answering, createReceive } from "./receive.ts";
import { notFound, type Refuse, type RefuseParts } from "./refuse.ts";
import type { RoleFacts } from "./role-facts.ts";

/** A running service, as the host sees it. */
export interface Role {
  /** Answers any request; never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /**
   * The same in a server that answers other requests, too: `undefined` for one that is for no
   * endpoint, route or file of this service.
   */
  find(request: HttpRequest): Promise<HttpResponse | undefined>;
  /**
   * Loads modules and joins; then the service answers calls. `url` is where it listens. Calls that
   * arrive while it joins run once `settled` has resolved, so that middleware can be added first.
   */
  start(url: string, settled?: () => Promise<void>): Promise<void>;
  /**
   * Isn't ready any more, and leaves the gateway. Resolves when no more calls come from there, with
   * whether the gateway has said so. Until then, and afterwards, calls are answered.
   */
  leave(): Promise<boolean>;
  /** Refuses calls from now on: they may be sent to another service. Those that run go on. */
  refuseCalls(): void;
  /** What its health checks say. */
  isHealthy(): Promise<boolean>;
  /** Waits for the calls that came over links. Cuts those that run after `graceMs`: returns how many. */
  finishCalls(graceMs: number, reason: Error): Promise<number>;
  /** Leaves, and ends what the role does by itself. The host waits for requests before. */
  stop(): Promise<void>;
  /** Answers another service that asks for a link, in roles that take links. */
  readonly accept?: ((upgrade: LinkUpgrade) => LinkAnswer) | undefined;
  /** Whether a path of the runtime or a route answers for a target, whatever the method. */
  isTaken(target: string): boolean;
  /** Where pages are, below their origin: `/shop`, "" at its root, `undefined` if nobody knows yet. */
  readonly base: string | undefined;
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

export interface RoleParts extends Pick<RefuseParts, "errors" | "stacks"> {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  readonly chain: MiddlewareChain;
  /** Makes the answers for errors. */
  readonly refuse: Refuse;
  /** Runs or forwards a call; without it there is no `/rpc`. */
  readonly call?: Answering;
  readonly routes?: readonly Route[];
  /** The application's routes. */
  readonly application?: RoutesPart | undefined;
  /** Answers requests that no endpoint takes, for files for example. */
  readonly otherwise?: (request: HttpRequest, trust: Trust) => Promise<HttpResponse | undefined>;
  readonly start: (url: string) => Promise<void>;
  /** Whether it should be sent calls, once it answers them [yes]. */
  readonly isReady?: (() => boolean) | undefined;
  /** Tells the gateway about this service, once it can take calls. */
  readonly join?: (url: string) => Promise<void>;
  /** Tells the gateway that no more calls may come. */
  readonly leave?: (() => Promise<boolean>) | undefined;
  readonly links?: ServiceLinks | undefined;
  readonly stop?: (() => void) | undefined;
  readonly describe: Role["describe"];
  readonly runProcedure?: Role["runProcedure"];
  readonly measured?: MeasuredParts | undefined;
  readonly observed?: { readonly observer: Observer; readonly subject: Subject } | undefined;
}

export function createRole(parts: RoleParts): Role {
  const { host, web, chain, refuse } = parts;
  const health = createHealth(host.clock, host.log);
  let ready = false;
  let leaving: Promise<boolean> | undefined;
  let isClosed = false;
  /**
   * Resolves when this service has joined. The gateway may send calls before its answer arrives.
   */
  let joined: Promise<void> | undefined;
  const admission = new Admission(host, parts.limits.maxCalls);
  const calls = (): CallFigures => admission.figures;
  const route = createRouter([
    callsEndpoint(calls),
    ...healthRoutes(health, () => ready && leaving === undefined && parts.isReady?.() !== false),
    ...(parts.routes ?? []),
  ]);
  // Its procedures are still loading, so 404 would be wrong.
  const starting = (): Promise<never> =>
    Promise.reject(refusedStart("starting", "This service is starting"));
  const receive = createReceive({
    ...parts,
    admission,
    ready() {
      if (isClosed) return Promise.reject(isLeaving());
      // A role that leaves keeps answering: callers learn of it later.
      if (ready) return undefined;
      return joined === undefined
        ? starting()
        : joined.then(() => (ready ? undefined : starting()));
    },
  });
  const { call, application, links } = parts;
  const site = application && createRouteEndpoint(application, { chain, receive });
  const rpc =
    call &&
    ((request: HttpRequest, trust: Trust): Promise<HttpResponse> => {
      if (request.method !== "OPTIONS") return receive(request, trust, call);
      const options: HttpResponse = { status: 204, headers: { allow: "GET, POST", ...rpcHeaders } };
      return Promise.resolve(chain.cors?.ontoPreflight(options, request.headers) ?? options);
    });
  const { observer, subject } = parts.observed ?? {};
  const { credentials } = parts;
  if (subject !== undefined && rpc !== undefined)
    observer?.attach({
      subject,
      health,
      rpc: (request) => rpc(request, credentials.of(request)),
      calls,
    });

  const refuseOther = (
    thrown: unknown,
    request: HttpRequest,
    trust: Trust,
  ): Promise<HttpResponse> =>
    refuse(thrown, {
      request,
      encoding: refusalEncoding(request.headers),
      trust,
      isOther: true,
    });

  const leave = (): Promise<boolean> => (leaving ??= parts.leave?.() ?? Promise.resolve(false));

  const handleOther = async <None>(
    request: HttpRequest,
    trust: Trust,
    none: () => None,
  ): Promise<HttpResponse | None> => {
    try {
      const answer =
        (observer && (await observer.handle(request, trust))) ??
        (await route(request, trust)) ??
        (await site?.(request, trust)) ??
        (await parts.otherwise?.(request, trust));
      return answer ?? none();
    } catch (thrown) {
      return await refuseOther(thrown, request, trust);
    }
  };

  const isMisdirected = (request: HttpRequest, { member }: Trust): boolean =>
    !member && !web.accepts(request) && !isHealth(request.target);

  const answer = (request: HttpRequest, trust: Trust): Promise<HttpResponse> => {
    try {
      // Not `*` or an absolute URL: appended to the address behind a proxy, it could name another
      // host.
      if (!request.target.startsWith("/")) throw new BadRequest("Request target must be a path");
      if (isMisdirected(request, trust)) throw web.misdirected(request);
      if (rpc === undefined || !request.target.startsWith(rpcPath))
        return handleOther(request, trust, notFound);
      const watching = observer?.calls;
      return watching === undefined
        ? rpc(request, trust)
        : watching.call(request, (watched) => rpc(watched, trust));
    } catch (thrown) {
      return refuseOther(thrown, request, trust);
    }
  };
  const { telemetry } = host;
  const knows = (name: string): boolean => parts.measured?.knows(name) === true;
  telemetry?.attach({
    knows,
    nameOf: (request) => nameOf(request, knows, application),
    believes: (request) => credentials.of(request).member,
    figures: () => ({
      calls: calls(),
      links: links?.figures ?? { dialled: 0, accepted: 0 },
      ...parts.measured?.figures?.(),
    }),
  });
  const answerBelow =
    telemetry === undefined
      ? answer
      : (request: HttpRequest, trust: Trust) =>
          telemetry.request(request, (noted) => answer(noted, trust));

  /** Takes the base off a request from outside. Members have done so. */
  const enter = <Answer>(
    request: HttpRequest,
    respond: (request: HttpRequest, trust: Trust) => Promise<Answer>,
  ): Promise<Answer | HttpResponse> => {
    const trust = credentials.of(request);
    const { path } = web.base;
    if (path === "" || trust.relays) return respond(request, trust);
    // Our own paths are the same whatever the base is, so that calls don't wait.
    if (path === undefined)
      return isOwnPath(request.target)
        ? respond(request, trust)
        : web.base
            .find()
            .then(() =>
              web.base.path === undefined ? respond(request, trust) : enter(request, respond),
            );
    const redirect = redirectToBase(path, request.target);
    if (redirect !== undefined) return Promise.resolve(redirect);
    request.target = below(path, request.target);
    return respond(request, trust);
  };
  const handle: Role["handle"] = (request) => enter(request, answerBelow);

  const isTakenBelow = (target: string): boolean =>
    isOwnPath(target) || application?.table().match("OPTIONS", target).kind === "other-method";

  const findFile = async (
    request: HttpRequest,
    trust: Trust,
  ): Promise<HttpResponse | undefined> => {
    const found = await handleOther(request, trust, () => undefined);
    if (found === undefined || !isMisdirected(request, trust)) return found;
    discard(found.body);
    return await refuseOther(web.misdirected(request), request, trust);
  };

  const findBelow = async (
    request: HttpRequest,
    trust: Trust,
  ): Promise<HttpResponse | undefined> => {
    const { method, target } = request;
    if (isTakenBelow(target)) return await answerBelow(request, trust);
    if (method !== "GET" && method !== "HEAD") return undefined;
    return await (telemetry === undefined
      ? findFile(request, trust)
      : telemetry.request(request, (noted) => findFile(noted, trust)));
  };

  return {
    handle,
    find: async (request) => await enter(request, findBelow),
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
    isHealthy: () => health.status(),
    finishCalls: async (...grace) => (await links?.finish(...grace)) ?? 0,
    ...(links?.accept && { accept: links.accept }),
    refuseCalls() {
      isClosed = true;
      links?.drain();
      // Its streams would last.
      observer?.stopped();
    },
    async stop() {
      observer?.stopped();
      await leave();
      parts.stop?.();
      links?.stop();
    },
    isTaken: (target) => isTakenBelow(below(web.base.path ?? "", target)),
    get base() {
      return web.base.path;
    },
    addMiddleware(middleware) {
      checkMiddleware(middleware);
      // Allowed in every mode, but don't let it go unnoticed that the middleware never runs.
      if (parts.call === undefined)
        host.log.warn("this service doesn't take calls, so middleware added to it never runs");
      chain.add(middleware);
    },
    addHealthCheck(name, check) {
      checkHealthCheck(name, check);
      health.add(name, check);
    },
    describe: parts.describe,
    ...(parts.runProcedure === undefined ? {} : { runProcedure: parts.runProcedure }),
  };
}
