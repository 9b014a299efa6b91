// What readings of one application share, so that a change costs the reading of what changed, and not of everything.

import { existsSync, statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";

import { isInside, isListed, listFiles } from "../sources.ts";
import { FileMemory } from "./file-memory.ts";
import type { KeptReadings } from "./kept-readings.ts";
import { Modules, type ModulesOptions } from "./modules.ts";

/** What a reading begins with. */
export interface Opened {
  readonly files: readonly string[];
  readonly modules: Modules;
  readonly memory: FileMemory;
}

type OpenOptions = Omit<ModulesOptions, "files" | "memory"> & {
  readonly except: readonly string[];
  readonly kept?: KeptReadings | undefined;
};

interface Known {
  /** Of the options that everything remembered depends on. */
  readonly key: string;
  readonly memory: FileMemory;
  files: readonly string[];
  /** `undefined` where imports may lead elsewhere than they did. */
  modules: Modules | undefined;
}

/**
 * Remembers what was read of an application. It belongs to one configuration of the tools: aliases and the parser are supposed to stay,
 * and packages too, unless a `package.json` or something in `node_modules` is said to have changed.
 */
export class ApplicationCache {
  #changed = new Set<string>();
  #known: Known | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Forgets what depends on a file or folder: changed, new or gone. */
  changed(file: string): void {
    this.#changed.add(resolve(file));
  }

  /** Runs readings one after another: two at once could see two states of one file. */
  async run<T>(options: OpenOptions, read: (opened: Opened) => Promise<T>): Promise<T> {
    const ran = this.#last.then(async () => await read(await this.#open(options)));
    this.#last = ran.catch(() => undefined);
    return await ran;
  }

  async #open(options: OpenOptions): Promise<Opened> {
    const { root, source, except } = options;
    const key = JSON.stringify([root, source, except]);
    const changed = this.#changed;
    this.#changed = new Set();
    if (this.#known?.key !== key) {
      const files = await listFiles(root, except);
      this.#known = {
        key,
        memory: this.#known?.memory ?? new FileMemory(options.kept),
        files,
        modules: undefined,
      };
      this.#known.memory.clear();
    } else await update(this.#known, changed, options);
    const { memory, files } = this.#known;
    this.#known.modules ??= new Modules({ ...options, files, memory });
    return { files, modules: this.#known.modules, memory };
  }
}

/** See {@link ApplicationCache}. */
export function createApplicationCache(): ApplicationCache {
  return new ApplicationCache();
}

async function update(
  known: Known,
  changed: ReadonlySet<string>,
  { root, except }: OpenOptions,
): Promise<void> {
  const listed = new Set(known.files);
  let isMoved = false;
  for (const path of changed) {
    known.memory.forget(path);
    if (leadsImports.test(basename(path)) || path.includes(`${sep}node_modules${sep}`))
      known.modules = undefined;
    if (!isListed(root, path, except)) continue;
    // Not one after another with what else asks for the disk: a watcher lists whole folders after a change.
    const isFileNow = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    if (isFileNow && listed.has(path)) continue;
    const inside = known.files.filter((file) => isInside(path, file));
    for (const file of inside) known.memory.forget(file);
    isMoved ||= isFileNow || listed.has(path) || inside.length > 0 || existsSync(path);
  }
  if (!isMoved) return;
  // Which file an import means depends on all the others.
  known.files = await listFiles(root, except);
  known.modules = undefined;
}

// The files of the tools by which names of packages and aliases lead somewhere.
const leadsImports = /^(?:package\.json|[jt]sconfig(?:\.[\w-]+)*\.json)$/;
