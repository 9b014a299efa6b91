// `seamline build`: browser's part, server's part and manifests of an application, in one folder.

import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type Config, readConfig } from "../config.ts";
import type { BuildSettings } from "../ensure-build.ts";
import { createLog } from "../log.ts";
import type { BuildCommandOptions } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Builds, and says in one line what came of it. */
export async function build(options: BuildCommandOptions, terminal: Terminal): Promise<void> {
  const settings =
    options.settings === undefined
      ? await buildSettings(options, terminal)
      : (JSON.parse(options.settings) as BuildSettings);
  const log = createLog({ out: terminal.stdout, err: terminal.stderr, env: terminal.env });
  // The one place that leads to Vite.
  const { buildApplication } = await import("../build/build.ts");
  const { manifest, warnings, ms } = await buildApplication({ ...settings, log });
  const counts = [
    `${count(manifest.procedures.length, "procedure")} in ${count(Object.keys(manifest.segments).length, "segment")}`,
    count(Object.keys(manifest.modules).length, "module"),
    ...(warnings.length === 0 ? [] : [count(warnings.length, "warning")]),
  ];
  log.info(
    `built ./${relative(settings.root, settings.output)} in ${(ms / 1_000).toFixed(1)} s: ${counts.join(", ")} (revision ${manifest.revision})`,
  );
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** What a build is made of, by the command line, else by a configuration, else by default. */
export async function buildSettings(
  options: Pick<BuildCommandOptions, "root" | "config" | "source" | "output">,
  { env }: Terminal,
): Promise<BuildSettings> {
  const root = resolve(options.root);
  const config = await configFor(options.config ?? env["SVC_CONFIG"], root, env);
  return {
    root,
    source: resolve(root, options.source ?? config?.source ?? "./src"),
    output: resolve(root, options.output ?? config?.output ?? "./dist"),
    index: config?.index ?? "index.html",
    clients: config?.clients,
    clientModules: config?.clientModules,
  };
}

type Building = Extract<Config, { source: string }>;

async function configFor(
  named: string | undefined,
  root: string,
  env: Terminal["env"],
): Promise<Building | undefined> {
  const file = named ?? "./seamline.json";
  if (named === undefined && !existsSync(resolve(root, file))) return undefined;
  const config = await readConfig(file, { root, env });
  if ("source" in config) return config;
  // Chosen: a ./seamline.json that nobody named is taken if it says something of a build.
  if (named === undefined) return undefined;
  throw new Error(
    `${named} is of mode '${config.mode}', which knows no sources: name the configuration of a repository or standalone`,
  );
}
