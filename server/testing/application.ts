// The application of a test cluster, from its sources: split as a build splits it, and run by Vite's module runner, a graph of modules for
// each place. Nothing is written, and nothing listens.

import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { RunnableDevEnvironment, ViteDevServer } from "vite";

import type { ServerManifest } from "../../src/manifest.ts";
import type { ModuleNamespace } from "../../src/ports.ts";
import { Problems } from "../../src/problem.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import type { Application } from "../build/application.ts";
import type { Side } from "../build/cut.ts";
import { environmentNames } from "../build/environments.ts";
import { loadVite } from "../build/load-vite.ts";
import type { SourceModule } from "../build/modules.ts";
import { createPlugin } from "../build/vite-plugin.ts";
import { browserManifest, serverManifest } from "../dev/manifest.ts";
import { runFailure } from "../dev/problem-of.ts";
import { listFiles, outputFolders, realPath } from "../sources.ts";
import { createRunner, loadRunner, runtimePlugin } from "./runner.ts";

/** As in `createTestCluster`. */
export interface ApplicationOptions {
  readonly root: string;
  readonly source: string | undefined;
  readonly clients: readonly string[] | undefined;
  readonly viteConfig: string | false | undefined;
}

/** Which application: as in `createTestCluster`, and each may be left out. */
export type ManifestOptions = Partial<ApplicationOptions>;

/** Imports a module of the application as the test itself would: the instance is the one that the test has. */
export type OwnImporter = (file: string) => Promise<ModuleNamespace>;

export interface TestApplication {
  readonly read: Application;
  readonly manifests: Readonly<Record<Side, ServerManifest>>;
  /** A new graph of modules. With an importer, modules that lead to no procedure are taken from it. */
  modules(side: Side, own?: OwnImporter): ServerModules;
  /** Has it stay until the returned function is called. */
  use(): () => void;
  /** It is not what the sources say any more: it goes with the last one who uses it. */
  outdate(): void;
}

// Nothing is kept of one that could be taken for another.
const revision = "sources";

const opened = new Map<
  string,
  { readonly sources: string; readonly application: Promise<TestApplication> }
>();

/** Reads an application, once as long as its sources stay as they are. Throws {@link Problems} with all that is wrong in them. */
export async function openApplication(given: ApplicationOptions): Promise<TestApplication> {
  const root = realPath(given.root);
  const { viteConfig } = given;
  const options = {
    ...given,
    root,
    viteConfig: typeof viteConfig === "string" ? resolve(root, viteConfig) : viteConfig,
  };
  const key = JSON.stringify(options);
  const sources = await stateOf(root);
  const known = opened.get(key);
  if (known?.sources === sources) return await known.application;
  known?.application.then(
    (one) => one.outdate(),
    // There is nothing to close.
    () => {},
  );
  const application = open(options);
  opened.set(key, { sources, application });
  // What fails is tried again: the mistake may be mended without a change of the sources.
  application.catch(() => opened.delete(key));
  return await application;
}

async function open(options: ApplicationOptions): Promise<TestApplication> {
  const { root } = options;
  const vite = await loadVite(root);
  const runtime = await loadRunner(root);
  const output = join(root, "dist");
  // Nothing is written; the folders say what is no source.
  const folders = {
    work: outputFolders(root, output),
    final: outputFolders(root, output),
    except: [output],
  };
  const { plugins, build } = createPlugin(
    { root, source: options.source, clients: options.clients },
    folders,
  );
  build.forTests = true;
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
      // The page's modules run here as well, with the parts that browsers get.
      [environmentNames.browser]: {
        consumer: "server",
        resolve: { noExternal: ["seamline"] },
        dev: {
          moduleRunnerTransform: true,
          createEnvironment: (name, config) => vite.createRunnableDevEnvironment(name, config),
        },
      },
      // Else it would be Node's to find, and each graph would have another runtime than the test kit.
      [environmentNames.server]: { resolve: { noExternal: ["seamline"] } },
    },
  });
  try {
    const environment = environmentOf(server, "server");
    const read = await build.application(environment);
    if (read.problems.length > 0) throw new Problems(read.problems);
    const known = await serverManifest(read, revision);
    // A page in memory loads what a node does, of what browsers may have.
    const manifests = {
      server: known,
      browser: { ...known, ...(await browserManifest(read, revision, (id) => id)) },
    };
    let users = 0;
    let isOutdated = false;
    const closeUnused = (): void => void (isOutdated && users === 0 && server.close());
    return {
      read,
      manifests,
      use() {
        users++;
        return () => {
          users--;
          closeUnused();
        };
      },
      outdate() {
        isOutdated = true;
        closeUnused();
      },
      modules(side, own) {
        const plain =
          own &&
          (async (file: string) => ((await isPlain(file, read)) ? await own(file) : undefined));
        const runner = createRunner(runtime, environmentOf(server, side), plain);
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

/** Whether a file is a module of the application from which no import leads to a procedure: then it is the same in every place. */
async function isPlain(file: string, { modules, cut }: Application): Promise<boolean> {
  const start = modules.byFile(file);
  if (start === undefined) return false;
  const reached = new Set<SourceModule>([start]);
  // A set hands out what is added while it is walked.
  for (const module of reached) {
    if (cut.has(module.file)) return false;
    for (const edge of await modules.importsOf(module))
      if (!edge.typeOnly) reached.add(edge.module);
  }
  return true;
}

/** Changes with every file of the application. */
async function stateOf(root: string): Promise<string> {
  const files = await listFiles(root);
  const states = await Promise.all(
    files.map(async (file) => {
      // One that has gone in this moment is another state as well.
      const found = await stat(file).catch(() => undefined);
      return `${file} ${found?.mtimeMs} ${found?.size}`;
    }),
  );
  return states.join("\n");
}

/** What is known of an application's procedures, of its segment files and sources as they are now, as a build would write it down. For `mswHandlers`. */
export async function readManifest(options: ManifestOptions = {}): Promise<ServerManifest> {
  const { source, clients, viteConfig } = options;
  return (
    await openApplication({ root: resolve(options.root ?? "."), source, clients, viteConfig })
  ).manifests.server;
}
