// startServer (§4.6): reads the configuration, composes the role that it names, and listens.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import type { HealthCheck } from "../src/health.ts";
import type { RunProcedure } from "../src/imported.ts";
import type { Middleware } from "../src/middleware.ts";
import type { Log, ModuleNamespace } from "../src/ports.ts";
import type { Role } from "../src/roles/role.ts";
import { defaultLimits, type Limits } from "../src/serializer/limits.ts";
import { joiningWarning } from "./config-address.ts";
import { type Config, type ConfigInput, readConfig } from "./config.ts";
import { configuredModules, type ConfiguredModulesOptions } from "./configured-modules.ts";
import { definedOf } from "./defined.ts";
import { nodeHost } from "./host.ts";
import { HeldMemory } from "./held-memory.ts";
import { type HttpServer, listen } from "./http.ts";
import { readTrustKey, trustKeyWarning } from "./key.ts";
import { createLog } from "./log.ts";
import { openFilesWarning, readOpenFilesLimit } from "./open-files.ts";
import { listenToProcess } from "./process-events.ts";
import { type Composed, composeRole } from "./compose-role.ts";
import { realPath } from "./sources.ts";
import { createTransport } from "./transport.ts";
import { noteServer, forgetServer } from "./process-services.ts";

/** Imports a module of the application, so that its dependencies load from the application's context (§4.6). */
export type ModuleImporter = (specifier: string) => Promise<ModuleNamespace>;

/** How a service starts. */
export interface ServerOptions {
  /** A configuration file, or the configuration itself. Left out: `--config FILE`, else the variable SVC_CONFIG, else `./seamline.json`. */
  readonly config?: string | ConfigInput | object;
  /** The application folder [the working directory]: every path in the configuration is relative to it. */
  readonly root?: string;
  /**
   * Stop on SIGTERM and SIGINT, log promises that fail with nobody waiting instead of ending the process, and after an exception that nothing
   * caught leave the gateway before the process ends with 1 [true].
   */
  readonly signals?: boolean;
  /** `true` builds before it starts, `false` never builds. Left out: a missing output is built (decisions §6). */
  readonly build?: boolean;
  /** `true` switches the console on whatever the configuration says; a gateway, proxy or standalone has one. */
  readonly console?: boolean;
  /** In place of the lines on the terminal. */
  readonly log?: Log;
}

/** A running service. */
export interface Server {
  /** Where it listens. */
  readonly url: string;
  /** The `mode` of its configuration. */
  readonly role: Config["mode"];
  /** Registers a check; a name that exists is overwritten (§2.6). */
  addHealthCheck(name: string, check: HealthCheck): void;
  /** Adds a layer round the calls that come in; the one added last runs first (§4.8). */
  addMiddleware(middleware: Middleware): void;
  /** Runs a procedure here or on another node (§4.6). Only node and standalone have procedures to start from. */
  readonly runProcedure: RunProcedure;
  /** What it holds, for people: segments, number of procedures. */
  describe(): Readonly<Record<string, string | number | readonly string[]>>;
  /** A link to its console for one person, to be opened once within ten minutes; `undefined` where that is off. */
  consoleLink(): string | undefined;
  /** Leaves its gateway, serves on for a second, lets requests under way finish, and closes. Once; a second call waits for the first. */
  stop(): Promise<void>;
}

/** How long a service that stops serves on, in ms: until whoever balances to it has asked whether it is ready, and stays away. */
const servingOn = 1_000;
/** How long requests under way may take to finish after that, in ms (R2). */
const drainTime = 7_500;

