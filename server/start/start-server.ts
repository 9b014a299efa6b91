// startServer: reads the configuration, composes the role that it names, and listens.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import type { RunProcedure } from "../../src/types/imported.ts";
import { TransportError } from "../../src/base/ports.ts";
import { defaultDrainMs } from "../../src/base/protocol.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits, type Limits } from "../../src/codec/values/limits.ts";
import { joiningWarning } from "../config/config-address.ts";
import { configVariable, defaultConfigFile } from "../config/config-file.ts";
import { type Config, readConfig } from "../config/config.ts";
import type { ConfiguredModulesOptions } from "../modules/configured-modules.ts";
import { definedOf } from "../base/defined.ts";
import { nodeHost } from "../http/host.ts";
import { Heartbeat } from "../http/event-loop.ts";
import { HeldMemory } from "../http/held-memory.ts";
import { type HttpServer, listen } from "../http/http.ts";
import { readTrustKey, trustKeyWarning } from "../config/key.ts";
import { createLog } from "../base/log.ts";
import { openFilesWarning, readOpenFilesLimit } from "../config/open-files.ts";
import { applicationImporter, type ModuleImporter } from "../modules/module-importer.ts";
import { listenToProcess } from "./process-events.ts";
import { type Composed, composeRole } from "./compose-role.ts";
import { registerHost, registerServer, unregisterServer } from "./process-services.ts";
import type { Server, ServerOptions } from "./server.ts";
import { serverInfo, startedLine } from "./server-info.ts";
import { realPath } from "../files/sources.ts";
import { createTransport } from "../http/transport.ts";

/**
 * How long a stopping service serves on: load balancers need to see that it isn't ready before it
 * closes.
 */
const servingOnMs = 1_000;

/**
 * Starts the service that the configuration names, and resolves when it answers. `moduleImporter`
 * imports modules and packages as the application would; the default does so from its folder.
 */
