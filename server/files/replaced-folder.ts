// Replaces the last build by the new one, and completes the replacement if its process was killed meanwhile.

import { existsSync, rmSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { isProcessAlive } from "../base/process-alive.ts";

/** The suffix of the last build's name until the new one is in its place. */
const oldEnding = ".old";

/**
 * A folder next to `folder`: at the same depth, so paths in source maps stay true, on the same
 * disk, and hidden from file lists. Every instance of the plugin gets the same one, as Vite loads a
 * configuration file once per environment.
 */
export function workFolder(folder: string, build = ""): string {
  return join(dirname(folder), `.${basename(folder)}.${process.pid}${build}`);
}

/** The process that made a work folder of `folder`, by its name. */
export function makerOf(name: string, folder: string): number | undefined {
  const start = `.${basename(folder)}.`;
  const pid = name.startsWith(start) ? /^\d+/.exec(name.slice(start.length))?.[0] : undefined;
  return pid === undefined ? undefined : Number(pid);
}

/** Replaces `folder` by `fresh`, a work folder of it. */
export async function takePlace(fresh: string, folder: string): Promise<void> {
  const old = fresh + oldEnding;
  await mkdir(fresh, { recursive: true });
  await mkdir(dirname(folder), { recursive: true });
  await renameIfThere(folder, old);
  // A process that is killed here leaves no folder: see recoverFolder.
  await rename(fresh, folder);
  // Synchronously, as for thousands of small files that is much cheaper.
  rmSync(old, { recursive: true, force: true });
}

/** Completes a replacement of `folder` whose process was killed. Resolves to whether there was one. */
export async function recoverFolder(folder: string): Promise<boolean> {
  if (existsSync(folder)) return false;
  const parent = dirname(folder);
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = makerOf(name, folder);
    if (pid === undefined || !name.endsWith(oldEnding)) continue;
    // In containers, a process often has the same number as its predecessor.
    if (pid !== process.pid && isProcessAlive(pid)) continue;
    const old = join(parent, name);
    // The old one is only moved away when the new one is complete.
    const isDone = await renameIfThere(old.slice(0, -oldEnding.length), folder);
    // If services start together, another one may have been quicker.
    if (isDone || (await renameIfThere(old, folder)) || existsSync(folder)) return true;
  }
  return false;
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}
