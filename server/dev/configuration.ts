// The configuration of a development session: the application part of the service configuration.

import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { Problems } from "../../src/base/problem.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { type RepositoryConfig, type StandaloneConfig, readConfig } from "../config/config.ts";
import { configVariable } from "../config/config-file.ts";

export interface DevConfiguration {
  /** Absolute, when it is a file. */
  readonly file: string | undefined;
  /** `undefined` without a configuration file: all keys have their defaults. */
  readonly config: StandaloneConfig | RepositoryConfig | undefined;
  readonly limits: Limits;
}

/**
 * Reads `path`, else SEAMLINE_CONFIG, else ./seamline.json if it exists. Throws {@link Problems}.
 */
export async function readConfiguration(
  root: string,
  path: string | undefined,
): Promise<DevConfiguration> {
  const file = configurationFile(root, path);
  if (file === undefined) return { file, config: undefined, limits: defaultLimits };
  const config = await readConfig(file, { root });
  if (config.mode !== "standalone" && config.mode !== "repository")
    throw new Problems([
      {
        file: path ?? "seamline.json",
        path: "mode",
        message: `development starts from what holds the application: a 'standalone' or a 'repository', and this is a ${config.mode}`,
        hint: "Name another configuration with --config, or leave it out.",
      },
    ]);
  const limits = Object.fromEntries(
    Object.entries(config.limits ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<Limits>;
  return { file, config, limits: { ...defaultLimits, ...limits } };
}

/** The file that {@link readConfiguration} would read, readable or not. */
export function configurationFile(root: string, path: string | undefined): string | undefined {
  const named = path ?? configVariable(process.env);
  if (named !== undefined && named !== "") return resolve(root, named);
  const defaultFile = resolve(root, "seamline.json");
  return existsSync(defaultFile) ? defaultFile : undefined;
}
