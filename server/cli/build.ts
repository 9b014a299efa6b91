// `seamline build`: writes the browser part, the server part and the manifests of an application.

import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { configVariable, defaultConfigFile } from "../config/config-file.ts";
import { type Config, readConfig } from "../config/config.ts";
import { type BuildSettings, buildSettings } from "../config/build-settings.ts";
import { buildEnd, BuildRunning, buildStamp } from "../files/build-lock.ts";
import { findOutput } from "../files/sources.ts";
import { createLog } from "../base/log.ts";
import { count } from "../base/paint.ts";
import type { Terminal } from "../base/terminal.ts";
import { readCount, withRoot } from "./options.ts";

interface BuildCommandOptions {
  readonly source?: string;
  readonly output?: string;
  readonly config?: string;
  /** How many earlier builds the output keeps. */
  readonly revisions?: number;
  readonly root: string;
  /** JSON of `BuildSettings`: how a starting service asks for a build. */
  readonly settings?: string;
}

export function addBuild(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("build")
      .description("build an application for browsers and for nodes")
      .option("-s, --source <folder>", "where the modules are (default: ./src)")
      .option("-o, --output <folder>", "where the build goes (default: ./dist)")
      .option("-c, --config <file>", "configuration of a repository or standalone that has both")
      .option("--revisions <number>", "how many earlier builds to keep (default: 1)", readCount),
  )
    .addOption(new Option("--settings <json>").hideHelp())
    .action(async (options: BuildCommandOptions) => await build(options, terminal));
}

/** Builds, and prints one line about the result. */
async function build(options: BuildCommandOptions, terminal: Terminal): Promise<void> {
  const settings =
    options.settings === undefined
      ? await settingsOf(options, terminal)
      : (JSON.parse(options.settings) as BuildSettings);
  const log = createLog({ out: terminal.stdout, err: terminal.stderr, env: terminal.env });
  // Only this import leads to Vite.
  const { buildApplication } = await import("../vite/build.ts");
  const start = async (): ReturnType<typeof buildApplication> =>
    await buildApplication({ ...settings, log });
  const built = options.settings === undefined ? await start() : await onlyOne(settings, start);
  // Another service has built the same output meanwhile.
  if (built === undefined) return;
  const { manifest, warnings, ms } = built;
  const routes = new Set(
    Object.values(manifest.routes ?? {}).flatMap((entries) => entries.map(({ name }) => name)),
  );
  const counts = [
    `${count(manifest.procedures.length, "procedure")}${routes.size === 0 ? "" : ` and ${count(routes.size, "route")}`} in ${count(Object.keys(manifest.segments).length, "segment")}`,
    count(Object.keys(manifest.modules).length, "module"),
    ...(warnings.length === 0 ? [] : [count(warnings.length, "warning")]),
  ];
  log.info(
    `built ./${relative(settings.root, settings.output)} in ${(ms / 1_000).toFixed(1)} s: ${counts.join(", ")} (revision ${manifest.revision})`,
  );
}

/** Builds, unless another process is building the same output, and does so with success. */
async function onlyOne<T>(
  { root, output }: BuildSettings,
  start: () => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    const before = await buildStamp(await findOutput(root, output));
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof BuildRunning)) throw error;
      await buildEnd(error.folder);
    }
    if ((await buildStamp(await findOutput(root, output))) !== before) return undefined;
  }
}

/** The settings of a build: from the command line, else from a configuration, else the defaults. */
export async function settingsOf(
  options: Pick<BuildCommandOptions, "root" | "config" | "source" | "output" | "revisions">,
  { env }: Terminal,
): Promise<BuildSettings> {
  const root = resolve(options.root);
  const config = await configFor(options.config ?? configVariable(env), root, env);
  const configured = config && buildSettings(config, root);
  return {
    ...configured,
    root,
    source: resolve(root, options.source ?? configured?.source ?? "./src"),
    output: resolve(root, options.output ?? configured?.output ?? "./dist"),
    index: configured?.index ?? "index.html",
    revisions: options.revisions ?? configured?.revisions,
  };
}

type ApplicationConfig = Extract<Config, { source: string }>;

async function configFor(
  named: string | undefined,
  root: string,
  env: Terminal["env"],
): Promise<ApplicationConfig | undefined> {
  const file = named ?? defaultConfigFile;
  if (named === undefined && !existsSync(resolve(root, file))) return undefined;
  const config = await readConfig(file, { root, env });
  if ("source" in config) return config;
  // The default ./seamline.json only counts if it has settings of a build.
  if (named === undefined) return undefined;
  throw new Error(
    `${named} has mode '${config.mode}', which has no sources: name the configuration of a repository or standalone`,
  );
}
