// The files of a page's runtime, as the package's build has laid them out.

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { packageFolder } from "./package-folder.ts";

/** Files with the names that pages can rely on. Each re-exports its namesake in the hash's folder. */
export const namedRuntimeFolder: string = join(packageFolder, "dist/svc");

let hash: string | undefined;

/** The hash of all files of the runtime, and the name of their folder: the same wherever this release runs. */
export function runtimeHash(): string {
  hash ??= readdirSync(namedRuntimeFolder).find(isRuntimeHash);
  if (hash === undefined)
    throw new Error(`${namedRuntimeFolder} has no files of pages. Build or install Seamline again`);
  return hash;
}

export const isRuntimeHash = (name: string): boolean => /^[0-9a-f]{16}$/.test(name);

/** The folder with the files themselves. */
export const runtimeFolder = (): string => join(namedRuntimeFolder, runtimeHash());
