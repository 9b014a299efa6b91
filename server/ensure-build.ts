// Builds at start (decisions §6, builds). Vite runs in a child process only: a role never loads it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import type { ServerManifest } from "../src/manifest.ts";
import type { Log } from "../src/ports.ts";
import type { ApplicationConfig } from "./config.ts";
import { parseManifest } from "./module-source.ts";
import { packageFolder } from "./package-folder.ts";
import {
  findOutput,
  isFile,
  isStale,
  listFiles,
  manifestFiles,
  type OutputFolders,
  slashed,
} from "./sources.ts";

/** The process was told to stop while it was building: nothing has failed, and nothing starts. */
export class Stopped extends Error {
  override readonly name: string = "Stopped";
}

export interface EnsureBuildOptions extends Pick<
  ApplicationConfig,
  "source" | "output" | "index" | "clients" | "clientModules"
> {
  /** The application folder. */
  readonly root: string;
  /** `true` builds in any case, `false` in none; left out, when there is no build and Vite is installed. */
  readonly build?: boolean | undefined;
  readonly log: Log;
  /** Runs a build in place of the child process. */
  readonly run?: (settings: BuildSettings) => Promise<void>;
}

/** What the child process is told. No secret is among it: command lines can be read by everyone on the machine. */
export type BuildSettings = Pick<
  EnsureBuildOptions,
  "root" | "source" | "output" | "index" | "clients" | "clientModules"
>;

/** The folders of a build that can be served; made first where that is wanted. Warns of one that is older than the sources. */
export async function ensureBuild(options: EnsureBuildOptions): Promise<OutputFolders> {
  const { root, source, output, index, clients, clientModules, log } = options;
  const shown = `./${slashed(relative(root, output))}`;
  let folders = await findOutput(root, output);
  const missing = folders === undefined;
  if (options.build === true || (missing && options.build !== false && hasVite(root))) {
    log.info(missing ? `there is no build in ${shown} yet: making one` : `building ${shown}`);
    await (options.run ?? runBuild)({ root, source, output, index, clients, clientModules });
    folders = await findOutput(root, output);
  }
  if (folders === undefined) {
    const reason =
      options.build === false
        ? "and --no-build forbids to make one here"
        : "and Vite is not installed here to make one";
    throw new Error(
      `There is no build in ${shown}, ${reason}. Run 'seamline build', here or where Vite is, and bring ${shown} along`,
    );
  }
  // Half a build, copied or written while a disk was full, must be told as such: nothing after this looks for it.
  const path = join(folders.server, manifestFiles.server);
  const manifest = parseManifest(await readFile(path, "utf8"), path);
  if (!(await isFile(join(folders.server, manifestFiles.browser))))
    throw new Error(
      `The build in ${shown} has no ${manifestFiles.browser}: it is not whole. Build again`,
    );
  // Only Vite's own configuration knows where its pages went.
  if (folders.browser === output && !existsSync(output))
    log.warn(
      `Vite built modules into ./.seamline/server, but there are no pages in ${shown}. Name Vite's build.outDir in 'output'`,
    );
  // Which segments browsers may load was settled by the build: who narrows the list must not believe that it is narrower already.
  if (clients !== undefined && listed(clients) !== listed(manifest.clients))
    log.warn(
      `'clients' names ${listed(clients)}, and the build in ${shown} lets browsers load ${listed(manifest.clients)}. Run 'seamline build' with this configuration, or start with --build`,
    );
  if ((await hasModules(source, manifest)) && (await isStale(root, source, output, manifest)))
    log.warn(
      `the build in ${shown} is older than the sources. Run 'seamline build', or start with --build`,
    );
  return folders;
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "none" : [...new Set(names)].toSorted().join(", ");

// A machine that only serves has nothing to compare a build with: its source folder holds assets, if it is there at all.
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
  // A workspace may keep Vite beside Seamline only.
  for (const from of [join(root, "package.json"), join(packageFolder, "package.json")]) {
    try {
      createRequire(from).resolve("vite");
      return true;
    } catch {
      // Not there: the next place, or none.
    }
  }
  return false;
}

// What is kept of a build's output for the message, if it fails.
const mostOutput = 100_000;

async function runBuild(settings: BuildSettings): Promise<void> {
  const cli = join(packageFolder, "dist/cli.js");
  if (!(await isFile(cli)))
    throw new Error(`Seamline's own command line is missing at ${cli}: install the package again`);
  const child = spawn(process.execPath, [cli, "build", "--settings", JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding("utf8")
      .on("data", (text: string) => (output = (output + text).slice(-mostOutput)));
  // Whoever ends this process now must not leave the child behind.
  let asked: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    asked = signal;
    child.kill(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("error", (error) =>
        reject(new Error(`The build could not be started: ${error.message}`, { cause: error })),
      );
      child.once("close", (code, signal) => {
        // However far the build came: nobody wants what it was for.
        if (asked !== undefined) reject(new Stopped(`Stopped by ${asked}, while it was building`));
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
