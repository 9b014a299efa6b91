// A service's requirements for a build. During a deploy, a service may start before its repository has the build
// that it was configured for.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { entryOf, type ServerManifest } from "../../src/base/manifest.ts";
import { withSegments } from "../../src/runtime/registry.ts";
import type { Config } from "../config/config.ts";
import { findOutput, manifestFiles, slashed } from "../files/sources.ts";
import { parseManifest } from "./parse-manifest.ts";

/** The reason why a service can't start with a build, and a hint. */
export interface Lack {
  readonly message: string;
  readonly hint: string;
}

/** A service's requirements for a build. */
export interface Needs {
  /** The first requirement that a build doesn't meet. */
  lackOf(manifest: ServerManifest): Lack | undefined;
  /**
   * Whether the build in the service's own folder meets all of them. Then a repository that doesn't has an earlier
   * build; otherwise, the configuration is wrong.
   */
  metHere(): Promise<boolean>;
}

/** The requirements of a configuration. */
export function needsOf(config: Config, root: string): Needs {
  const lackOf = lackIn(config, root);
  return {
    lackOf,
    async metHere() {
      const output = await findOutput(root, "dist");
      if (output === undefined) return false;
      const path = join(output.server, manifestFiles.server);
      try {
        return lackOf(parseManifest(await readFile(path, "utf8"), path)) === undefined;
      } catch {
        // Mistakes in this build aren't the reason why the service can't start.
        return false;
      }
    },
  };
}

function lackIn(config: Config, root: string): Needs["lackOf"] {
  const segments = config.mode === "node" ? config.segments : [];
  const named = [...(config.middleware ?? []), ...Object.values(config.healthChecks ?? {})];
  return (manifest) => {
    const hint = (key: string): string =>
      `Deploy the build there that has it, or correct '${key}' in the configuration`;
    try {
      withSegments(manifest, segments);
    } catch (error) {
      return { message: (error as Error).message, hint: hint("segments") };
    }
    const module = named.find((path) => isAbsolute(path) && !isThere(path, root, manifest));
    if (module === undefined) return undefined;
    const key = config.middleware?.includes(module) === true ? "middleware" : "healthChecks";
    return {
      message: `'./${slashed(relative(root, module))}' of '${key}' isn't in it`,
      hint: hint(key),
    };
  };
}

function isThere(path: string, root: string, { modules }: ServerManifest): boolean {
  const name = moduleNameOf(path, `${root}/src`);
  // A module outside of the source folder is a file of this machine, or a mistake.
  return name === undefined || entryOf(modules, name) !== undefined || existsSync(path);
}

/** The build's name of a module in the source folder. */
export function moduleNameOf(path: string, source: string): string | undefined {
  const inside = slashed(relative(source, path));
  return inside.startsWith("..") ? undefined : inside.replace(/\.[cm]?[jt]sx?$/, "");
}