/** Starts the service that the configuration names, and resolves when it answers (§4.6). */
export async function startServer(
  moduleImporter: ModuleImporter,
  options: ServerOptions = {},
): Promise<Server> {
  if (typeof moduleImporter !== "function")
    throw new TypeError(
      "startServer takes a module importer: startServer((specifier) => import(specifier))",
    );
  const root = realPath(options.root ?? ".");
  const given = options.config ?? configFile();
  const config = withConsole(await readConfig(given, { root }), options.console);
  const log = options.log ?? createLog({ level: config.log ?? "info" });
  // Loaded where it is used: every start would pay for Node's own part of it.
  const tls =
    config.tls === undefined
      ? undefined
      : await (
          await import("./tls.ts")
        ).readTls(config.tls, config.url, (message) => log.warn(message));
  const limits: Limits = { ...defaultLimits, ...definedOf(config.limits ?? {}) };
  const onShortage = (why: string): void => log.warn(`a request was not sent: ${why}`);
  const memory = new HeldMemory(config.limits?.heldBytes);
  const transport = createTransport({
    authorities: tls?.authorities,
    connections: limits.connections,
    memory,
    onShortage,
  });
  const host = nodeHost({ log, memory, transport });
  const trustKey = await readTrustKey(root, config.trustKey);
  const weak = trustKeyWarning(trustKey);
  if (weak !== undefined) host.log.warn(weak);
  const unreachable =
    config.mode === "node" && config.gateway !== undefined
      ? joiningWarning(config.url, config.gateway)
      : undefined;
  if (unreachable !== undefined) host.log.warn(unreachable);
  const scarce = openFilesWarning(await readOpenFilesLimit(), config.mode, limits.connections);
  if (scarce !== undefined) host.log.warn(scarce);
  const address = new URL(config.url);
  let composed: Composed | undefined;
  /** Gives back what a service holds besides its door. */
  const release = async (): Promise<void> => {
    await transport.close();
    await composed?.modules?.close();
  };
  const open = async (): Promise<Composed & { http: HttpServer }> => {
    composed = await composeRole(host, config, {
      root,
      limits,
      trustKey,
      moduleImporter,
      build: options.build,
      newId: randomUUID,
      configFile: typeof given === "string" ? resolve(root, given) : undefined,
    });
    const { role } = composed;
    // First of all: who watches over it must see that it lives while it waits for its repository, and a port that is taken must be told
    // before a gateway hears of this node.
    const http = await listen((request) => role.handle(request), {
      host: address.hostname.replace(/^\[|\]$/g, ""),
      port: address.port === "" ? (tls === undefined ? 80 : 443) : Number(address.port),
      tls,
      memory,
      limits: definedOf(config.limits ?? {}),
      onFault: (fault) => host.log.error("a request could not be answered", fault),
    });
    return { ...composed, http };
  };
  const { role, modules, console, http } = await open().catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const url = address.port === "0" ? http.url : config.url;

  let started = false;
  let stopping: Promise<void> | undefined;
  const server: Server = {
    url,
    role: config.mode,
    addHealthCheck: (name, check) => role.addHealthCheck(name, check),
    addMiddleware: (layer) => role.addMiddleware(layer),
    runProcedure: (async (...call: Parameters<RunProcedure>) => {
      if (role.runProcedure === undefined)
        throw new Error(`A ${config.mode} runs no procedures: call them on a node or standalone`);
      return await role.runProcedure(...call);
    }) as RunProcedure,
    describe: () => role.describe(),
    consoleLink: () => console?.link(),
    stop: () => (stopping ??= stop()),
  };
  const unlisten = options.signals === false ? () => {} : listenToProcess(server, host.log);
  const stop = async (): Promise<void> => {
    forgetServer(server);
    // First out of every rotation, then the door is closed: no call is sent to a closed one. Nobody balances to what never was ready.
    http.drain();
    await Promise.all([
      role.stop(),
      started ? new Promise((done) => setTimeout(done, servingOn)) : undefined,
    ]);
    await http.close(drainTime);
    await release();
    unlisten();
  };

  try {
    await addConfigured(role, config, { root, modules, moduleImporter });
    // A turn later: a main file adds its middleware in the lines behind its start.
    await role.start(url, async () => await new Promise((done) => setImmediate(done)));
  } catch (error) {
    // Asked to stop while it was starting: that is no failure of the start.
    const asked = stopping !== undefined;
    await server.stop();
    if (asked) return server;
    throw error;
  }
  started = true;
  // Other roles send nothing at all, or did to start. The first call that a gateway passes on would wait for this; what fails here fails
  // there again, and is told.
  if (config.mode === "gateway") transport.load().catch(() => {});
  noteServer(server);
  host.log.info(startedLine(server));
  return server;
}

/** Adds what the configuration names. Until they are there its checks count as unhealthy: loading them may take as long as a repository is away. */
async function addConfigured(
  role: Role,
  config: Config,
  options: ConfiguredModulesOptions,
): Promise<void> {
  for (const name of Object.keys(config.healthChecks ?? {}))
    role.addHealthCheck(name, { isHealthy: async () => false });
  const { middleware, healthChecks } = await configuredModules(config, options);
  for (const one of middleware) role.addMiddleware(one);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
}

function withConsole(config: Config, asked: boolean | undefined): Config {
  if (asked === undefined) return config;
  if ("console" in config) return { ...config, console: asked };
  if (asked)
    throw new Error(`A ${config.mode} has no console: a gateway, a proxy or a standalone has one`);
  return config;
}

function startedLine(server: Server): string {
  const facts = Object.entries(server.describe()).map(
    ([name, value]) =>
      `${name}: ${Array.isArray(value) ? value.join(", ") || "none" : String(value)}`,
  );
  return `${server.role} at ${server.url}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
}

function configFile(): string {
  const { values } = parseArgs({ options: { config: { type: "string" } }, strict: false });
  if (typeof values.config === "string") return values.config;
  const named = process.env["SVC_CONFIG"];
  return named === undefined || named === "" ? "./seamline.json" : named;
}
