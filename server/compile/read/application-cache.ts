// Caches readings of an application, so that after a change only the changed files are read again.

import { existsSync, statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";

import { isInside, isListed, listFiles } from "../../files/sources.ts";
import { FileMemory } from "./file-memory.ts";
import { Modules, type ModulesOptions } from "./modules.ts";

/** Files and modules at the start of a reading. */
export interface Opened {
  readonly files: readonly string[];
  readonly modules: Modules;
}

type OpenOptions = Omit<ModulesOptions, "files" | "memory"> & {
  readonly except: readonly string[];
};

interface CachedReading {
  /** The options that all cached results depend on. */
  readonly key: string;
  readonly memory: FileMemory;
  files: readonly string[];
  /** `undefined` if imports may resolve differently than before. */
  modules: Modules | undefined;
}

/**
 * Caches readings of one application with one configuration of the tools. It assumes that
 * aliases and the parser don't change, nor packages, unless a `package.json` or something in
 * `node_modules` is reported as changed.
 */
export class ApplicationCache {
  #changed = new Set<string>();
  #cached: CachedReading | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Drops what depends on a file or folder that was changed, added or removed. */
  changed(file: string): void {
    this.#changed.add(resolve(file));
  }

  /** Runs readings one after another: two at once could see two states of a file. */
  async run<T>(options: OpenOptions, read: (opened: Opened) => Promise<T>): Promise<T> {
    const ran = this.#last.then(async () => {
      const changed = this.#changed;
      this.#changed = new Set();
      const opened = await this.#open(options, changed).catch((error: unknown) => {
        // A folder has disappeared: the next reading has to know of these changes too.
        for (const path of changed) this.#changed.add(path);
        throw error;
      });
      try {
        return await read(opened);
      } finally {
        opened.modules.release();
      }
    });
    this.#last = ran.catch(() => undefined);
    return await ran;
  }

  async #open(options: OpenOptions, changed: ReadonlySet<string>): Promise<Opened> {
    const { root, source, except } = options;
    const key = JSON.stringify([root, source, except]);
    if (this.#cached?.key !== key) {
      const files = await listFiles(root, except);
      this.#cached = {
        key,
        memory: this.#cached?.memory ?? new FileMemory(),
        files,
        modules: undefined,
      };
      this.#cached.memory.clear();
    } else await update(this.#cached, changed, options);
    const { memory, files } = this.#cached;
    this.#cached.modules ??= new Modules({ ...options, files, memory });
    return { files, modules: this.#cached.modules };
  }
}

async function update(
  cached: CachedReading,
  changed: ReadonlySet<string>,
  { root, except }: OpenOptions,
): Promise<void> {
  const listed = new Set(cached.files);
  let isMoved = false;
  for (const path of changed) {
    cached.memory.forget(path);
    if (leadsImports.test(basename(path)) || path.includes(`${sep}node_modules${sep}`))
      cached.modules = undefined;
    if (!isListed(root, path, except)) continue;
    // Synchronous, so that it doesn't queue behind the watcher, which lists whole folders after a
    // change.
    const isFileNow = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    if (isFileNow && listed.has(path)) continue;
    const inside = cached.files.filter((file) => isInside(path, file));
    for (const file of inside) cached.memory.forget(file);
    isMoved ||= isFileNow || listed.has(path) || inside.length > 0 || existsSync(path);
  }
  if (!isMoved) return;
  // An import may resolve to any of the files.
  cached.files = await listFiles(root, except);
  cached.modules = undefined;
}

// These files decide where package names and aliases lead.
const leadsImports = /^(?:package\.json|[jt]sconfig(?:\.[\w-]+)*\.json)$/;
