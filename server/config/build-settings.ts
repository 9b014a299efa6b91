// The settings of a build, as a configuration gives them.

import type { ApplicationConfig, StandaloneInput } from "./config-types.ts";

/** The keys of a configuration that a build reads. */
export interface BuildConfig
  extends
    Pick<
      ApplicationConfig,
      "source" | "output" | "index" | "browserSegments" | "browserModules" | "openapi"
    >,
    Partial<Pick<StandaloneInput, "guards" | "validate" | "revisions">> {}

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

/** The settings of a configuration's build, and nothing else that it has. */
export function buildSettings(config: BuildConfig, root: string): BuildSettings {
  const { source, output, index, browserSegments, browserModules, guards, validate } = config;
  return {
    root,
    source,
    output,
    index,
    browserSegments,
    browserModules,
    guards,
    validate,
    // In a configuration, it may hold a token.
    openapi: config.openapi === undefined ? undefined : true,
    revisions: config.revisions,
  };
}
