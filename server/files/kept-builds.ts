// A build keeps the previous ones, so that work that began with them can go on after a deploy: the files of open
// pages, and the modules of nodes that have yet to restart.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { entryOf, type ServerManifest } from "../../src/base/manifest.ts";
import { isFile, manifestFiles, type OutputFolders } from "./sources.ts";

/** A build, and the files that browsers get of it: paths below the browser's folder. */
export interface KeptBuild {
  readonly revision: string;
  readonly files: readonly string[];
}

/** The contents of {@link manifestFiles.kept}. */
export interface KeptBuilds {
  /** How many earlier builds this output holds at most. */
  readonly revisions: number;
  /** The current build and the previous ones, latest first. */
  readonly builds: readonly KeptBuild[];
}

/**
 * The folder for a build's own manifests and modules after the next build. It only has modules that differ from the
 * current build's.
 */
export function earlierFolder(server: string, revision: string): string {
  return join(server, "earlier", revision);
}

/** The builds in an output. Throws if the list is damaged. */
export async function readKeptBuilds(folders: OutputFolders): Promise<KeptBuilds> {
  const path = join(folders.server, manifestFiles.kept);
  if (!(await isFile(path))) return { revisions: 0, builds: [] };
  try {
    const value = JSON.parse(await readFile(path, "utf8")) as Partial<KeptBuilds>;
    const { revisions, builds } = value;
    if (Number.isSafeInteger(revisions) && builds?.every(isKeptBuild) === true)
      return { revisions: revisions as number, builds };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new Error(
    `${path} doesn't list the builds of this output: it is damaged. Remove it, and build again`,
  );
}

function isKeptBuild({ revision, files }: KeptBuild): boolean {
  return (
    // It names a folder.
    /^\w[\w.-]{0,127}$/.test(revision) &&
    Array.isArray(files) &&
    files.every((file) => typeof file === "string")
  );
}

/** The earlier builds of an output that are served, and the browser files of those that aren't. */
export interface ServedBuilds {
  /** Latest first. */
  readonly earlier: readonly string[];
  /** Files that only unserved builds have. */
  readonly hidden: ReadonlySet<string>;
}

/** The part of the output that a service with this `revisions` serves. */
export function servedBuilds({ builds }: KeptBuilds, revisions: number): ServedBuilds {
  const [served, others] = [builds.slice(0, revisions + 1), builds.slice(revisions + 1)];
  const shown = new Set(served.flatMap(({ files }) => files));
  return {
    earlier: served.slice(1).map(({ revision }) => revision),
    hidden: new Set(others.flatMap(({ files }) => files).filter((file) => !shown.has(file))),
  };
}

/** The modules of a build according to its manifest, of any release of Seamline. */
export async function readBuilt(
  manifest: string,
): Promise<Pick<ServerManifest, "revision" | "files">> {
  const { revision, files } = JSON.parse(await readFile(manifest, "utf8")) as ServerManifest;
  return { revision, files };
}

/**
 * The bytes of a module of a build that is, or was, in `server`: builds that ran since may have
 * replaced it. `undefined` if it's gone, or the manifest doesn't list it.
 */
export async function readBuiltModule(
  server: string,
  { revision, files }: Pick<ServerManifest, "revision" | "files">,
  file: string,
): Promise<Uint8Array | undefined> {
  // Only read names that the manifest lists: a path from a message must not open a file.
  const record = entryOf(files, file);
  if (record === undefined) return undefined;
  for (const folder of [server, earlierFolder(server, revision)]) {
    const bytes = await contentOf(join(folder, "modules", file));
    if (bytes !== undefined && integrityOf(bytes) === record.integrity) return bytes;
  }
  return undefined;
}

async function contentOf(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // Another build may have a folder of this name, or a file in place of a folder.
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(code)) return undefined;
    throw error;
  }
}

/** The hash in the form of Subresource Integrity, as in the manifest. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha256-${createHash("sha256").update(bytes).digest("base64")}`;
}
