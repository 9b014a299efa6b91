// `seamline build`: the application in one folder, with or without a Vite configuration of its own.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";

import type { InlineConfig, Plugin, ViteBuilder } from "vite";

import type { ServerManifest } from "../../src/base/manifest.ts";
import { makeFolder, writing } from "../base/write-failure.ts";
import type { Log } from "../../src/base/ports.ts";
import { type Problem, Problems, formatProblem } from "../../src/base/problem.ts";
import { type BuildSettings, pickBuildKeys } from "../config/build-settings.ts";
import { lockOutput } from "../files/build-lock.ts";
import { outputFolders, realPath } from "../files/sources.ts";
import type { Build } from "../compile/write/build-run.ts";
import { findIndex } from "../compile/write/environments.ts";
import { inlineRoot } from "../compile/plugin/inline-root.ts";
import { type Vite, loadVite } from "../compile/read/load-vite.ts";
import { insteadOfOutput, refuseOutput } from "../compile/write/output.ts";
import { recoverFolder, takePlace, workFolder } from "../files/replaced-folder.ts";
import { bundlerProblems } from "../compile/write/problems.ts";
import { createPlugin } from "./vite-plugin.ts";

/** Defaults: `source` is ./src, `output` is ./dist. */
export interface BuildOptions extends Partial<BuildSettings> {
  readonly root: string;
  readonly log: Log;
}

export interface Built {
  readonly manifest: ServerManifest;
  /** Already logged. */
  readonly warnings: readonly Problem[];
  readonly ms: number;
}

// Two builds in one process must not share a folder.
let builds = 0;

/** A configured build that hasn't run, with all that is needed to read the application. */
export interface PreparedBuild {
  readonly vite: Vite;
  readonly build: Build;
  readonly builder: ViteBuilder;
  readonly root: string;
  readonly output: string;
  /** Where it writes until it has finished. */
  readonly work: string;
}

/** Sets up a build. Reads Vite's configuration, and writes nothing. */
export async function prepareBuild(options: BuildOptions): Promise<PreparedBuild> {
  const root = realPath(options.root);
  const source = options.source ?? "./src";
  const output = resolve(root, options.output ?? "./dist");
  const vite = await loadVite(root);
  const work = workFolder(output, `-${++builds}`);
  const { plugins, build } = createPlugin(
    { root, ...pickBuildKeys(options), source },
    { work: outputFolders(root, work), final: outputFolders(root, output), except: [output] },
  );
  const builder = await vite.createBuilder(
    await inlineConfig(vite, root, realPath(resolve(root, source)), options, plugins),
  );
  return { vite, build, builder, root, output, work };
}

/**
 * Builds an application into `output`, which is replaced as a whole if the build succeeds. Throws
 * {@link Problems} with every mistake in the sources, and BuildRunning if another process builds the
 * same output.
 */
export async function buildApplication(options: BuildOptions): Promise<Built> {
  const started = performance.now();
  const root = realPath(options.root);
  const output = resolve(root, options.output ?? "./dist");
  // It keeps the files of the last build.
  await recoverFolder(output);
  await refuseOutput(root, realPath(resolve(root, options.source ?? "./src")), output);
  const unlock = await writing(output, insteadOfOutput, () => lockOutput(output));
  let work: string | undefined;
  try {
    const prepared = await prepareBuild(options);
    ({ work } = prepared);
    const { build, builder } = prepared;
    const { warnings } = build.findings;
    await writing(output, insteadOfOutput, () => makeFolder(prepared.work));
    await builder.buildApp();
    if (build.manifest === undefined)
      throw new Error(
        "Vite has built nothing: is there another builder.buildApp in its configuration?",
      );
    await writing(output, insteadOfOutput, () => takePlace(prepared.work, output));
    for (const warning of warnings) options.log.warn(formatProblem(warning));
    return { manifest: build.manifest, warnings, ms: performance.now() - started };
  } catch (error) {
    throw error instanceof Problems ? error : new Problems(bundlerProblems(error, root));
  } finally {
    // The folder may be missing if it couldn't be created.
    if (work !== undefined && existsSync(work)) await rm(work, { recursive: true, force: true });
    await unlock();
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
  // We report Node's modules in pages ourselves, with the chain of imports.
  const warn = (line: string): void =>
    line.includes("externalized for browser compatibility") ? undefined : options.log.warn(line);
  const logger = vite.createLogger("warn");
  return {
    ...inlineRoot(found?.config, root, index),
    configFile: found?.path ?? false,
    plugins,
    logLevel: "warn",
    // Errors are thrown; the logger would report them a second time.
    customLogger: { ...logger, info: () => {}, error: () => {}, warn, warnOnce: warn },
  };
}
