// A role, put together from the parts that all of them share. A request enters, a table finds its endpoint, and a
// call or request for a route is received, to be run or passed on.

import type { LinkAnswer, LinkUpgrade } from "../../base/ports/links.ts";
import type { CallFigures, MeasuredParts } from "../../base/ports/telemetry.ts";
import { Admission } from "../../wire/admission.ts";
import {
  createPageAdmission,
  type PageAdmission,
  type PageHandshake,
} from "../../http/page-admission.ts";
import { OpenStreams } from "../../wire/open-streams.ts";
import { createHealth, type HealthCheck, healthRoutes } from "../../http/health.ts";
import type { Middleware } from "../../http/middleware.ts";
import type { Route } from "../../http/router.ts";
import type { ServiceLinks } from "../links/service-links.ts";
import { nameOf } from "./route-endpoint.ts";
import { callsEndpoint } from "./calls-endpoint.ts";
import { createEntrance, type Entrance } from "./entrance.ts";
import { checkHealthCheck, checkMiddleware } from "./hook-arguments.ts";
import { Life, type LifeParts } from "./life.ts";
import type { Observer, Subject } from "./observer.ts";
import { type Answering, createReceive } from "./receive.ts";
import { createRefuse, type RefuseParts } from "./refuse.ts";
import type { RoleFacts } from "./role-facts.ts";
import type { Service } from "./service.ts";
import { createTable, type TableParts } from "./table.ts";

/** A running service, as the host sees it. */
export interface Role extends Entrance {
  /**
   * Loads modules and joins; then the service answers calls. `url` is where it listens. Calls that
   * arrive while it joins run once `settled` has resolved, so that middleware can be added first.
   */
  start(url: string, settled?: () => Promise<void>): Promise<void>;
  /**
   * Stops being ready, and leaves the gateway. Resolves when no more calls come from there, to whether the gateway
   * has confirmed it. Until then, and afterwards, calls are answered.
   */
  leave(): Promise<boolean>;
  /** Readers of streams with "resume" ask again, and find the service or the code that is there then. */
  moveStreams(): void;
  /** Refuses calls from now on: they may be sent to another service. Running calls go on. */
  refuseCalls(): void;
  /** Whether all its health checks pass. */
  isHealthy(): Promise<boolean>;
  /**
   * Waits for the calls that came over links. After `graceMs`, cuts those that still run, and returns their number.
   */
  finishCalls(graceMs: number, reason: Error): Promise<number>;
  /** Leaves, and ends the role's own work. The host waits for requests before. */
  stop(): Promise<void>;
  /** Answers another service that asks for a link, in roles that take links. */
  readonly accept?: ((upgrade: LinkUpgrade) => LinkAnswer) | undefined;
  /** Says whether a page gets a link, in roles that pages call. */
  readonly admitPage?: ((handshake: PageHandshake) => PageAdmission) | undefined;
  /** The path below which pages are: `/shop`, "" at the root of their origin, `undefined` if it isn't known yet. */
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
  /** The service's current state. */
  describe(): RoleFacts;
}

/** The parts in which roles differ. */
export interface RoleParts
  extends
    Service,
    LifeParts,
    Pick<RefuseParts, "classes" | "stacks" | "onFailedCall">,
    Pick<TableParts, "routes" | "otherwise"> {
  /** Runs calls and requests for routes, or passes them on; without it, the role doesn't take any. */
  readonly answer?: Answering;
  readonly endpoints?: readonly Route[];
  readonly links?: ServiceLinks | undefined;
  /** Pages call this role, so they may open links to it. */
  readonly takesPages?: true;
  readonly stop?: (() => void) | undefined;
  readonly describe: Role["describe"];
  readonly runProcedure?: Role["runProcedure"];
  readonly measured?: MeasuredParts | undefined;
  readonly observed?: { readonly observer: Observer; readonly subject: Subject } | undefined;
}

export function createRole(parts: RoleParts): Role {
  const { host, web, chain, credentials, answer, links, measured } = parts;
  const { observer, subject } = parts.observed ?? {};
  const health = createHealth(host.clock, host.log);
  const life = new Life(parts);
  const admission = new Admission(host, parts.limits.maxCalls);
  const refuse = createRefuse(parts);
  const { stacks, routes } = parts;
  const streams = new OpenStreams(host.clock, parts.limits);
  const calls = (): CallFigures => ({ ...admission.figures, streams: streams.open });
  const shared = { ...parts, stacks, admission, streams, life, refuse };
  const receive = answer && createReceive({ ...shared, answer });
  const endpoints = [
    callsEndpoint(calls),
    ...healthRoutes(health, () => life.isReady),
    ...(parts.endpoints ?? []),
  ];
  const table = createTable({ ...parts, observer, endpoints, receive, refuse });
  const entrance = createEntrance({ host, credentials, web, routes, table });
  links?.serve(entrance.handle);
  if (subject !== undefined && receive !== undefined)
    observer?.attach({
      subject,
      health,
      rpc: (request) => table.call(request, credentials.of(request)),
      calls,
    });
  const knows = (named: string): boolean => measured?.knows(named) === true;
  host.telemetry?.attach({
    knows,
    nameOf: (request) => nameOf(request, knows, routes),
    believes: (request) => credentials.of(request).member,
    figures: () => ({
      calls: calls(),
      streams: streams.figures,
      links: links?.figures ?? { dialled: 0, accepted: 0 },
      ...measured?.figures?.(),
    }),
  });

  return {
    ...entrance,
    async start(url, settled = async () => {}) {
      web.listensAt(url);
      observer?.started(url);
      await life.start(url, settled);
    },
    leave: () => life.leave(),
    isHealthy: () => health.status(),
    finishCalls: async (...grace) => (await links?.finish(...grace)) ?? 0,
    ...(links?.accept && { accept: links.accept }),
    ...(parts.takesPages && { admitPage: createPageAdmission(parts) }),
    moveStreams: () => streams.move(),
    refuseCalls() {
      life.close();
      streams.move();
      links?.drain();
      // Otherwise its streams would last.
      observer?.stopped();
    },
    async stop() {
      observer?.stopped();
      await life.leave();
      parts.stop?.();
      links?.stop();
    },
    get base() {
      return web.base.path;
    },
    addMiddleware(middleware) {
      checkMiddleware(middleware);
      // Allowed in every mode, but don't let it go unnoticed that the middleware never runs.
      if (answer === undefined)
        host.log.warn("this service doesn't take calls, so middleware added to it never runs");
      chain.add(middleware);
    },
    addHealthCheck(checkName, check) {
      checkHealthCheck(checkName, check);
      health.add(checkName, check);
    },
    describe: parts.describe,
    ...(parts.runProcedure === undefined ? {} : { runProcedure: parts.runProcedure }),
  };
}
