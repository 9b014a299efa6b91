// The files that a running node imports, under their own names. Each node has a tree of its own:
// with a shared URL, two nodes in one process would share a module instance.

import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isProcessAlive } from "../base/process-alive.ts";
import { isInside } from "../files/sources.ts";
import { namesIn } from "./content-store.ts";

export interface RunTree {
  readonly folder: string;
  /** Links or copies the file at `content` to `file` in the tree. */
  place(file: string, content: string): void;
  /** Writes `text` to `file` in the tree, for text that trees don't share. */
  write(file: string, text: string): void;
  remove(): Promise<void>;
}

// Machines and containers may share a cache, so a process id alone doesn't identify a process.
const host = hostname().replaceAll(/[^\w.]/g, "_");
const treeName = /^(?<host>[\w.]+)-(?<pid>\d+)-[0-9a-f]{8}$/;

/** Whether a file is in a tree of any process. */
export function isInRunTree(file: string): boolean {
  return /[\\/]run[\\/][\w.]+-\d+-[0-9a-f]{8}[\\/]/.test(file);
}

/** Creates the tree of a revision for one node of this process, in the cache's folder `run`. */
export function createRunTree(options: { cache: string; root: string; revision: string }): RunTree {
  const trees = join(options.cache, "run");
  const nodeFolder = join(trees, `${host}-${process.pid}-${randomBytes(4).toString("hex")}`);
  const revisionFolder = join(nodeFolder, options.revision);
  let folder: string;
  try {
    for (const made of [nodeFolder, revisionFolder]) mkdirSync(made);
    // Node identifies a module by its real path, and looks for packages from there.
    folder = realpathSync.native(revisionFolder);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    linkPackages(folder, realpathSync.native(options.root));
  } catch (error) {
    // A full disk often has room for the folder.
    rmSync(nodeFolder, { recursive: true, force: true });
    throw error;
  }
  const createdFolders = new Set([folder]);
  const pathOf = (file: string): string => {
    const path = join(folder, file);
    const parent = dirname(path);
    if (!createdFolders.has(parent)) mkdirSync(parent, { recursive: true });
    createdFolders.add(parent);
    return path;
  };
  return {
    folder,
    write: (file, text) => writeFileSync(pathOf(file), text),
    place(file, content) {
      const path = pathOf(file);
      try {
        linkSync(content, path);
      } catch (error) {
        // The cache is on another disk, or the file system doesn't support links.
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") copyFileSync(content, path);
      }
    },
    // Retries, as a service that is stopped during its start may still write to the tree.
    remove: () => rm(nodeFolder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * Links the application's `node_modules` if the tree is outside the application, where Node's
 * lookup in parent folders wouldn't find it.
 */
function linkPackages(folder: string, root: string): void {
  if (isInside(root, folder)) return;
  const targets: string[] = [];
  for (let parent = root; ; parent = dirname(parent)) {
    const packages = join(parent, "node_modules");
    if (isFolder(packages)) targets.push(packages);
    if (dirname(parent) === parent) break;
  }
  // A workspace has two: the package's own, then the shared one.
  const linkFolders = [folder, dirname(folder)];
  for (const [index, target] of targets.slice(0, linkFolders.length).entries())
    symlinkSync(target, join(linkFolders[index]!, "node_modules"), "junction");
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or not readable: Node's lookup wouldn't find packages in it either.
    return false;
  }
}

/** Removes the trees of this machine's processes that ended without removing them. */
export async function removeDeadTrees(cache: string): Promise<void> {
  const trees = join(cache, "run");
  for (const name of namesIn(trees)) {
    const groups = treeName.exec(name)?.groups;
    if (groups !== undefined && groups["host"] === host && !isProcessAlive(Number(groups["pid"])))
      await rm(join(trees, name), { recursive: true, force: true });
  }
}
