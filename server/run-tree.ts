// The files that one running node imports, under their plain names (architecture §1, a node's modules on disk). Each node has its own
// tree: the same URL would be the same module instance for two nodes in one process.

import { randomBytes } from "node:crypto";
import {
  copyFile,
  link,
  mkdir,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isInside } from "./sources.ts";

export interface RunTree {
  readonly folder: string;
  /** Makes `file` of the tree hold what lies at `content`. */
  place(file: string, content: string): Promise<void>;
  /** Makes `file` of the tree hold `text`, which no other tree has. */
  write(file: string, text: string): Promise<void>;
  /** Removes the tree. */
  remove(): Promise<void>;
}

// A cache may be shared between machines or containers, where a process number says nothing.
const host = hostname().replaceAll(/[^\w.]/g, "_");
const form = /^(?<host>[\w.]+)-(?<pid>\d+)-[0-9a-f]{8}$/;

/** Whether a file lies in a tree, of this process or of another. */
export function isInRunTree(file: string): boolean {
  return /[\\/]run[\\/][\w.]+-\d+-[0-9a-f]{8}[\\/]/.test(file);
}

/** Makes the tree of one revision for one node of this process. */
export async function createRunTree(options: {
  cache: string;
  root: string;
  revision: string;
}): Promise<RunTree> {
  const trees = join(options.cache, "run");
  const own = join(trees, `${host}-${process.pid}-${randomBytes(4).toString("hex")}`);
  const written = join(own, options.revision);
  await mkdir(written, { recursive: true });
  // Node names a module by its real path, and looks for packages from there.
  const folder = await realpath(written);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  await linkPackages(folder, await realpath(options.root));
  const made = new Set([folder]);
  const pathOf = async (file: string): Promise<string> => {
    const path = join(folder, file);
    const parent = dirname(path);
    if (!made.has(parent)) await mkdir(parent, { recursive: true });
    made.add(parent);
    return path;
  };
  return {
    folder,
    write: async (file, text) => await writeFile(await pathOf(file), text),
    async place(file, content) {
      const path = await pathOf(file);
      await link(content, path).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return;
        // Another disk, or a file system without links.
        await copyFile(content, path);
      });
    },
    // A service that is stopped while it starts may still be writing there.
    remove: () => rm(own, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Where packages would not be found by looking upwards from the tree, as Node does, links lead to the application's. */
async function linkPackages(folder: string, root: string): Promise<void> {
  if (isInside(root, folder)) return;
  const found: string[] = [];
  for (let at = root; ; at = dirname(at)) {
    const packages = join(at, "node_modules");
    if ((await stat(packages).catch(() => undefined))?.isDirectory() === true) found.push(packages);
    if (dirname(at) === at) break;
  }
  // A workspace has two: the member's own before the one that all share.
  const places = [folder, dirname(folder)];
  for (const [index, target] of found.slice(0, places.length).entries())
    await symlink(target, join(places[index]!, "node_modules"), "junction");
}

/** Removes trees of processes of this machine that are no more: those that ended without a chance to do it themselves. */
export async function removeDeadTrees(cache: string): Promise<void> {
  const trees = join(cache, "run");
  for (const name of await readdir(trees).catch(() => [])) {
    const groups = form.exec(name)?.groups;
    if (groups !== undefined && groups["host"] === host && !isAlive(Number(groups["pid"])))
      await rm(join(trees, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
