// The address of a running `seamline dev`, kept in a file: `seamline call` in the same folder asks
// there.

import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Log } from "../../src/base/ports.ts";
import { makeFolder, writing } from "../base/write-failure.ts";
import { isProcessAlive } from "../base/process-alive.ts";
import { parsedUrl } from "../../src/base/url.ts";

/** Relative to the application folder. */
export const addressFile = ".seamline/dev.json";

export interface DevAddress {
  readonly url: string;
  readonly pid: number;
  /** Whether the process exists. Another process may have its number by now. */
  readonly isRunning: boolean;
}

/**
 * Writes the address of this process, and warns if that isn't possible; the returned function removes it
 * again.
 */
export async function writeDevAddress(
  root: string,
  url: string,
  log: Log,
): Promise<() => Promise<void>> {
  const file = join(root, addressFile);
  const write = async (): Promise<void> => {
    await makeFolder(dirname(file));
    await writeFile(file, `${JSON.stringify({ url, pid: process.pid } satisfies Entry)}\n`);
  };
  // Work goes on without it.
  await writing(file, `name the address: seamline call --url ${url}`, write).catch((error: Error) =>
    log.warn(error.message),
  );
  return async () => {
    // A `seamline dev` that started later in the same folder has written its own.
    if ((await readEntry(file))?.pid === process.pid) await rm(file, { force: true });
  };
}

/** The address in this folder. Its process may have been killed before it could remove the file. */
export async function readDevAddress(root: string): Promise<DevAddress | undefined> {
  const entry = await readEntry(join(root, addressFile));
  return entry && { ...entry, isRunning: isProcessAlive(entry.pid) };
}

type Entry = Pick<DevAddress, "url" | "pid">;

async function readEntry(file: string): Promise<Entry | undefined> {
  try {
    const { url, pid } = JSON.parse(await readFile(file, "utf8")) as Partial<Entry>;
    const isWhole = typeof url === "string" && parsedUrl(url) !== undefined;
    return isWhole && typeof pid === "number" ? { url, pid } : undefined;
  } catch {
    // The file is missing, or its process was killed while writing it.
    return undefined;
  }
}
