// `seamline build`: the application in one folder, with or without a Vite configuration of its own.

import { rm } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";

import type { InlineConfig, Plugin } from "vite";

import type { ServerManifest } from "../../src/manifest.ts";
import type { Log } from "../../src/ports.ts";
import { type Problem, Problems, formatProblem } from "../../src/problem.ts";
import { isInside, outputFolders } from "../sources.ts";
import { findIndex } from "./environments.ts";
import { type Vite, loadVite } from "./load-vite.ts";
import { takePlace, workFolder } from "./output.ts";
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

/**
 * Builds an application into `output` (architecture §1), which is replaced as a whole when everything went well.
 * Throws {@link Problems} with all that is wrong in the sources.
 */
export async function buildApplication(options: BuildOptions): Promise<Built> {
  const started = performance.now();
  const root = resolve(options.root);
  const source = options.source ?? "./src";
  const output = resolve(root, options.output ?? "./dist");
  // Replacing a folder that holds the sources would end them.
  for (const kept of [root, resolve(root, source)])
    if (kept === output || isInside(output, kept))
      throw new Error(`The output ${relative(root, output) || "."} would replace the folder ${kept}: choose another "output"`);
  const vite = await loadVite(root);
  const work = workFolder(output, `-${++builds}`);
  const { plugin, build } = createPlugin(
    { root, source, index: options.index, clients: options.clients, clientModules: options.clientModules },
    { work: outputFolders(root, work), final: outputFolders(root, output), except: [output] },
  );
  try {
    const builder = await vite.createBuilder(await inlineConfig(vite, root, resolve(root, source), options, plugin));
    await builder.buildApp();
    if (build.manifest === undefined) throw new Error("Vite has built nothing: is there another builder.buildApp in its configuration?");
    await takePlace(work, output);
  } catch (error) {
    throw error instanceof Problems ? error : new Problems(bundlerProblems(error, root));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  for (const warning of build.warnings) options.log.warn(formatProblem(warning));
  return { manifest: build.manifest, warnings: build.warnings, ms: performance.now() - started };
}

async function inlineConfig(vite: Vite, root: string, source: string, options: BuildOptions, plugin: Plugin): Promise<InlineConfig> {
  const found = await vite.loadConfigFromFile({ command: "build", mode: "production" }, undefined, root, "silent");
  const index = findIndex(options.index ?? "index.html", [source, root]);
  // Vite writes a page at its path below its root, so a page in the source folder makes that folder the root.
  const inSource = index !== undefined && dirname(index) !== root && found?.config.root === undefined;
  // Paths of the configuration stay relative to the application folder.
  const { publicDir = "public", envDir = "." } = found?.config ?? {};
  // What Vite says of Node's modules in pages is a problem here, with the way that they came.
  const warn = (line: string): void => (line.includes("externalized for browser compatibility") ? undefined : options.log.warn(line));
  const logger = vite.createLogger("warn");
  return {
    root: found?.config.root === undefined ? (inSource ? dirname(index) : root) : resolve(root, found.config.root),
    ...(inSource && { publicDir: publicDir === false ? publicDir : resolve(root, publicDir), envDir: resolve(root, envDir || ".") }),
    configFile: found?.path ?? false,
    plugins: [plugin],
    logLevel: "warn",
    // Errors are thrown, so they would be told twice.
    customLogger: { ...logger, info: () => {}, error: () => {}, warn, warnOnce: warn },
  };
}
