// Where `seamline dev` listens, written down while it does: `seamline call` in the same folder asks there.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Relative to the application folder. */
export const addressFile = ".seamline/dev.json";

/** What a `seamline dev` wrote down. */
export interface NotedDev {
  readonly url: string;
  readonly pid: number;
  /** Whether its process is there. A number that another process has by now can't be told from it. */
  readonly isRunning: boolean;
}

/** Notes the address of this process; what comes back takes the note away again. */
export async function noteAddress(root: string, url: string): Promise<() => Promise<void>> {
  const file = join(root, addressFile);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify({ url, pid: process.pid } satisfies Noted)}\n`);
  } catch {
    // A folder that can't be written to is no reason not to work in it: `call` takes --url.
  }
  return async () => {
    // Whoever was started later in the same folder has written its own.
    if ((await noted(file))?.pid === process.pid) await rm(file, { force: true });
  };
}

/** What a `seamline dev` has noted in this folder: one that runs, or one that was killed and couldn't take its note away. */
export async function notedDev(root: string): Promise<NotedDev | undefined> {
  const found = await noted(join(root, addressFile));
  return found && { ...found, isRunning: isRunning(found.pid) };
}

type Noted = Pick<NotedDev, "url" | "pid">;

async function noted(file: string): Promise<Noted | undefined> {
  try {
    const { url, pid } = JSON.parse(await readFile(file, "utf8")) as Partial<Noted>;
    return typeof url === "string" && URL.canParse(url) && typeof pid === "number"
      ? { url, pid }
      : undefined;
  } catch {
    // None, or one that was cut off with its process.
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is somebody else's, and so it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
