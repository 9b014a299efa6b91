// The paths that Vite's watcher watches, and those that it has to watch again.

import { type Stats, statSync } from "node:fs";
import { basename, dirname } from "node:path";

import type { ViteDevServer } from "vite";

type Watcher = ViteDevServer["watcher"];

/**
 * Delays of repeated looks at a path. The later ones are for folders that the watcher is still
 * scanning.
 */
export const lookDelaysMs: readonly [number, ...number[]] = [100, 200, 400, 800];

/**
 * How often to look for a path whose watch has ended: as long as the watcher may take to report a
 * removal.
 */
const rewatchAttempts = 10;

export class WatchedPaths {
  readonly #watcher: Watcher;
  readonly #onRewatched: (path: string) => void;
  #byFolder: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /**
   * Paths whose watch has ended, and how often they were looked for since. If the name exists
   * again, the watcher takes it for the same file or folder.
   */
  readonly #ended = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(watcher: Watcher, onRewatched: (path: string) => void) {
    this.#watcher = watcher;
    this.#onRewatched = onRewatched;
  }

  /** Names by folder, without what the watcher ignores. */
  get byFolder(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#byFolder === undefined) {
      const entries = Object.entries(this.#watcher.getWatched());
      this.#byFolder = new Map(entries.map(([folder, names]) => [folder, new Set(names)]));
      // The watcher builds its list on every call, and one turn looks at many paths.
      setImmediate(() => (this.#byFolder = undefined));
    }
    return this.#byFolder;
  }

  has(path: string): boolean {
    return this.byFolder.get(dirname(path))?.has(basename(path)) === true;
  }

  /** Watches a path again if it reappears soon. Call it when the watch has ended. */
  rewatch(path: string): void {
    this.#ended.set(path, 0);
    this.#rewatchSoon();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #rewatchSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#rewatchAll();
    }, lookDelaysMs[0]).unref();
  }

  #rewatchAll(): void {
    const present: string[] = [];
    for (const [path, attempts] of this.#ended) {
      const isPresent = statOf(path) !== undefined;
      if (isPresent) present.push(path);
      if (isPresent || attempts === rewatchAttempts) this.#ended.delete(path);
      else this.#ended.set(path, attempts + 1);
    }
    if (this.#ended.size > 0) this.#rewatchSoon();
    if (present.length === 0) return;
    this.#watcher.unwatch(present);
    this.#watcher.add(present);
    this.#byFolder = undefined;
    for (const path of present) this.#onRewatched(path);
  }
}

/** `undefined` for a path that doesn't exist or isn't accessible. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
