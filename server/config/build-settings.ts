// The settings of a build. A configuration, the Vite plugin, the command line and a development
// session each bring some of them; `buildKeys` is the only list of their names.

import type { ApplicationConfig, StandaloneInput } from "./config-types.ts";

/** The keys of a configuration that decide what a build reads and writes, except its output folder. */
export const buildKeys = [
  "source",
  "index",
  "browserSegments",
  "browserModules",
  "guards",
  "validate",
  "openapi",
  "revisions",
] as const;

/** A key of a configuration that decides what a build reads or writes. */
export type BuildKey = (typeof buildKeys)[number];

/** The keys of a configuration that a build reads. */
export interface BuildConfig
  extends
    Pick<ApplicationConfig, "source" | "index" | "output">,
    Partial<Pick<StandaloneInput, Exclude<BuildKey, "source" | "index">>> {}

/**
 * The settings of a build. A starting service passes them to a child process on its command line, which every
 * user of the machine can read: no secrets.
 */
export interface BuildSettings extends Omit<BuildConfig, "openapi"> {
  /** The application folder. All other paths are relative to it. */
  readonly root: string;
  /** Refuses two operations that an OpenAPI document would give one id. */
  readonly openapi?: true | undefined;
}

/** The members of `options` that {@link buildKeys} names. */
export function pickBuildKeys<T extends Partial<Pick<BuildConfig, BuildKey>>>(
  options: T,
): Pick<T, BuildKey & keyof T> {
  const named = buildKeys.map((key) => [key, options[key]]);
  return Object.fromEntries(named) as Pick<T, BuildKey & keyof T>;
}

/** The settings of a configuration's build, and nothing else that it has. */
export function buildSettings(config: BuildConfig, root: string): BuildSettings {
  return {
    root,
    output: config.output,
    ...pickBuildKeys(config),
    // In a configuration, it may hold a token.
    openapi: config.openapi === undefined ? undefined : true,
  };
}
