// The application's folder as a build reads it: its files, their hash, and the output's folders.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import { segmentFileEnding, type ServerManifest } from "../../src/base/manifest.ts";

/** Folders of a finished build. */
export interface OutputFolders {
  /** All of it is public. */
  readonly browser: string;
  /** `manifest.json`, `manifest.browser.json`, `modules/`. */
  readonly server: string;
}

/** Files in {@link OutputFolders.server}, next to the folder `modules`. */
export const manifestFiles = {
  server: "manifest.json",
  browser: "manifest.browser.json",
  /** Names the browser files of the two latest revisions, for the next build. */
  kept: "kept.json",
  /** The size of each module in the browser's files, for `seamline inspect`. */
  sizes: "sizes.json",
  /** The application's contract. */
  contract: "contract.json",
} as const;

/** Where `seamline build` writes below `output`. */
export function outputFolders(root: string, output: string): OutputFolders {
  const folder = resolve(root, output);
  return { browser: join(folder, "browser"), server: join(folder, "server") };
}

/** Where `vite build` writes in an application with a Vite configuration. Browsers get `outDir`. */
export function viteOutputFolders(root: string, outDir: string): OutputFolders {
  return { browser: resolve(root, outDir), server: join(root, ".seamline", "server") };
}

/** Returns the folders of a finished build, by either command, or `undefined` if there is none. */
export async function findOutput(root: string, output: string): Promise<OutputFolders | undefined> {
  for (const folders of [outputFolders(root, output), viteOutputFolders(root, output)])
    if (await isFile(join(folders.server, manifestFiles.server))) return folders;
  return undefined;
}

/** Whether the sources have changed since the build read them. */
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
  const current = digestsOf(root, Object.keys(outside));
  // A package outside the application is missing if only the application was copied to a machine.
  return Object.entries(outside).some(
    ([file, digest]) =>
      current[file] !== digest && (current[file] !== undefined || !file.startsWith("../")),
  );
}

/** Digests of files by path from the application folder, sorted. Missing files are left out. */
export function digestsOf(root: string, files: Iterable<string>): Readonly<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const file of [...new Set(files)].sort()) {
    const content = contentOf(resolve(root, file));
    if (content !== undefined)
      digests[file] = createHash("sha256").update(content).digest("base64url");
  }
  return digests;
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    // No check beforehand, since the file may disappear after it.
    return undefined;
  }
}

// Files outside the source folder that a build depends on.
const configurations =
  /^(?:[^/]+\.html|(?:vite\.config\.[cm]?[jt]s)|tsconfig(?:\.[\w-]+)?\.json|package\.json)$/;

/**
 * Hashes a build's inputs in the application folder: names and contents of the source folder's files, of segment
 * files, and of the tools' configuration files. The same on every machine.
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
    // Thousands of small files: reading each asynchronously takes five times the processor's time.
    const content = readFileSync(file);
    // The lengths fix the boundary between name and content.
    hash.update(`${name.length} ${name} ${content.length} `).update(content);
  }
  return hash.digest("hex");
}

/**
 * Files below `folder`, absolute and sorted. Leaves out `node_modules`, the `except` folders, names
 * with a leading dot, and links to folders, which could lead anywhere or form a cycle.
 */
export async function listFiles(
  folder: string,
  except: readonly string[] = [],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path, isFolder } of listFolder(folder, except))
    if (isFolder) found.push(...(await listFiles(path, except)));
    else found.push(path);
  return found;
}

export interface FolderEntry {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** The files and folders directly in `folder` that {@link listFiles} lists or enters, sorted. */
export function listFolder(folder: string, except: readonly string[] = []): readonly FolderEntry[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  // `join` would take longer than everything else here, at the start of development too.
  const start = folder.endsWith(sep) ? folder : folder + sep;
  return entries.flatMap((entry) => {
    const { name } = entry;
    const path = start + name;
    if (name.startsWith(".") || name === "node_modules" || except.includes(path)) return [];
    const isFolder = entry.isDirectory();
    const isFollowed = isFolder || entry.isFile() || (entry.isSymbolicLink() && isFileNow(path));
    return isFollowed ? [{ name, path, isFolder }] : [];
  });
}

/** Whether {@link listFiles} of `folder` would list `path` if it is a file. */
export function isListed(folder: string, path: string, except: readonly string[] = []): boolean {
  const isExcepted = except.some((excepted) => excepted === path || isInside(excepted, path));
  if (!isInside(folder, path) || isExcepted) return false;
  return !slashed(relative(folder, path))
    .split("/")
    .some((name) => name.startsWith(".") || name === "node_modules");
}

/** Whether `file` is in `folder` or below it. */
export function isInside(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Resolves links, as Vite does for module ids: a module must not have two. A path that doesn't
 * exist is only made absolute.
 */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    // No check beforehand, since the file may disappear after it.
    return absolute;
  }
}

/** A path with forward slashes, as in problems, module ids and manifests. */
export function slashed(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** Whether the path is a file. An unreadable folder counts as a missing file. */
export async function isFile(path: string): Promise<boolean> {
  return isFileNow(path);
}

function isFileNow(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
