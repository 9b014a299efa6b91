// Builds at the start of a service, if needed. Vite runs in a child process: a role never loads it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import type { ServerManifest } from "../../src/base/manifest.ts";
import type { Log } from "../../src/base/ports.ts";
import { type BuildConfig, type BuildSettings, buildSettings } from "../config/build-settings.ts";
import type { BuiltManifest } from "../files/repository-files.ts";
import { parseManifest } from "../modules/parse-manifest.ts";
import { packageFolder } from "../base/package-folder.ts";
import { buildEnd, builderOf, buildStamp } from "../files/build-lock.ts";
import { recoverFolder } from "../files/replaced-folder.ts";
import {
  findOutput,
  isFile,
  isStale,
  listFiles,
  manifestFiles,
  type OutputFolders,
  slashed,
  viteOutputFolders,
} from "../files/sources.ts";
import { Stopped } from "./stopped.ts";

export interface EnsureBuildOptions extends BuildConfig {
  /** The application folder. */
  readonly root: string;
  /** `true` always builds, `false` never. Default: if there is no build and Vite is installed. */
  readonly build?: boolean | undefined;
  readonly log: Log;
  /** Replaces the child process that builds. */
  readonly run?: (settings: BuildSettings) => Promise<void>;
}

/** A usable build. Its manifest is read once for all that need it. */
export interface EnsuredBuild {
  readonly output: OutputFolders;
  readonly built: BuiltManifest;
}

/**
 * The folders and manifest of a usable build, built first if necessary. Warns if the build is older than the
 * sources.
 */
export async function ensureBuild(options: EnsureBuildOptions): Promise<EnsuredBuild> {
  const { root, source, output, browserSegments, build, log, run = runBuild } = options;
  const shown = `./${slashed(relative(root, output))}`;
  for (const folder of [output, viteOutputFolders(root, output).server])
    if (await recoverFolder(folder))
      log.warn(
        `a build was killed while it replaced ./${slashed(relative(root, folder))}: it is complete now`,
      );
  let folders = await findOutput(root, output);
  const before = await buildStamp(folders);
  const builder = folders === undefined || build === true ? await builderOf(output) : undefined;
  if (builder !== undefined) {
    log.info(`process ${builder} is building ${shown}: waiting for it`);
    await buildEnd(output);
    folders = await findOutput(root, output);
  }
  const missing = folders === undefined;
  const isFresh = (await buildStamp(folders)) !== before;
  if (!isFresh && (build === true || (missing && build !== false && hasVite(root)))) {
    log.info(missing ? `there is no build in ${shown} yet: making one` : `building ${shown}`);
    await run(buildSettings(options, root));
    folders = await findOutput(root, output);
  }
  if (folders === undefined) {
    const reason =
      build === false
        ? "and --no-build forbids making one"
        : "and Vite isn't installed here to make one";
    throw new Error(
      `There is no build in ${shown}, ${reason}. Run 'seamline build', here or on a machine with Vite, and copy ${shown}`,
    );
  }
  // Report a partial build, from a failed copy or a full disk, here: nothing after this would
  // notice.
  const path = join(folders.server, manifestFiles.server);
  const bytes = await readFile(path);
  const manifest = parseManifest(bytes.toString("utf8"), path);
  if (!(await isFile(join(folders.server, manifestFiles.browser))))
    throw new Error(
      `The build in ${shown} has no ${manifestFiles.browser}: it is incomplete. Build again`,
    );
  // Only Vite's configuration knows where its pages are.
  if (folders.browser === output && !existsSync(output))
    log.warn(
      `Vite built modules into ./.seamline/server, but there are no pages in ${shown}. Set 'output' to Vite's build.outDir`,
    );
  // The build decides which segments browsers may load: a shorter list has no effect before the
  // next build.
  if (browserSegments !== undefined && listed(browserSegments) !== listed(manifest.browserSegments))
    log.warn(
      `'browserSegments' names ${listed(browserSegments)}, and the build in ${shown} lets browsers load ${listed(manifest.browserSegments)}. Run 'seamline build' with this configuration, or start with --build`,
    );
  if ((await hasModules(source, manifest)) && (await isStale(root, source, output, manifest)))
    log.warn(
      `the build in ${shown} is older than the sources. Run 'seamline build', or start with --build`,
    );
  return { output: folders, built: { bytes, manifest } };
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "none" : [...new Set(names)].toSorted().join(", ");

// A machine that only serves can't compare: its source folder has only assets, if it exists at all.
async function hasModules(
  source: string,
  { modules }: Pick<ServerManifest, "modules">,
): Promise<boolean> {
  const files = await listFiles(source).catch(() => []);
  return files.some((file) =>
    Object.hasOwn(modules, slashed(relative(source, file)).replace(/\.[cm]?[jt]sx?$/, "")),
  );
}

function hasVite(root: string): boolean {
  // A workspace may have Vite only beside Seamline.
  for (const from of [join(root, "package.json"), join(packageFolder, "package.json")]) {
    try {
      createRequire(from).resolve("vite");
      return true;
    } catch {
      // Try the next one.
    }
  }
  return false;
}

// The end of a failed build's output, for the message.
const maxOutput = 100_000;

async function runBuild(settings: BuildSettings): Promise<void> {
  const cli = join(packageFolder, "dist/cli.js");
  if (!(await isFile(cli)))
    throw new Error(`Seamline's command line is missing at ${cli}: install the package again`);
  const child = spawn(process.execPath, [cli, "build", "--settings", JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding("utf8")
      .on("data", (text: string) => (output = (output + text).slice(-maxOutput)));
  // A signal to this process must end the child too.
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("error", (error) =>
        reject(new Error(`The build could not be started: ${error.message}`, { cause: error })),
      );
      child.once("close", (code, signal) => {
        // Even if the build succeeded, the service isn't wanted any more.
        if (received !== undefined) reject(new Stopped(`Stopped by ${received} during the build`));
        else if (code === 0) resolve();
        else
          reject(
            new Error(
              signal === null
                ? `The build failed\n\n${output.trim()}`
                : `The build was ended by ${signal}`,
            ),
          );
      });
    });
  } finally {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, stop);
  }
}
