// One build at a time writes an output. The lock is a file next to it with the process that builds.

import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { isProcessAlive } from "../base/process-alive.ts";
import { makeFolder } from "../base/write-failure.ts";
import { manifestFiles, type OutputFolders } from "./sources.ts";
import { workFolder } from "./replaced-folder.ts";
import { pollMs } from "./times.ts";

/** Another process is building the output. */
export class BuildRunning extends Error {
  override readonly name: string = "BuildRunning";
  readonly folder: string;

  constructor(folder: string, pid: number) {
    super(
      `Process ${pid} is building ${folder}: wait for it, or stop it. If it isn't a build, remove ${lockFile(folder)}`,
    );
    this.folder = folder;
  }
}

const lockFile = (folder: string): string => join(dirname(folder), `.${basename(folder)}.lock`);

/** The locks of this process. In containers, a process often has the same number as its predecessor. */
const held = new Set<string>();

/**
 * Locks the output until the returned function is called. Throws {@link BuildRunning} if another
 * build has it. The lock of a process that has ended doesn't count.
 */
export async function lockOutput(folder: string): Promise<() => Promise<void>> {
  const file = lockFile(folder);
  await makeFolder(dirname(folder));
  const own = workFolder(folder, `-${randomBytes(4).toString("hex")}.lock`);
  await writeFile(own, `${process.pid}\n`);
  try {
    while (!(await linked(own, file))) {
      const pid = await builderOf(folder);
      if (pid !== undefined) throw new BuildRunning(folder, pid);
      await removeDead(file, folder);
    }
  } finally {
    await rm(own, { force: true });
  }
  held.add(file);
  return async () => {
    held.delete(file);
    await rm(file, { force: true });
  };
}

/** The process that is building `folder`, if there is one. */
export async function builderOf(folder: string): Promise<number | undefined> {
  const file = lockFile(folder);
  const pid = Number(await readFile(file, "utf8").catch(() => "NaN"));
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const isBuilding = pid === process.pid ? held.has(file) : isProcessAlive(pid);
  return isBuilding ? pid : undefined;
}

/** Resolves when no process is building `folder`. */
export async function buildEnd(folder: string): Promise<void> {
  while ((await builderOf(folder)) !== undefined)
    await new Promise((resolve) => setTimeout(resolve, pollMs));
}

/** Differs after each build of an output. */
export async function buildStamp(folders: OutputFolders | undefined): Promise<number | undefined> {
  if (folders === undefined) return undefined;
  const found = await stat(join(folders.server, manifestFiles.server)).catch(() => undefined);
  return found?.mtimeMs;
}

/** Gives a complete file its second name, unless there is a file of that name. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

async function removeDead(file: string, folder: string): Promise<void> {
  const aside = workFolder(folder, `-${randomBytes(4).toString("hex")}.dead`);
  try {
    await rename(file, aside);
  } catch (error) {
    // Another build was quicker.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  // Between reading and moving it, another build may have taken the lock: it gets it back.
  const pid = Number(await readFile(aside, "utf8"));
  if (pid !== process.pid && pid > 0 && isProcessAlive(pid)) await linked(aside, file);
  await rm(aside, { force: true });
}
