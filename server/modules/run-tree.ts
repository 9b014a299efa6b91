// The files that a running node imports, under their own names. Each node has a tree of its own:
// with a shared URL, two nodes in one process would share a module instance.

import { randomBytes } from "node:crypto";
import { linkSync } from "node:fs";
import { copyFile, mkdir, readdir, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isProcessAlive } from "../base/process-alive.ts";
import { isInside } from "../files/sources.ts";

export interface RunTree {
  readonly folder: string;
  /** Links or copies the file at `content` to `file` in the tree. */
  place(file: string, content: string): Promise<void>;
  /** Writes `text` to `file` in the tree, for text that trees don't share. */
  write(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

// Machines and containers may share a cache, so a process id alone doesn't identify a process.
const host = hostname().replaceAll(/[^\w.]/g, "_");
const treeName = /^(?<host>[\w.]+)-(?<pid>\d+)-[0-9a-f]{8}$/;

/** Whether a file is in a tree of any process. */
export function isInRunTree(file: string): boolean {
  return /[\\/]run[\\/][\w.]+-\d+-[0-9a-f]{8}[\\/]/.test(file);
}

/** Creates the tree of a revision for one node of this process. */
export async function createRunTree(options: {
  cache: string;
  root: string;
  revision: string;
}): Promise<RunTree> {
  const trees = join(options.cache, "run");
  const nodeFolder = join(trees, `${host}-${process.pid}-${randomBytes(4).toString("hex")}`);
  const revisionFolder = join(nodeFolder, options.revision);
  await mkdir(revisionFolder, { recursive: true });
  // Node identifies a module by its real path, and looks for packages from there.
  const folder = await realpath(revisionFolder);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  await linkPackages(folder, await realpath(options.root));
  const createdFolders = new Set([folder]);
  const pathOf = async (file: string): Promise<string> => {
    const path = join(folder, file);
    const parent = dirname(path);
    if (!createdFolders.has(parent)) await mkdir(parent, { recursive: true });
    createdFolders.add(parent);
    return path;
  };
  return {
    folder,
    write: async (file, text) => await writeFile(await pathOf(file), text),
    async place(file, content) {
      const path = await pathOf(file);
      try {
        linkSync(content, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
        // The cache is on another disk, or the file system has no links.
        await copyFile(content, path);
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
async function linkPackages(folder: string, root: string): Promise<void> {
  if (isInside(root, folder)) return;
  const targets: string[] = [];
  for (let parent = root; ; parent = dirname(parent)) {
    const packages = join(parent, "node_modules");
    if ((await stat(packages).catch(() => undefined))?.isDirectory() === true)
      targets.push(packages);
    if (dirname(parent) === parent) break;
  }
  // A workspace has two: the package's own, then the shared one.
  const linkFolders = [folder, dirname(folder)];
  for (const [index, target] of targets.slice(0, linkFolders.length).entries())
    await symlink(target, join(linkFolders[index]!, "node_modules"), "junction");
}

/** Removes the trees of this machine's processes that ended without removing them. */
export async function removeDeadTrees(cache: string): Promise<void> {
  const trees = join(cache, "run");
  for (const name of await readdir(trees).catch(() => [])) {
    const groups = treeName.exec(name)?.groups;
    if (groups !== undefined && groups["host"] === host && !isProcessAlive(Number(groups["pid"])))
      await rm(join(trees, name), { recursive: true, force: true });
  }
}
