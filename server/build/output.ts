// The output folders. A build writes beside the finished output and takes its place at the end, so that a build that fails leaves
// the previous output usable, and the pages that visitors still have open find their files.

import { cp, mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";

import type { Logger } from "vite";

import { segmentFileEnding } from "../../src/segment.ts";
import {
  type OutputFolders,
  isFile,
  isInside,
  listFiles,
  manifestFiles,
  outputFolders,
} from "../sources.ts";

interface BrowserFiles {
  readonly revision: string;
  readonly files: readonly string[];
}

/**
 * Beside `folder`, at the same depth (paths in source maps stay true), on the same disk, and out of the way of file lists. The same
 * for each instance of the plugin: Vite reads a configuration file once for each environment.
 */
export function workFolder(folder: string, build = ""): string {
  return join(dirname(folder), `.${basename(folder)}.${process.pid}${build}`);
}

/** Removes what builds that were killed have left beside `folder`. */
export async function sweep(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => []);
  for (const name of names) {
    const pid = name.startsWith(`.${basename(folder)}.`)
      ? /^\d+/.exec(name.slice(basename(folder).length + 2))?.[0]
      : undefined;
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 asks only.
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * A build takes the place of what is in its output. Chosen: that may be a folder of the application with anything in it, as for Vite, but no
 * file, no source, and elsewhere only what a build made.
 */
export async function refuseOutput(root: string, source: string, output: string): Promise<void> {
  const refuse = (what: string): never => {
    throw new Error(`The output ${relative(root, output) || "."} ${what}: choose another "output"`);
  };
  for (const kept of [root, source])
    if (kept === output || isInside(output, kept)) refuse(`would replace the folder ${kept}`);
  const found = await stat(output).catch(() => undefined);
  if (
    found === undefined ||
    (await isFile(join(outputFolders(root, output).server, manifestFiles.server)))
  )
    return;
  if (!found.isDirectory()) refuse("is a file, and a build makes a folder");
  const files = await listFiles(output);
  // One that lies there is no segment (decisions §6, folders). But where all of them do, the folder is one of sources.
  const segments = (await listFiles(root)).filter((file) => file.endsWith(segmentFileEnding));
  const lost = segments
    .filter((file) => isInside(output, file))
    .map((file) => relative(root, file));
  if (lost.length > 0 && lost.length === segments.length)
    refuse(`would replace all segment files, ${lost.join(", ")}`);
  if (files.length > 0 && !isInside(root, output))
    refuse("is outside of the application and holds what no build has made");
}

/**
 * Makes a folder that a build writes in, and those above it, one by one: where the system says that a folder isn't there and is, Node's own
 * never ends (/proc). Throws where it can't be made, before anything is built.
 */
export async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw unwritable(path, "ENOTDIR");
  await makeFolder(dirname(path));
  await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    // Another build may have made it meanwhile. A link that leads nowhere is in the way, too.
    if (
      error.code === "EEXIST" &&
      (await stat(path).catch(() => undefined))?.isDirectory() === true
    )
      return;
    throw error.code === "EEXIST"
      ? unwritable(path, "ENOTDIR", error)
      : unwritable(dirname(path), error.code, error);
  });
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its disk can only be read",
  ENOSPC: "its disk is full",
  EDQUOT: "this user has no space left there",
  ENOTDIR: "there is a file in the place of a folder",
};

/** The error of a build that can't write in `folder`. */
export function unwritable(folder: string, code: string | undefined, cause?: unknown): Error {
  const reason = reasons[code ?? ""] ?? "the system makes nothing there";
  return new Error(
    `The build can't be written in ${folder}: ${reason} (${code}). Get leave to write there, or choose another "output"`,
    {
      cause,
    },
  );
}

/** Puts `fresh` in the place of `folder`. */
export async function takePlace(fresh: string, folder: string): Promise<void> {
  const old = `${fresh}.old`;
  await mkdir(fresh, { recursive: true });
  await mkdir(dirname(folder), { recursive: true });
  try {
    await rename(folder, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await rename(fresh, folder);
  await rm(old, { recursive: true, force: true });
}

/**
 * Copies the browser files of the revision before this one into `to`. With the same revision built again, the one before it stays
 * the previous one. Call it while `previous` still stands: Vite empties its `outDir`.
 */
export async function keepFiles(
  previous: OutputFolders,
  to: string,
): Promise<readonly BrowserFiles[]> {
  const known = await readKept(previous);
  for (const file of new Set(known.flatMap((one) => one.files)))
    // A file may have been removed by hand. Then there is nothing to keep.
    if (await isFile(join(previous.browser, file)))
      await cp(join(previous.browser, file), join(to, file));
  return known;
}

/** Adds what {@link keepFiles} kept to the new output, but nothing older than the previous revision, and writes down what there is. */
export async function addKeptFiles(options: {
  known: readonly BrowserFiles[];
  from: string;
  folders: OutputFolders;
  current: BrowserFiles;
}): Promise<void> {
  const { known, from, folders, current } = options;
  const previous = known.find((one) => one.revision !== current.revision);
  for (const file of previous?.files ?? [])
    if ((await isFile(join(from, file))) && !(await isFile(join(folders.browser, file))))
      await cp(join(from, file), join(folders.browser, file));
  const kept = previous === undefined ? [current] : [current, previous];
  await writeFile(join(folders.server, manifestFiles.kept), `${JSON.stringify(kept, null, 1)}\n`);
}

async function readKept(folders: OutputFolders): Promise<readonly BrowserFiles[]> {
  const file = join(folders.server, manifestFiles.kept);
  if (!(await isFile(file))) return [];
  return JSON.parse(await readFile(file, "utf8")) as readonly BrowserFiles[];
}

/** Vite tells of each file that it writes, and of a folder that is gone in a moment nobody should read. Until the returned function is called. */
export function tellFinalPaths(logger: Logger, work: string, final: string): () => void {
  const { info } = logger;
  logger.info = (text, options) =>
    info.call(logger, text.replaceAll(`/${basename(work)}/`, `/${basename(final)}/`), options);
  return () => void (logger.info = info);
}
