// What all roles have in common: doors, middleware, health, and one place where errors become answers.

import type { Console, ConsoleSource } from "../console/console.ts";
import { isCors } from "../cors.ts";
import { BadRequest, FileNotFound, NodeNotAvailable, ServiceError } from "../errors.ts";
import { createHealth, type Health, type HealthCheck } from "../health.ts";
import { type Middleware, nameMiddleware, ownName, signatureProblem } from "../middleware.ts";
import type { Host, HttpRequest, HttpResponse } from "../ports.ts";
import type { PublicOrigin } from "../public-origin.ts";
import { answerHeaders, headers, mediaTypes, paths, rpcPath, serviceHeaders } from "../protocol.ts";
import { createRouter, pathOf, type Route } from "../router.ts";
import { type Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import type { Encoding } from "../wire/decode-call.ts";
import { encodeError } from "../wire/encode-result.ts";
import { isInnerRefusal, isRefusal } from "../refusals.ts";
import { type Credentials, stranger, type Trust } from "../trust.ts";
import { createRpcDoor, type IncomingCall, withHeaders } from "../wire/rpc-door.ts";

/** A running service, as the host sees it. */
export interface Role {
  /** Answers any request; never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /**
   * After it, requests are answered: modules are loaded, the way out is known. `url` is where this service listens. Calls that came while it
   * joined run when `settled` has resolved: what follows a start, a middleware that is added, is there by then.
   */
  start(url: string, settled?: () => Promise<void>): Promise<void>;
  /** Leaves where it joined. Requests under way are the host's to finish. */
  stop(): Promise<void>;
  addMiddleware(middleware: Middleware): void;
  addHealthCheck(name: string, check: HealthCheck): void;
  /** §4.6; only roles that hold procedures or know a node have it. */
  readonly runProcedure?: (
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: unknown,
  ) => Promise<unknown>;
  /** What the person at the terminal wants to know: segments and numbers. */
  describe(): Readonly<Record<string, string | number | readonly string[]>>;
}

/** The layers of a role, and what depends on them. */
export interface Layers {
  readonly list: Middleware[];
  /** Changes with every layer added. */
  revision: number;
}

export interface RoleParts {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  /** For the errors in answers. */
  readonly classes: Classes;
  readonly layers: Layers;
  /** Runs or forwards a call (§4.1); without it there is no RPC door. `refuse` makes the answer for what a procedure threw. */
  readonly call?: (
    call: IncomingCall,
    refuse: (thrown: unknown) => Promise<HttpResponse>,
  ) => Promise<HttpResponse>;
  readonly routes?: readonly Route[];
  /** Asked last: files, for one. */
  readonly otherwise?: (request: HttpRequest) => Promise<HttpResponse | undefined>;
  readonly start: (url: string) => Promise<void>;
  /** Makes this service known to those who send it calls, once it can take them. */
  readonly join?: (url: string) => Promise<void>;
  readonly stop: Role["stop"];
  readonly describe: Role["describe"];
  readonly runProcedure?: Role["runProcedure"];
  /** Every caller is sent the stacks of errors, and not only one who is trusted himself: in development. */
  readonly stacks?: boolean;
  /** For people who look, and what they see. */
  readonly console?: { readonly console: Console; readonly source: ConsoleSource } | undefined;
}

export function createLayers(): Layers {
  return { list: [], revision: 0 };
}

export function createRole(parts: RoleParts): Role {
  const { host, web, layers, stacks = false } = parts;
  const health = createHealth(host.clock, host.log);
  let ready = false;
  let stopping = false;
  /** Resolves when this service has joined. Calls come before: who has just taken it in doesn't wait until it has heard of that. */
  let joined: Promise<void> | undefined;
  const route = createRouter([
    ...healthRoutes(health, () => ready && !stopping),
    ...(parts.routes ?? []),
  ]);
  const refuse = async (
    thrown: unknown,
    request: HttpRequest,
    encoding: Encoding,
    trust: Trust,
  ): Promise<HttpResponse> => {
    if (
      (!(thrown instanceof ServiceError) || isInnerRefusal(thrown)) &&
      !isDeparture(thrown, request)
    )
      host.log.error(`${request.method} ${pathOf(request.target)} failed`, thrown);
    const answer = await encodeError(thrown, encoding, {
      classes: parts.classes,
      stacks: stacks || trust.trusted,
      onLost: (what) =>
        host.log.warn(
          `${request.method} ${pathOf(request.target)} failed, and its error is sent without ${what}`,
        ),
    });
    if (!(thrown instanceof ServiceError)) return answer;
    // Text alone does not tell a program which error it is.
    const { kind } = thrown.constructor as typeof ServiceError;
    return withHeaders(answer, {
      [headers.error]: kind,
      ...(isRefusal(thrown) && { [serviceHeaders.refused]: "yes" }),
      ...(thrown instanceof NodeNotAvailable ? { "retry-after": "1" } : {}),
    });
  };

  const { call } = parts;
  const rpc =
    call &&
    createRpcDoor({
      host,
      credentials: parts.credentials,
      web: parts.web,
      limits: parts.limits,
      cors: () => layers.list.findLast(isCors),
      // Stacks are for a caller who is trusted himself: one that a member passes on for the outside is not.
      answer: (incoming) => {
        const run = (): Promise<HttpResponse> =>
          call(incoming, (thrown) => refuse(thrown, incoming.request, incoming.encoding, incoming));
        // A role that stops goes on answering until its door closes.
        if (ready) return run();
        // Its procedures are still loading: that is no 404.
        const starting = (): Promise<never> =>
          Promise.reject(new NodeNotAvailable("This service is starting"));
        return joined === undefined ? starting() : joined.then(() => (ready ? run() : starting()));
      },
      refuse,
    });
  const view = parts.console?.console;
  if (parts.console !== undefined && rpc !== undefined)
    parts.console.console.attach({ source: parts.console.source, health, rpc });

  return {
    async handle(request) {
      try {
        // `*`, or the address of something that is no website: behind a proxy's own addresses it would make up another host's.
        if (!request.target.startsWith("/"))
          throw new BadRequest("The request's target is no path");
        if (
          !web.accepts(request) &&
          !isHealth(request.target) &&
          !parts.credentials.of(request.headers).member
        )
          throw web.misdirected(request);
        if (rpc !== undefined && request.target.startsWith(rpcPath))
          return await (view?.observer === undefined
            ? rpc(request)
            : view.observer.call(request, rpc));
        const answer =
          (view && (await view.handle(request))) ??
          (await route(request)) ??
          (await parts.otherwise?.(request));
        return answer ?? notFound();
      } catch (thrown) {
        return await refuse(thrown, request, "plain", stranger);
      }
    },
    async start(url, settled = async () => {}) {
      web.listensAt(url);
      view?.start(url);
      await parts.start(url);
      const joining = parts.join?.(url);
      joined = joining?.then(settled, () => {});
      await joining;
      ready = true;
    },
    async stop() {
      stopping = true;
      view?.stop();
      await parts.stop();
    },
    addMiddleware(middleware) {
      if (typeof (middleware as { handle?: unknown } | undefined)?.handle !== "function")
        throw new TypeError(
          `addMiddleware takes an object with an async function handle(fqn, version, args, headers, next) (§2.7), not ${given(middleware)}`,
        );
      const problem = signatureProblem(middleware);
      if (problem !== undefined)
        throw new TypeError(
          `addMiddleware was given ${ownName(middleware) ?? "an object"} of another kind: ${problem}`,
        );
      // Decisions §5 let every mode name middleware; but a layer that never runs should not go unnoticed.
      if (parts.call === undefined)
        host.log.warn(
          "this service answers no calls: middleware that is added to it never runs (§4.8)",
        );
      layers.list.push(middleware);
      nameMiddleware(
        middleware,
        ownName(middleware) ??
          `number ${layers.list.length}, in the order in which they were added,`,
      );
      layers.revision++;
    },
    addHealthCheck(name, check) {
      if (typeof name !== "string" || name === "")
        throw new TypeError(
          `addHealthCheck(name, check) takes a name first, not ${given(name)} (§2.6)`,
        );
      if (typeof (check as { isHealthy?: unknown } | undefined)?.isHealthy !== "function")
        throw new TypeError(
          `addHealthCheck('${name}', …) takes an object with an async function isHealthy() (§2.6), not ${given(check)}`,
        );
      health.add(name, check);
    },
    describe: parts.describe,
    ...(parts.runProcedure === undefined ? {} : { runProcedure: parts.runProcedure }),
  };
}

/** The caller left, and what was running for them ended with it: that is nobody's fault. */
function isDeparture(thrown: unknown, { signal }: HttpRequest): boolean {
  if (!signal.aborted) return false;
  const { cause, name } = (thrown ?? {}) as { cause?: unknown; name?: unknown };
  return thrown === signal.reason || cause === signal.reason || name === "AbortError";
}

/** What somebody gave in place of what was wanted, and what he may have meant. */
function given(value: unknown): string {
  if (typeof value === "object") return value === null ? "null" : "an object without it";
  if (typeof value !== "function") return value === "" ? "an empty text" : typeof value;
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  return isClass ? `the class ${value.name}: give an instance, new ${value.name}()` : "a function";
}

/** Orchestrators ask by whatever name or address they know a process. */
function isHealth(target: string): boolean {
  return target.startsWith(paths.health) && /^(?:$|[/?])/.test(target.slice(paths.health.length));
}

/** §4.5, and two for orchestrators (decisions §5). */
function healthRoutes(health: Health, ready: () => boolean): Route[] {
  const json = (value: unknown, status = 200): HttpResponse => ({
    status,
    headers: { "content-type": mediaTypes.json, ...answerHeaders },
    body: JSON.stringify(value),
  });
  return [
    ["GET", paths.healthStatus, async () => json(await health.status())],
    ["GET", paths.health, async () => json(await health.details())],
    ["GET", paths.healthLive, () => json(true)],
    [
      "GET",
      paths.healthReady,
      async () => (ready() && (await health.status()) ? json(true) : json(false, 503)),
    ],
  ];
}

/** The one answer for whatever isn't there or isn't public, byte for byte (decisions §5, assets). */
export function notFound(): HttpResponse {
  return {
    status: 404,
    headers: { "content-type": mediaTypes.text, ...answerHeaders },
    body: new FileNotFound().message,
  };
}
