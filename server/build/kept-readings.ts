// What readings cost most, kept on the disk: of a module whose text is the same as before, the next process takes what this one found.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { packageVersion } from "../package-folder.ts";

/** So many new ones are worth a file; of fewer the next process makes itself what it lacks. */
const usualWorth = 50;

/** Values that can be written as JSON. A file that can't be read, or that another version wrote, is as good as none. */
export class KeptReadings {
  readonly #file: string;
  readonly #key: string;
  readonly #worth: number;
  /** By the digest of all that a value rests on. */
  readonly #used = new Map<string, unknown>();
  #found: ReadonlyMap<string, unknown> | undefined;
  #made = 0;
  #isOpen = true;

  /** `key` stands for the code that makes the values. */
  constructor(file: string, key: string, worth: number = usualWorth) {
    this.#file = file;
    this.#key = key;
    this.#worth = worth;
  }

  /** What `make` gives for what it `rests` on. */
  of<T>(rests: readonly string[], make: () => T): T {
    if (!this.#isOpen) return make();
    this.#found ??= this.#read();
    const key = digest(rests);
    if (!this.#used.has(key)) {
      if (!this.#found.has(key)) this.#made++;
      this.#used.set(key, this.#found.has(key) ? this.#found.get(key) : make());
    }
    return this.#used.get(key) as T;
  }

  /** Writes what was asked for, if there is enough of it that is new. A folder that can't be written to costs the next process time. */
  async save(): Promise<void> {
    if (this.#made < this.#worth) return;
    this.#made = 0;
    const temporary = `${this.#file}.${process.pid}`;
    try {
      await mkdir(dirname(this.#file), { recursive: true });
      await writeFile(
        temporary,
        JSON.stringify({ key: this.#key, kept: Object.fromEntries(this.#used) }),
      );
      await rename(temporary, this.#file);
    } catch {
      // The next process reads everything itself, as this one did.
    }
  }

  /** Keeps nothing from now on: who reads again and again would hold each state of each module. */
  close(): void {
    this.#isOpen = false;
    this.#used.clear();
    this.#found = undefined;
  }

  #read(): ReadonlyMap<string, unknown> {
    try {
      const { key, kept } = JSON.parse(readFileSync(this.#file, "utf8")) as {
        key?: unknown;
        kept?: Readonly<Record<string, unknown>>;
      };
      return new Map(key === this.#key && kept !== undefined ? Object.entries(kept) : []);
    } catch {
      return new Map();
    }
  }
}

/** For an application folder. None where this runs from its sources: no version says when those change. */
export function openKeptReadings(root: string, parser: string): KeptReadings | undefined {
  const here = fileURLToPath(import.meta.url);
  if (here.endsWith(".ts")) return undefined;
  const { mtimeMs, size } = statSync(here);
  return new KeptReadings(
    join(root, ".seamline", "readings.json"),
    [packageVersion(), mtimeMs, size, parser].join(),
  );
}

function digest(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length} `).update(text);
  return hash.digest("base64");
}
