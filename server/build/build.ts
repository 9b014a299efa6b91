// `seamline build`: the application in one folder, with or without a Vite configuration of its own.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";

import type { InlineConfig, Plugin, ViteBuilder } from "vite";

import type { ServerManifest } from "../../src/manifest.ts";
import type { Log } from "../../src/ports.ts";
import { type Problem, Problems, formatProblem } from "../../src/problem.ts";
import { outputFolders, realPath } from "../sources.ts";
import type { Build } from "./build-run.ts";
import { findIndex } from "./environments.ts";
import { inlineRoot } from "./inline-root.ts";
import { type Vite, loadVite } from "./load-vite.ts";
import { makeFolder, refuseOutput, takePlace, workFolder } from "./output.ts";
import { bundlerProblems } from "./problems.ts";
import { createPlugin } from "./vite-plugin.ts";

export interface BuildOptions {
  /** The application folder. All other paths are relative to it. */
  readonly root: string;
  /** [./src] */
  readonly source?: string | undefined;
  /** [./dist] */
  readonly output?: string | undefined;
  /** [index.html] */
  readonly index?: string | undefined;
  readonly clients?: readonly string[] | undefined;
  readonly clientModules?: readonly string[] | undefined;
  readonly log: Log;
}

export interface Built {
  readonly manifest: ServerManifest;
  /** Already logged. */
  readonly warnings: readonly Problem[];
  readonly ms: number;
}

// Two builds of one process must not share a folder.
let builds = 0;

/** A build before it is run: what was configured, and what an application's sources can be read with. */
export interface PreparedBuild {
  readonly vite: Vite;
  readonly build: Build;
  readonly builder: ViteBuilder;
  readonly root: string;
  readonly output: string;
  /** Where it writes until it is done. */
  readonly work: string;
}

/** Sets up what `seamline build` runs. Nothing is read or written yet but Vite's configuration. */
export async function prepareBuild(options: BuildOptions): Promise<PreparedBuild> {
  const root = realPath(options.root);
  const source = options.source ?? "./src";
  const output = resolve(root, options.output ?? "./dist");
  const vite = await loadVite(root);
  const work = workFolder(output, `-${++builds}`);
  const { plugins, build } = createPlugin(
    {
      root,
      source,
      index: options.index,
      clients: options.clients,
      clientModules: options.clientModules,
    },
    { work: outputFolders(root, work), final: outputFolders(root, output), except: [output] },
  );
  const builder = await vite.createBuilder(
    await inlineConfig(vite, root, realPath(resolve(root, source)), options, plugins),
  );
  return { vite, build, builder, root, output, work };
}

/**
 * Builds an application into `output` (architecture §1), which is replaced as a whole when everything went well.
 * Throws {@link Problems} with all that is wrong in the sources.
 */
export async function buildApplication(options: BuildOptions): Promise<Built> {
  const started = performance.now();
  const root = realPath(options.root);
  const output = resolve(root, options.output ?? "./dist");
  await refuseOutput(root, realPath(resolve(root, options.source ?? "./src")), output);
  let work: string | undefined;
  try {
    const prepared = await prepareBuild(options);
    ({ work } = prepared);
    const { build, builder } = prepared;
    await makeFolder(work);
    await builder.buildApp();
    if (build.manifest === undefined)
      throw new Error(
        "Vite has built nothing: is there another builder.buildApp in its configuration?",
      );
    await takePlace(work, output);
    for (const warning of build.warnings) options.log.warn(formatProblem(warning));
    return { manifest: build.manifest, warnings: build.warnings, ms: performance.now() - started };
  } catch (error) {
    throw error instanceof Problems ? error : new Problems(bundlerProblems(error, root));
  } finally {
    // Where it could not even be made, it can't be looked for.
    if (work !== undefined && existsSync(work)) await rm(work, { recursive: true, force: true });
  }
}

async function inlineConfig(
  vite: Vite,
  root: string,
  source: string,
  options: BuildOptions,
  plugins: Plugin[],
): Promise<InlineConfig> {
  const found = await vite.loadConfigFromFile(
    { command: "build", mode: "production" },
    undefined,
    root,
    "silent",
  );
  const index = findIndex(options.index ?? "index.html", [source, root]);
  // What Vite says of Node's modules in pages is a problem here, with the way that they came.
  const warn = (line: string): void =>
    line.includes("externalized for browser compatibility") ? undefined : options.log.warn(line);
  const logger = vite.createLogger("warn");
  return {
    ...inlineRoot(found?.config, root, index),
    configFile: found?.path ?? false,
    plugins,
    logLevel: "warn",
    // Errors are thrown, so they would be told twice.
    customLogger: { ...logger, info: () => {}, error: () => {}, warn, warnOnce: warn },
  };
}
