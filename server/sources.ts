// The application's folder as a build reads it, without Vite: which files there are, a hash of them, and where the output lies.

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { readFile, readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";

import type { ServerManifest } from "../src/manifest.ts";
import { segmentFileEnding } from "../src/segment.ts";

/** Folders of a finished build. */
export interface OutputFolders {
  /** All of it is public. */
  readonly browser: string;
  /** `manifest.json`, `manifest.browser.json`, `modules/`. */
  readonly server: string;
}

/** Files in {@link OutputFolders.server}, beside the folder `modules`. */
export const manifestFiles = {
  server: "manifest.json",
  browser: "manifest.browser.json",
  /** Names the browser files of the two latest revisions, for the next build. */
  kept: "kept.json",
  /** What each module has come to in the browser's files, for `seamline inspect`. */
  sizes: "sizes.json",
} as const;

/** Where `seamline build` writes below `output` (architecture §1). */
export function outputFolders(root: string, output: string): OutputFolders {
  const folder = resolve(root, output);
  return { browser: join(folder, "browser"), server: join(folder, "server") };
}

/** Where `vite build` writes in an application that has a Vite configuration: its `outDir` is the browser's part. */
export function viteOutputFolders(root: string, outDir: string): OutputFolders {
  return { browser: resolve(root, outDir), server: join(root, ".seamline", "server") };
}

/** The finished build of an application, whichever of the two commands made it; `undefined` when there is none. */
export async function findOutput(root: string, output: string): Promise<OutputFolders | undefined> {
  for (const folders of [outputFolders(root, output), viteOutputFolders(root, output)])
    if (await isFile(join(folders.server, manifestFiles.server))) return folders;
  return undefined;
}

/** Whether the sources are others than those that the build read (decisions §6, builds). */
export async function isStale(
  root: string,
  source: string,
  output: string,
  {
    sources,
    outside = {},
  }: Pick<ServerManifest, "sources"> & Partial<Pick<ServerManifest, "outside">>,
): Promise<boolean> {
  if ((await hashSources(root, source, output)) !== sources) return true;
  const found = await digestsOf(root, Object.keys(outside));
  // Packages beside the application are left behind when only the application is copied to another machine.
  return Object.entries(outside).some(
    ([file, digest]) =>
      found[file] !== digest && (found[file] !== undefined || !file.startsWith("../")),
  );
}

/** Digests of files by their paths from the application folder, in a fixed order; without those that aren't there. */
export async function digestsOf(
  root: string,
  files: Iterable<string>,
): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {};
  for (const file of [...new Set(files)].sort()) {
    const content = await readFile(resolve(root, file)).catch(() => undefined);
    if (content !== undefined)
      digests[file] = createHash("sha256").update(content).digest("base64url");
  }
  return digests;
}

// Outside of the source folder these decide too what a build makes.
const configurations =
  /^(?:[^/]+\.html|(?:vite\.config\.[cm]?[jt]s)|tsconfig(?:\.[\w-]+)?\.json|package\.json)$/;

/**
 * Hash of all that a build reads in the application folder: names and contents of the source folder's files, segment files,
 * and the configuration files of the tools. The same files give the same hash on every machine.
 */
export async function hashSources(root: string, source: string, output?: string): Promise<string> {
  const folder = realPath(root);
  const sourceFolder = realPath(resolve(folder, source));
  const hash = createHash("sha256");
  for (const file of await listFiles(
    folder,
    output === undefined ? [] : [realPath(resolve(folder, output))],
  )) {
    const name = slashed(relative(folder, file));
    if (
      !isInside(sourceFolder, file) &&
      !name.endsWith(segmentFileEnding) &&
      !configurations.test(name)
    )
      continue;
    const content = await readFile(file);
    // Lengths keep the border between a name and a content where it was.
    hash.update(`${name.length} ${name} ${content.length} `).update(content);
  }
  return hash.digest("hex");
}

/**
 * Files below `folder`, absolute and in a fixed order, except in `node_modules`, dot folders and the `except` folders
 * (decisions §6, folders). Dot files and links to folders are left out: a link could lead anywhere, or in a circle.
 */
export async function listFiles(
  folder: string,
  except: readonly string[] = [],
): Promise<readonly string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules" || except.includes(path))
      continue;
    if (entry.isDirectory()) found.push(...(await listFiles(path, except)));
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) found.push(path);
  }
  return found;
}

/** Whether {@link listFiles} of `folder` would name `path`, if it is a file. */
export function isListed(folder: string, path: string, except: readonly string[] = []): boolean {
  if (!isInside(folder, path) || except.some((one) => one === path || isInside(one, path)))
    return false;
  return !slashed(relative(folder, path))
    .split("/")
    .some((name) => name.startsWith(".") || name === "node_modules");
}

/** Whether `file` lies in `folder` or below. */
export function isInside(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * A file or folder by the one path that leads through no link: Vite names modules so, and a module must not have two names. What isn't
 * there keeps the path that it would have.
 */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    // It may go while it is looked at, so nobody asks beforehand whether it is there.
    return absolute;
  }
}

/** A path with forward slashes, as problems, module ids and manifests write it. */
export function slashed(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** Whether there is a file that can be read. */
export async function isFile(path: string): Promise<boolean> {
  // Absent and unreadable are one answer here: there is no file that could be read.
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