export async function startServer(
  moduleImporter?: ModuleImporter,
  options: ServerOptions = {},
): Promise<Server> {
  if (moduleImporter !== undefined && typeof moduleImporter !== "function")
    throw new TypeError(
      "startServer takes a module importer: startServer((specifier) => import(specifier))",
    );
  const root = realPath(options.root ?? ".");
  const importer = moduleImporter ?? applicationImporter(root);
  const source = options.config ?? configFile();
  const config = withConsole(await readConfig(source, { root }), options.console);
  const log = options.log ?? createLog({ level: config.log ?? "info" });
  // Imported only here: loading Node's TLS would slow down every start.
  const tls =
    config.tls === undefined
      ? undefined
      : await (
          await import("../config/tls.ts")
        ).readTls(config.tls, config.url, (message) => log.warn(message));
  const limits: Limits = { ...defaultLimits, ...definedOf(config.limits ?? {}) };
  const memory = new HeldMemory(config.limits?.heldBytes);
  const transport = createTransport({
    authorities: tls?.authorities,
    connections: limits.maxConnections,
    memory,
    onShortage: (reason) => log.warn(`a request was not sent: ${reason}`),
  });
  const host = nodeHost({ log, memory, transport });
  const trustKey = await readTrustKey(root, config.trustKey);
  for (const warning of [
    trustKeyWarning(trustKey),
    config.mode === "node" && config.gateway !== undefined
      ? joiningWarning(config.url, config.gateway)
      : undefined,
    openFilesWarning(await readOpenFilesLimit(), config.mode, limits.maxConnections),
  ])
    if (warning !== undefined) log.warn(warning);
  const address = new URL(config.url);
  const heartbeat = new Heartbeat((line) => log.warn(line));
  let composed: Composed | undefined;
  /** Releases what a service holds besides its listening socket. */
  const release = async (): Promise<void> => {
    heartbeat.stop();
    await transport.close();
    await composed?.modules?.close();
  };
  const open = async (): Promise<Composed & { http: HttpServer }> => {
    composed = await composeRole(host, config, {
      root,
      limits,
      trustKey,
      moduleImporter: importer,
      build: options.build,
      newId: randomUUID,
      configFile: typeof source === "string" ? resolve(root, source) : undefined,
    });
    const { role } = composed;
    // Listen first: health probes must see that it is alive while it waits for its repository, and
    // a port that is taken must be reported before a gateway hears of this node.
    const http = await listen((request) => role.handle(request), {
      host: address.hostname.replace(/^\[|\]$/g, ""),
      port: address.port === "" ? (tls === undefined ? 80 : 443) : Number(address.port),
      tls,
      memory,
      heartbeat,
      limits: definedOf(config.limits ?? {}),
      onFault: (fault) => {
        // The service whose answer broke off logs the error.
        if (fault instanceof TransportError) log.warn(`an answer broke off: ${fault.message}`);
        else log.error("a request could not be answered", fault);
      },
      onCut: (count) =>
        log.warn(
          `cut ${count === 1 ? "a request that was" : `${count} requests that were`} still running`,
        ),
    });
    return { ...composed, http };
  };
  const { role, modules, console, http } = await open().catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const url = address.port === "0" ? http.url : config.url;

  const unregisterHost = registerHost(host);
  let started = false;
  let stopping: Promise<void> | undefined;
  const server: Server = {
    url,
    mode: config.mode,
    get info() {
      return serverInfo(config, url, role.describe());
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
  const drainMs = config.drainMs ?? defaultDrainMs;
  const stopWithin = (ms: number): Promise<void> => (stopping ??= stop(ms));
  const unlisten =
    options.signals === false ? () => {} : listenToProcess({ stopWithin, drainMs, log });
  const stop = async (ms: number): Promise<void> => {
    const end = performance.now() + ms;
    unregisterServer(server);
    // Leave every rotation before the socket closes, so that no call is sent to a closed one. A
    // service that never was ready is in no rotation.
    http.drain();
    await Promise.race([
      Promise.all([role.leave(), started ? pause(servingOnMs) : undefined]),
      pause(ms, undefined, { ref: false }),
    ]);
    role.refuseCalls();
    await http.close(Math.max(0, end - performance.now()));
    await role.stop();
    unregisterHost();
    await release();
    unlisten();
  };

  // A start that was told to stop may be left with timers that don't keep the process alive. If it
  // ended before its start does, Node would report a failure.
  const alive = setInterval(() => {}, 1_000_000);
  try {
    await addConfigured(role, config, { root, modules, moduleImporter: importer });
    // One turn later, so that a main file can add middleware in the lines after `await
    // startServer(…)`.
    await role.start(url, async () => await new Promise((done) => setImmediate(done)));
  } catch (error) {
    // Being stopped while it starts isn't a failure of the start.
    const wasStopped = stopping !== undefined;
    await server.stop();
    if (wasStopped) return server;
    throw error;
  } finally {
    clearInterval(alive);
  }
  started = true;
  registerServer(server);
  log.info(startedLine(server.info));
  return server;
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
  const checks = Object.keys(config.healthChecks ?? {});
  if (checks.length === 0 && (config.middleware ?? []).length === 0) return;
  for (const name of checks) role.addHealthCheck(name, { isHealthy: async () => false });
  const { configuredModules } = await import("../modules/configured-modules.ts");
  const { middleware, healthChecks } = await configuredModules(config, options);
  for (const layer of middleware) role.addMiddleware(layer);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
}

function withConsole(config: Config, isOn: boolean | undefined): Config {
  if (isOn === undefined) return config;
  if ("console" in config) return { ...config, console: isOn };
  if (isOn)
    throw new Error(`A ${config.mode} has no console: a gateway, a proxy or a standalone has one`);
  return config;
}

function configFile(): string {
  const { values } = parseArgs({ options: { config: { type: "string" } }, strict: false });
  if (typeof values.config === "string") return values.config;
  return configVariable(process.env) ?? defaultConfigFile;
}
