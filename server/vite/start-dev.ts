// `seamline dev` without its terminal: Vite's server with our plugin, and a session that survives
// Vite's restarts.

import { resolve } from "node:path";

import type { InlineConfig, Logger, ViteDevServer } from "vite";

import { Problems } from "../../src/base/problem.ts";
import { findIndex } from "../compile/write/environments.ts";
import { inlineRoot } from "../compile/plugin/inline-root.ts";
import { loadVite } from "../compile/read/load-vite.ts";
import { createPlugin, type SeamlineOptions } from "./vite-plugin.ts";
import { proceduresIn } from "../../src/roles/members/manifest-procedures.ts";
import { pickBuildKeys } from "../config/build-settings.ts";
import { realPath } from "../files/sources.ts";
import { readConfiguration } from "../dev/configuration.ts";
import { Development } from "../dev/development.ts";
import { locationsOf } from "../dev/node-segments.ts";
import type { DevEvent, DevOptions, DevSession, StartDev } from "../dev/session.ts";

/** After this long the session is shown even if nodes are still loading. Calls wait for them. */
const nodesTimeoutMs = 10_000;

/** With more server modules than this, the session is shown before they are loaded. */
const maxAwaitedModules = 100;

export const startDev: StartDev = async (options) => {
  const { log } = options;
  const root = realPath(options.root);
  const vite = await loadVite(root);
  const listeners = new Set<(event: DevEvent) => void>();
  let development: Development | undefined;
  const onEvent = (event: DevEvent): void => listeners.forEach((listener) => listener(event));
  const { plugins } = createPlugin(await optionsOf(root, options.config), undefined, {
    config: options.config,
    // Runs again whenever Vite restarts.
    open: (viteServer, reader) =>
      (development = new Development(viteServer, reader, { config: options.config, log, onEvent })),
  });
  /** Events before the first listener. */
  const early: DevEvent[] = [];
  const keep = (event: DevEvent): void => void early.push(event);
  listeners.add(keep);
  const server = await vite.createServer(await inlineConfig(vite, root, options, plugins));
  await server.listen();
  const session = (): Development => {
    if (development === undefined) throw new Error("Vite has started without Seamline's plugin");
    return development;
  };
  if ((await countModules(session())) <= maxAwaitedModules)
    await atMost(session().ready, nodesTimeoutMs);
  return createSession(server, root, session, listeners, () => {
    listeners.delete(keep);
    return early.splice(0);
  });
};

function createSession(
  server: ViteDevServer,
  root: string,
  development: () => Development,
  listeners: Set<(event: DevEvent) => void>,
  takeEarly: () => readonly DevEvent[],
): DevSession {
  return {
    get url() {
      return development().url;
    },
    consoleUrl: () => development().deployment.consoleLink(development().url),
    watched: [root],
    get isRead() {
      return development().manifest !== undefined;
    },
    get ready() {
      return development().ready;
    },
    nodes: () => development().deployment.describeNodes(),
    procedures() {
      const { manifest, deployment } = development();
      if (manifest === undefined) return [];
      return proceduresIn(manifest).map((procedure) => ({
        ...procedure,
        nodes: locationsOf(deployment.nodeSegments, procedure.segments, manifest.browserSegments),
      }));
    },
    async call(fqn, args, version = "0.0.0") {
      await development().ready;
      const { deployment } = development();
      const holder = deployment.holder(fqn, version);
      const from = holder ?? deployment.nodes.find(({ role }) => role !== undefined);
      const { role } = from ?? {};
      if (role?.runProcedure === undefined) throw new Error("No node is ready to call from");
      const began = performance.now();
      const value = await role.runProcedure(fqn, version, args);
      return { value, node: holder?.name, ms: performance.now() - began };
    },
    kill: async (node) => await development().controls.kill(node),
    start: async (node) => await development().controls.start(node),
    move: async (fqn, segment) => await development().controls.move(fqn, segment),
    on(listener) {
      listeners.add(listener);
      for (const event of takeEarly()) listener(event);
      return () => void listeners.delete(listener);
    },
    close: async () => await server.close(),
  };
}

/** The number of server modules; 0 if the application has problems. */
async function countModules(development: Development): Promise<number> {
  await development.read;
  return development.manifest === undefined ? 0 : Object.keys(development.manifest.modules).length;
}

/** The plugin options in the configuration. The session itself reports a broken configuration. */
async function optionsOf(root: string, file: string | undefined): Promise<SeamlineOptions> {
  const configuration = await readConfiguration(root, file).catch((error: unknown) => {
    if (!(error instanceof Problems)) throw error;
    return undefined;
  });
  const config = configuration?.config;
  return { root, ...(config !== undefined && pickBuildKeys(config)) };
}

async function inlineConfig(
  vite: typeof import("vite"),
  root: string,
  options: DevOptions,
  plugins: ReturnType<typeof createPlugin>["plugins"],
): Promise<InlineConfig> {
  const viteConfig = await vite.loadConfigFromFile(
    { command: "serve", mode: "development" },
    undefined,
    root,
    "silent",
  );
  const { source = "./src", index = "index.html" } = await optionsOf(root, options.config);
  return {
    ...inlineRoot(
      viteConfig?.config,
      root,
      findIndex(index, [realPath(resolve(root, source)), root]),
    ),
    configFile: viteConfig?.path ?? false,
    plugins,
    clearScreen: false,
    customLogger: viteLogger(vite, options.log),
    server: {
      ...(options.port !== undefined && { port: options.port, strictPort: options.port !== 0 }),
      ...(options.host !== undefined && { host: options.host }),
      ...(options.open !== undefined && { open: options.open }),
    },
  };
}

/**
 * Passes on warnings and errors. The session reports changes and problems in the application
 * itself.
 */
function viteLogger(vite: typeof import("vite"), log: DevOptions["log"]): Logger {
  const silent = vite.createLogger("silent");
  const warned = new Set<string>();
  const warn = (line: string): void => log.warn(plain(line));
  return {
    ...silent,
    warn,
    warnOnce: (line) => {
      if (!warned.has(line)) warn(line);
      warned.add(line);
    },
    error: (line, { error } = {}) => {
      if (error?.name !== "Problems") log.error(plain(line));
    },
  };
}

// Vite writes with colours.
// oxlint-disable-next-line no-control-regex
const plain = (line: string): string => line.replace(/\u001b\[[\d;]*m/g, "");

async function atMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => (timer = setTimeout(done, ms)));
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
