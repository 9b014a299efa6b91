// Stores files by the hash of their content, so revisions and nodes share the files they have in
// common.

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder, writing } from "../base/write-failure.ts";
import type { FileRecord } from "../../src/base/manifest.ts";
import { integrityOf } from "../files/kept-builds.ts";
import { abandonedWriteMs, unusedContentMs } from "./times.ts";

/** Advice for users whose cache can't be written. */
export const insteadOfCache = "set another 'cache' in the configuration";

export class ContentStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the content's path, or `undefined` if it is missing or damaged. */
  async find(record: FileRecord): Promise<string | undefined> {
    const path = this.#path(record);
    const bytes = contentAt(path);
    if (bytes === undefined) return undefined;
    // A crash may have damaged the file, or a module may have written to its own.
    if (integrityOf(bytes) !== record.integrity) {
      await writing(path, insteadOfCache, () => rm(path, { force: true }));
      return undefined;
    }
    touch(path);
    return path;
  }

  /**
   * Stores `bytes`, which must match `record`, and returns their path. Read-only, as run trees link
   * to it.
   */
  async put(record: FileRecord, bytes: Uint8Array): Promise<string> {
    const path = this.#path(record);
    await replaceFile(path, bytes, { mode: 0o444 });
    return path;
  }

  /** Removes content that no start has used for a month, and temporary files left by a crash. */
  async clean(): Promise<void> {
    for (const name of namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      const age = ageOf(path);
      if (age > (name.includes(".") ? abandonedWriteMs : unusedContentMs))
        await rm(path, { force: true });
    }
  }

  #path(record: FileRecord): string {
    return join(
      this.#folder,
      Buffer.from(record.integrity.slice("sha256-".length), "base64").toString("hex"),
    );
  }
}

/**
 * Writes a file of the cache, and its folder. It gets its name once it is complete, since other
 * processes read it too.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  const write = async (): Promise<void> => {
    await makeFolder(dirname(path));
    await writeFile(temporary, content, { ...options, flag: "wx" });
    await rename(temporary, path);
  };
  await writing(path, insteadOfCache, write).catch(async (error: unknown) => {
    // On a full disk, the first bytes may be there.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  });
}

// Many small files are read synchronously: asynchronously, each takes several times the processor's time, and a
// start that waits for its modules has nothing else to do.

function contentAt(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    // With a file in place of the folder, storing the content fails, and says so.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Only `clean` needs the time, and the store may be read-only.
  }
}

/** The names in a folder; none if it can't be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** In ms; 0 for a file that has just been removed. */
function ageOf(path: string): number {
  const entry = statSync(path, { throwIfNoEntry: false });
  return entry === undefined ? 0 : Date.now() - entry.mtimeMs;
}
