// The application of a test cluster, from its sources: split as a build splits it, and run by Vite's module runner, a graph of modules for
// each place. Nothing is written, and nothing listens.

import { createRequire } from "node:module";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import type { Plugin, RunnableDevEnvironment, ViteDevServer } from "vite";
import type { ModuleEvaluator } from "vite/module-runner";

import type { ServerManifest } from "../../src/manifest.ts";
import type { ModuleNamespace } from "../../src/ports.ts";
import { Problems } from "../../src/problem.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import type { Application } from "../build/application.ts";
import { graphId, type Side } from "../build/cut.ts";
import { environmentNames } from "../build/environments.ts";
import { loadVite } from "../build/load-vite.ts";
import type { SourceModule } from "../build/modules.ts";
import { createPlugin } from "../build/vite-plugin.ts";
import { browserManifest, serverManifest } from "../dev/manifest.ts";
import * as core from "../main.ts";
import { listFiles, outputFolders } from "../sources.ts";

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
}

// Nothing is kept of one that could be taken for another.
const revision = "sources";

const opened = new Map<string, { readonly sources: string; readonly application: Promise<TestApplication> }>();

/** Reads an application, once as long as its sources stay as they are. Throws {@link Problems} with all that is wrong in them. */
export async function openApplication(given: ApplicationOptions): Promise<TestApplication> {
  const root = resolve(given.root);
  const { viteConfig } = given;
  const options = { ...given, root, viteConfig: typeof viteConfig === "string" ? resolve(root, viteConfig) : viteConfig };
  const key = JSON.stringify(options);
  const sources = await stateOf(root);
  const known = opened.get(key);
  if (known?.sources === sources) return await known.application;
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
  const folders = { work: outputFolders(root, output), final: outputFolders(root, output), except: [output] };
  const { plugin, build } = createPlugin({ root, source: options.source, clients: options.clients }, folders);
  const server = await vite.createServer({
    root,
    ...(options.viteConfig === undefined ? {} : { configFile: options.viteConfig }),
    mode: "test",
    appType: "custom",
    logLevel: "error",
    clearScreen: false,
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] },
    plugins: [runtimePlugin, plugin],
    environments: {
      // The page's modules run here as well, with the parts that browsers get.
      [environmentNames.browser]: {
        consumer: "server",
        resolve: { noExternal: ["seamline"] },
        dev: { moduleRunnerTransform: true, createEnvironment: (name, config) => vite.createRunnableDevEnvironment(name, config) },
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
    const manifests = { server: known, browser: { ...known, ...(await browserManifest(read, revision, (id) => id)) } };
    return {
      read,
      manifests,
      modules(side, own) {
        const evaluator = createEvaluator(runtime, own && (async (file) => ((await isPlain(file, read)) ? await own(file) : undefined)));
        const runner = vite.createServerModuleRunner(environmentOf(server, side), { hmr: false, evaluator });
        return { manifest: async () => manifests[side], import: async (id) => await runner.import<ModuleNamespace>(id) };
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

const placeId = "\0seamline:place";
// An address that no package has, so that no resolver takes it for one: the evaluator knows what is meant.
const coreAddress = "data:text/javascript,seamline";

/** Gives each graph the runtime that the test kit itself runs on, so that both have the same classes of errors. */
const runtimePlugin: Plugin = {
  name: "seamline-testing",
  enforce: "pre",
  resolveId: {
    order: "pre",
    handler: (source) => (source === graphId || source === "seamline" || source === "seamline/client" ? placeId : undefined),
  },
  load: {
    order: "pre",
    handler: (id) =>
      id === placeId
        ? `export * from "${coreAddress}";
import { createGraph } from "${coreAddress}";
const graph = createGraph();
export const { seam, traced, context, runProcedure, bind } = graph;
`
        : undefined,
  },
};

type Runner = Pick<typeof import("vite/module-runner"), "ESModulesEvaluator" | "ssrModuleExportsKey">;

/** The module runner of the application's own Vite. */
async function loadRunner(root: string): Promise<Runner> {
  const require = createRequire(join(root, "package.json"));
  let file: string;
  try {
    file = require.resolve("vite/module-runner");
  } catch {
    // As with Vite itself: a workspace may keep it beside Seamline only.
    return await import("vite/module-runner");
  }
  return (await import(pathToFileURL(file).href)) as Runner;
}

function createEvaluator(
  { ESModulesEvaluator, ssrModuleExportsKey }: Runner,
  own: ((file: string) => Promise<ModuleNamespace | undefined>) | undefined,
): ModuleEvaluator {
  const plain = new ESModulesEvaluator();
  return {
    startOffset: plain.startOffset,
    async runInlinedModule(context, code, module) {
      const namespace = module.id === module.file ? await own?.(module.file) : undefined;
      if (namespace === undefined) return await plain.runInlinedModule(context, code);
      const exports = context[ssrModuleExportsKey] as object;
      for (const name of Object.keys(namespace))
        Object.defineProperty(exports, name, { enumerable: true, configurable: true, get: () => namespace[name] });
      return undefined;
    },
    runExternalModule: async (file: string) => (file === coreAddress ? core : await plain.runExternalModule(file)),
  };
}

/** Whether a file is a module of the application from which no import leads to a procedure: then it is the same in every place. */
async function isPlain(file: string, { modules, cut }: Application): Promise<boolean> {
  const start = modules.byFile(file);
  if (start === undefined) return false;
  const reached = new Set<SourceModule>([start]);
  // A set hands out what is added while it is walked.
  for (const module of reached) {
    if (cut.has(module.file)) return false;
    for (const edge of await modules.importsOf(module)) if (!edge.typeOnly) reached.add(edge.module);
  }
  return true;
}

/** Changes with every file of the application. */
async function stateOf(root: string): Promise<string> {
  const files = await listFiles(root);
  const states = await Promise.all(
    files.map(async (file) => {
      const { mtimeMs, size } = await stat(file);
      return `${file} ${mtimeMs} ${size}`;
    }),
  );
  return states.join("\n");
}

/** What is known of an application's procedures, of its segment files and sources as they are now, as a build would write it down. For `mswHandlers`. */
export async function readManifest(options: ManifestOptions = {}): Promise<ServerManifest> {
  const { source, clients, viteConfig } = options;
  return (await openApplication({ root: resolve(options.root ?? "."), source, clients, viteConfig })).manifests.server;
}
