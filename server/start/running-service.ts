// The life of a service, with or without a socket of its own: starts its role, and ends it without losing a call.

import { setTimeout as pause } from "node:timers/promises";

import { NodeNotAvailable } from "../../src/base/errors.ts";
import { TransportError } from "../../src/base/ports.ts";
import { defaultDrainMs } from "../../src/base/protocol.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { RunProcedure } from "../../src/types/imported.ts";
import type { Config } from "../config/config.ts";
import { createStops, registerStops, whileLoading } from "../host/stops.ts";
import type { ConfiguredModulesOptions } from "../modules/configured-modules.ts";
import type { PreparedService } from "./prepare-service.ts";
import { registerHost, registerServer, unregisterServer } from "./process-services.ts";
import type { Server } from "./server.ts";
import { serverInfo, startedLine } from "./server-info.ts";
import { servingOnMs } from "./times.ts";

/** The requests that a service has accepted. */
export interface OpenRequests {
  /** The service is about to stop. */
  drain(): void;
  /** Lets requests finish for `graceMs`, and cuts those that still run. Call it again to shorten that. */
  close(graceMs: number): Promise<void>;
}

/** A service whose role is starting, runs or stops. */
export interface RunningService {
  readonly server: Server;
  /** The time between the order to stop and cutting requests. */
  readonly drainMs: number;
  /** Stops it; requests that run after `ms` are cut. A second call may only leave less time. */
  stopWithin(ms: number): Promise<void>;
  /** Rejects if the start fails; then everything is released. */
  start(): Promise<void>;
}

/** Called with the number of requests that were cut. */
export function cutWarning({ log }: Pick<PreparedService, "log">): (count: number) => void {
  return (count) =>
    log.warn(
      `cut ${count === 1 ? "a request that was" : `${count} requests that were`} still running`,
    );
}

/** Logs an error that isn't a request's. */
export function logFault({ log }: Pick<PreparedService, "log">): (fault: unknown) => void {
  return (fault) => {
    // The error itself is logged by the service whose answer broke off.
    if (fault instanceof TransportError) log.warn(`an answer broke off: ${fault.message}`);
    else log.error("a request could not be answered", fault);
  };
}

/** `url` is where others reach it; `onEnd` is called when it has stopped. */
export function runService(
  prepared: PreparedService,
  url: string,
  requests: OpenRequests,
  onEnd: () => void = () => {},
): RunningService {
  const { role, console, directory, config, log, host } = prepared;
  const unregisterHost = registerHost(host);
  const stops = createStops();
  const unregisterStops = registerStops(host.carrier, stops);
  const drainMs = config.drainMs ?? defaultDrainMs;
  let started = false;
  let stopping: Promise<void> | undefined;
  /** Requests are cut at this time, by the clock of `performance`. */
  let end = Infinity;
  let isClosing = false;
  const close = async (): Promise<void> => {
    isClosing = true;
    const graceMs = Math.max(0, end - performance.now());
    const [, cut] = await Promise.all([
      requests.close(graceMs),
      role.finishCalls(graceMs, new NodeNotAvailable("This service has stopped")),
    ]);
    if (cut > 0) cutWarning(prepared)(cut);
  };
  const stopWithin = (ms: number): Promise<void> => {
    const before = end;
    end = Math.min(end, performance.now() + ms);
    if (isClosing && end < before) void close();
    return (stopping ??= stop(ms));
  };
  const server: Server = {
    url,
    mode: config.mode,
    get info() {
      return serverInfo(config, url, role.describe(), directory);
    },
    addHealthCheck: (name, check) => role.addHealthCheck(name, check),
    addMiddleware: (middleware) => role.addMiddleware(middleware),
    runProcedure: (async (...call: Parameters<RunProcedure>) => {
      if (role.runProcedure === undefined)
        throw new Error(
          `A ${config.mode} doesn't run procedures: use runProcedure of a node or a standalone`,
        );
      return await role.runProcedure(...call);
    }) as RunProcedure,
    consoleLink: () => console?.link(),
    stop: () => stopWithin(drainMs),
  };
  const stop = async (ms: number): Promise<void> => {
    const began = performance.now();
    unregisterServer(server);
    // Leave every rotation before the socket closes, so that no call is sent to a closed one. A
    // service that never was ready is in no rotation.
    requests.drain();
    // If its gateway has confirmed that it left, no more calls come.
    const serving = started ? pause(servingOnMs) : undefined;
    const left = role.leave().then((isTold) => (isTold ? undefined : serving));
    await Promise.race([left, pause(ms, undefined, { ref: false })]);
    role.refuseCalls();
    await close();
    await role.stop();
    await stops.run(log);
    unregisterStops();
    unregisterHost();
    await prepared.release();
    onEnd();
    const took = Math.round(performance.now() - began);
    if (started) log.info(`stopped after ${took} ms`, { event: "drained", ms: took });
  };
  const start = async (): Promise<void> => {
    // A start that was told to stop may be left with timers that don't keep the process alive. If the process ended
    // before the start does, Node would report a failure.
    const alive = setInterval(() => {}, 1_000_000);
    try {
      const { root, modules, importer } = prepared;
      const load = async (): Promise<void> => {
        await addConfigured(role, config, { root, modules, moduleImporter: importer });
        // One turn later, so that a main file can add middleware in the lines after `await
        // startServer(…)`.
        await role.start(url, async () => await new Promise((done) => setImmediate(done)));
      };
      // From the first context on, each promise of the process costs more. A gateway needs none.
      await (modules === undefined && !isConfigured(config) ? load() : whileLoading(stops, load));
    } catch (error) {
      // Being stopped while it starts isn't a failure of the start.
      const wasStopped = stopping !== undefined;
      await server.stop();
      if (wasStopped) return;
      throw error;
    } finally {
      clearInterval(alive);
    }
    started = true;
    registerServer(server);
    log.info(startedLine(server.info));
  };
  return { server, drainMs, stopWithin, start };
}

/** Whether a configuration names modules. */
function isConfigured({ healthChecks = {}, middleware = [] }: Config): boolean {
  return middleware.length > 0 || Object.keys(healthChecks).length > 0;
}

/**
 * Adds configured middleware and health checks. Until they are loaded, which may wait for a
 * repository, the checks are unhealthy.
 */
async function addConfigured(
  role: Role,
  config: Config,
  options: ConfiguredModulesOptions,
): Promise<void> {
  if (!isConfigured(config)) return;
  for (const name of Object.keys(config.healthChecks ?? {}))
    role.addHealthCheck(name, { isHealthy: async () => false });
  const { configuredModules } = await import("../modules/configured-modules.ts");
  const { middleware, healthChecks } = await configuredModules(config, options);
  for (const layer of middleware) role.addMiddleware(layer);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
}
