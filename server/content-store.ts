// Files by the hash of their content: what two revisions, or two nodes of an application, have in common is there once.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileRecord } from "../src/manifest.ts";

/** Ms that content stays which no start has asked for. */
const kept = 30 * 24 * 3_600_000;

export class ContentStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Where the content lies; `undefined` when it isn't there, or is not what its name says. */
  async find(record: FileRecord): Promise<string | undefined> {
    const path = this.#path(record);
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (bytes === undefined) return undefined;
    // A half-written disk or a module that wrote into its own file: what is run must be what was built.
    if (integrityOf(bytes) !== record.integrity) {
      await rm(path, { force: true });
      return undefined;
    }
    const now = new Date();
    // Only for the clean-up: a read-only store serves as well.
    await utimes(path, now, now).catch(() => undefined);
    return path;
  }

  /** Stores `bytes`, which must be what `record` says, and gives their place. */
  async put(record: FileRecord, bytes: Uint8Array): Promise<string> {
    await mkdir(this.#folder, { recursive: true });
    const path = this.#path(record);
    const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
    // Whole when it has its name, also for another node that looks at this moment. Read only, as run trees link to it.
    await writeFile(temporary, bytes, { mode: 0o444, flag: "wx" });
    await rename(temporary, path);
    return path;
  }

  /** Removes what no start has asked for in a month, and what a crash left half written. */
  async clean(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > (name.includes(".") ? 3_600_000 : kept)) await rm(path, { force: true });
    }
  }

  #path(record: FileRecord): string {
    return join(
      this.#folder,
      Buffer.from(record.integrity.slice("sha256-".length), "base64").toString("hex"),
    );
  }
}

/** In the form of Subresource Integrity, as the manifest has it. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha256-${createHash("sha256").update(bytes).digest("base64")}`;
}
