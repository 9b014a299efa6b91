// The application of a test cluster: split as in a build, and run from its sources by Vite's module
// runner, with a module graph for each node and page. It writes no files and opens no ports.

import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { RunnableDevEnvironment, ViteDevServer } from "vite";

import { noContext } from "../../src/base/context.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { Application } from "../compile/cut/application.ts";
import type { Side } from "../compile/cut/cut.ts";
import { environmentNames } from "../compile/read/module-ids.ts";
import { readTypesOf } from "../compile/write/argument-types.ts";
import type { SourceModule } from "../compile/read/modules.ts";
import { createPlugin } from "../vite/vite-plugin.ts";
import { browserManifest, serverManifest } from "../dev/manifest.ts";
import { runFailure } from "../dev/problems.ts";
import { listFiles, outputFolders, realPath } from "../files/sources.ts";
import { LiveTypes } from "../local/live-types.ts";
import { createModuleRunner } from "../local/module-runner.ts";
import { loadRunner, loadVite } from "../compile/read/load-vite.ts";
import { evaluateWith, runtimePlugin } from "./runtime.ts";

/** See the options of `createTestCluster`. */
export interface ApplicationOptions {
  readonly root: string;
  readonly source: string | undefined;
  readonly browserSegments: readonly string[] | undefined;
  readonly validate?: boolean | undefined;
  readonly viteConfig: string | false | undefined;
}

/** Selects the application, as for `createTestCluster`. */
export type ManifestOptions = Partial<ApplicationOptions>;

/** Imports a module of the application as the test does, so that both share one instance. */
export type OwnImporter = (file: string) => Promise<ModuleNamespace>;

export interface TestApplication {
  readonly read: Application;
  readonly manifests: Readonly<Record<Side, ServerManifest>>;
  /** Of parameters: the first call from outside has them read. */
  readonly types: LiveTypes;
  /**
   * A new module graph. Modules that don't import procedures, even indirectly, come from `own` if
   * it is set.
   */
  modules(side: Side, own?: OwnImporter): ServerModules;
  /** Keeps the application open until the returned function is called. */
  use(): () => void;
  /** Closes the application once it has no users. Call it when the sources have changed. */
  retire(): void;
}

// A constant: nothing is cached under it.
const revision = "sources";

const opened = new Map<
  string,
  { readonly sources: string; readonly application: Promise<TestApplication> }
>();

/**
 * Reads an application, or returns the one read before if its sources haven't changed. Throws
 * {@link Problems}.
 */
export async function openApplication(parts: ApplicationOptions): Promise<TestApplication> {
  const root = realPath(parts.root);
  const { viteConfig } = parts;
  const options = {
    ...parts,
    root,
    viteConfig: typeof viteConfig === "string" ? resolve(root, viteConfig) : viteConfig,
  };
  const key = JSON.stringify(options);
  const sources = await stateOf(root);
  const previous = opened.get(key);
  if (previous?.sources === sources) return await previous.application;
  previous?.application.then(
    (application) => application.retire(),
    // It failed, so there is nothing to close.
    () => {},
  );
  const application = open(options);
  opened.set(key, { sources, application });
  // Try again after a failure: it may be fixed without changing the sources.
  application.catch(() => opened.delete(key));
  return await application;
}

async function open(options: ApplicationOptions): Promise<TestApplication> {
  const { root } = options;
  const vite = await loadVite(root);
  const runnerModule = await loadRunner(root);
  const output = join(root, "dist");
  // Nothing is written here. The folders only tell which files aren't sources.
  const folders = {
    work: outputFolders(root, output),
    final: outputFolders(root, output),
    except: [output],
  };
  const { plugins, build } = createPlugin(
    {
      root,
      source: options.source,
      browserSegments: options.browserSegments,
      validate: options.validate,
    },
    folders,
  );
  build.reader.setForTests();
  const server = await vite.createServer({
    root,
    ...(options.viteConfig === undefined ? {} : { configFile: options.viteConfig }),
    mode: "test",
    appType: "custom",
    logLevel: "error",
    clearScreen: false,
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] },
    plugins: [runtimePlugin, ...plugins],
    environments: {
      // Pages run in this process too, with the parts for browsers.
      [environmentNames.browser]: {
        consumer: "server",
        resolve: { noExternal: ["seamline"] },
        dev: {
          moduleRunnerTransform: true,
          createEnvironment: (name, config) => vite.createRunnableDevEnvironment(name, config),
        },
      },
      // Otherwise Node would resolve it, to another runtime than the test kit's.
      [environmentNames.server]: { resolve: { noExternal: ["seamline"] } },
    },
  });
  try {
    const environment = environmentOf(server, "server");
    const read = await build.reader.application(environment);
    if (read.problems.length > 0) throw new Problems(read.problems);
    const forServers = await serverManifest(read, revision, server.config);
    // A page in memory loads modules as a node does, but those for browsers.
    const manifests = {
      server: forServers,
      browser: { ...forServers, ...(await browserManifest(read, revision, (id) => id)) },
    };
    const types = new LiveTypes(async () => await readTypesOf(read, server.config));
    let users = 0;
    let isRetired = false;
    const closeUnused = (): void => void (isRetired && users === 0 && server.close());
    return {
      read,
      manifests,
      types,
      use() {
        users++;
        return () => {
          users--;
          closeUnused();
        };
      },
      retire() {
        isRetired = true;
        closeUnused();
      },
      modules(side, own) {
        const plain =
          own &&
          (async (file: string) => ((await isPlain(file, read)) ? await own(file) : undefined));
        const runner = createModuleRunner({
          vite: runnerModule,
          environment: environmentOf(server, side),
          // Imported here, as a static import of all exports would cost every service a helper's file.
          runtime: async () => ({
            ...(await import("../main.ts")),
            ...(await import("../../src/internal.ts")),
            ...(side === "browser" && { getContext: noContext }),
          }),
          evaluate: evaluateWith(plain),
        });
        return {
          manifest: async () => manifests[side],
          async import(id) {
            try {
              return await runner.import<ModuleNamespace>(id);
            } catch (error) {
              throw runFailure(error, id, { root, manifest: manifests[side] });
            }
          },
        };
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

function environmentOf(server: ViteDevServer, side: Side): RunnableDevEnvironment {
  return server.environments[environmentNames[side]] as RunnableDevEnvironment;
}

/**
 * Whether a file is a module that doesn't import procedures, even indirectly. Every graph can share
 * it.
 */
async function isPlain(file: string, { modules, cut }: Application): Promise<boolean> {
  const start = modules.byFile(file);
  if (start === undefined) return false;
  const reached = new Set<SourceModule>([start]);
  // The loop also visits what it adds.
  for (const module of reached) {
    if (cut.has(module.file)) return false;
    for (const edge of await modules.importsOf(module))
      if (!edge.typeOnly) reached.add(edge.module);
  }
  return true;
}

/** A text that changes whenever a file of the application does. */
async function stateOf(root: string): Promise<string> {
  const files = await listFiles(root);
  const states = await Promise.all(
    files.map(async (file) => {
      // A file that was just removed is a change too.
      const stats = await stat(file).catch(() => undefined);
      return `${file} ${stats?.mtimeMs} ${stats?.size}`;
    }),
  );
  return states.join("\n");
}

/** The manifest that a build of the current sources would write. For `mswHandlers`. */
export async function readManifest(options: ManifestOptions = {}): Promise<ServerManifest> {
  const { source, browserSegments, viteConfig } = options;
  return (
    await openApplication({
      root: resolve(options.root ?? "."),
      source,
      browserSegments,
      viteConfig,
    })
  ).manifests.server;
}
