// `seamline dev` without its terminal: Vite's server with our plugin, and a session that outlives its restarts.

import { resolve } from "node:path";

import type { InlineConfig, Logger, ViteDevServer } from "vite";

import { Problems } from "../../src/problem.ts";
import { findIndex } from "../build/environments.ts";
import { inlineRoot } from "../build/inline-root.ts";
import { loadVite } from "../build/load-vite.ts";
import { createPlugin, type SeamlineOptions } from "../build/vite-plugin.ts";
import { realPath } from "../sources.ts";
import { readConfiguration } from "./configuration.ts";
import type { Development } from "./development.ts";
import { placesIn } from "./layout.ts";
import { moveProcedure } from "./move.ts";
import type { DevEvent, DevOptions, DevSession, StartDev } from "./session.ts";

/** How long nodes may take before the session is shown, in ms: they go on loading then, and calls wait for them. */
const patience = 10_000;

/** Of an application with more modules on servers nobody waits for all of them to be loaded. */
const mostModules = 100;

export const startDev: StartDev = async (options) => {
  const { log } = options;
  const root = realPath(options.root);
  const vite = await loadVite(root);
  const listeners = new Set<(event: DevEvent) => void>();
  let development: Development | undefined;
  const { plugins } = createPlugin(await optionsOf(root, options.config), undefined, {
    config: options.config,
    log,
    tell: (event) => listeners.forEach((one) => one(event)),
    opened: (one) => (development = one),
  });
  /** What is told before anybody can listen is not lost. */
  const early: DevEvent[] = [];
  const keep = (event: DevEvent): void => void early.push(event);
  listeners.add(keep);
  const server = await vite.createServer(await inlineConfig(vite, root, options, plugins));
  await server.listen();
  const session = (): Development => {
    if (development === undefined) throw new Error("Vite has started without Seamline's plugin");
    return development;
  };
  if ((await modulesOf(session())) <= mostModules) await inTime(session().ready, patience);
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
  const cluster = () => {
    const { cluster: found } = development().deployment;
    if (found === undefined) throw new Error("There are no nodes yet: mend what is wrong first");
    return found;
  };
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
    nodes: () => development().deployment.nodes(),
    procedures() {
      const { manifest, deployment } = development();
      if (manifest === undefined) return [];
      return manifest.procedures.map(({ fqn, version, parameters }, index) => {
        const named = Object.entries(manifest.segments).flatMap(([name, entries]) =>
          entries
            .filter((entry) => entry.procedure === index)
            .map(({ access }) => ({ name, access })),
        );
        const segments = named.map(({ name }) => name);
        const access =
          (["public", "protected"] as const).find((one) =>
            named.some((entry) => entry.access === one),
          ) ?? "private";
        return {
          fqn,
          version,
          access,
          segments,
          parameters,
          nodes: placesIn(deployment.layout, segments, manifest.clients),
        };
      });
    },
    async call(fqn, args, version = "0.0.0") {
      await development().ready;
      const nodes = cluster();
      const [holder] = nodes.holders(fqn, version);
      const from = holder ?? nodes.nodes().find((one) => one.state === "ready")?.name;
      const role = from === undefined ? undefined : nodes.node(from).role;
      if (role?.runProcedure === undefined) throw new Error("No node is ready to call from");
      const began = performance.now();
      const value = await role.runProcedure(fqn, version, args);
      return { value, node: holder, ms: performance.now() - began };
    },
    async kill(node) {
      await development().ready;
      await cluster().node(node).kill();
    },
    async start(node) {
      await development().ready;
      await cluster().node(node).start();
    },
    async move(fqn, toSegment) {
      const application = await development().application();
      await moveProcedure(application, fqn, toSegment);
    },
    on(listener) {
      listeners.add(listener);
      for (const event of takeEarly()) listener(event);
      return () => void listeners.delete(listener);
    },
    close: async () => await server.close(),
  };
}

/** How many modules servers have, as soon as the application is read; none while it can't be, of which the session tells. */
async function modulesOf(development: Development): Promise<number> {
  await development.read;
  return development.manifest === undefined ? 0 : Object.keys(development.manifest.modules).length;
}

/** What of the configuration is the plugin's to know; a broken one is told by the session, and followed when it is mended. */
async function optionsOf(root: string, given: string | undefined): Promise<SeamlineOptions> {
  const found = await readConfiguration(root, given).catch((error: unknown) => {
    if (!(error instanceof Problems)) throw error;
    return undefined;
  });
  const config = found?.config;
  if (config === undefined) return { root };
  const { source, index, clients, clientModules } = config;
  return { root, source, index, clients, clientModules };
}

async function inlineConfig(
  vite: typeof import("vite"),
  root: string,
  options: DevOptions,
  plugins: ReturnType<typeof createPlugin>["plugins"],
): Promise<InlineConfig> {
  const found = await vite.loadConfigFromFile(
    { command: "serve", mode: "development" },
    undefined,
    root,
    "silent",
  );
  const { source = "./src", index = "index.html" } = await optionsOf(root, options.config);
  return {
    ...inlineRoot(found?.config, root, findIndex(index, [realPath(resolve(root, source)), root])),
    configFile: found?.path ?? false,
    plugins,
    clearScreen: false,
    // What Vite has to say goes through our log, with all else.
    customLogger: viteLogger(vite, options.log),
    server: {
      ...(options.port !== undefined && { port: options.port, strictPort: options.port !== 0 }),
      ...(options.host !== undefined && { host: options.host }),
      ...(options.open !== undefined && { open: options.open }),
    },
  };
}

/** Warnings and errors; of each change we tell ourselves, and of the application's mistakes once. */
function viteLogger(vite: typeof import("vite"), log: DevOptions["log"]): Logger {
  const silent = vite.createLogger("silent");
  const told = new Set<string>();
  const warn = (line: string): void => log.warn(plain(line));
  return {
    ...silent,
    warn,
    warnOnce: (line) => {
      if (!told.has(line)) warn(line);
      told.add(line);
    },
    error: (line, { error } = {}) => {
      if (error?.name !== "Problems") log.error(plain(line));
    },
  };
}

// Vite writes for terminals of its own.
// oxlint-disable-next-line no-control-regex
const plain = (line: string): string => line.replace(/\u001b\[[\d;]*m/g, "");

async function inTime(awaited: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => (timer = setTimeout(done, ms)));
  await Promise.race([awaited, late]).finally(() => clearTimeout(timer));
}
