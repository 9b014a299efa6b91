// Listens to Vite's own watcher, so that Vite's hot updates and this session see the same changes.
// The watcher misses some: a look at the disk 100 ms after a path's last event finds them, and
// reports them through it.

import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import type { ViteDevServer } from "vite";

import { isInside, realPath } from "../files/sources.ts";
import { addedFolderMs, fileClockTickMs, lookDelaysMs } from "./times.ts";

/**
 * How often to look for a path whose watch has ended: as long as the watcher may take to report a
 * removal.
 */
const rewatchAttempts = 10;

export type WatchedServer = Pick<ViteDevServer, "watcher" | "config" | "environments">;

/**
 * Calls `onChange` with each file or folder below `root` that is added, changed or removed. Returns
 * a function that stops it.
 */
export function watch(
  server: WatchedServer,
  root: string,
  onChange: (file: string) => void,
): () => void {
  const watching = new Watch(server, root, onChange);
  return () => watching.close();
}

class Watch {
  readonly #watcher: WatchedServer["watcher"];
  readonly #environments: WatchedServer["environments"];
  readonly #onChange: (file: string) => void;
  readonly #opened = Date.now();
  readonly #looks = new Map<string, NodeJS.Timeout>();
  /** The state of each file when it was last reported. */
  readonly #reported = new Map<string, Stats>();
  /**
   * Paths whose watch has ended, and how often they were looked for since. If the name exists
   * again, the watcher takes it for the same file or folder.
   */
  readonly #ended = new Map<string, number>();
  #watched: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  #rewatching: NodeJS.Timeout | undefined;
  readonly #added: NodeJS.Timeout | undefined;

  constructor(
    { watcher, config, environments }: WatchedServer,
    root: string,
    onChange: (file: string) => void,
  ) {
    this.#watcher = watcher;
    this.#environments = environments;
    this.#onChange = onChange;
    watcher.on("all", this.#onAll);
    watcher.on("raw", this.#onRaw);
    // If the watcher is ready already, it sees every change since before the application is read.
    watcher.once("ready", this.#onReady);
    // Segment files and modules may be outside Vite's root.
    if (root === config.root || isInside(config.root, root)) return;
    watcher.add(root);
    this.#added = setTimeout(this.#onReady, addedFolderMs).unref();
  }

  close(): void {
    this.#watcher.off("all", this.#onAll).off("raw", this.#onRaw).off("ready", this.#onReady);
    for (const timer of this.#looks.values()) clearTimeout(timer);
    clearTimeout(this.#added);
    clearTimeout(this.#rewatching);
  }

  readonly #onAll = (event: string, path: string): void => {
    const file = resolve(path);
    // The watcher drops changes within 50 ms of an event, such as a formatter's right after a save.
    this.#lookSoon(file);
    if (event === "addDir") return;
    const [before, found] = [this.#reported.get(file), statOf(file)];
    if (found?.isFile() === true) this.#reported.set(file, found);
    else this.#reported.delete(file);
    // The watcher reports a file that was briefly gone as changed.
    if (
      event === "change" &&
      found !== undefined &&
      found.birthtimeMs > (before?.birthtimeMs ?? this.#opened)
    )
      this.#forgetFailedImports(file);
    this.#changed(file);
  };

  // Raw events of the system. A watch is bound to a file or folder rather than to its path: when
  // that is removed or moved, the system reports it under its own name, and then nothing more.
  readonly #onRaw = (
    event: string,
    name: unknown,
    { watchedPath }: { readonly watchedPath?: string } = {},
  ): void => {
    if (watchedPath === undefined || typeof name !== "string") return;
    const isItself = name === basename(watchedPath);
    const path = isItself ? watchedPath : join(watchedPath, name);
    // A folder renamed to or from a watched name is a different folder.
    if (event === "rename" && (isItself || this.#byFolder.has(path))) {
      this.#ended.set(path, 0);
      this.#rewatchSoon();
    }
    this.#lookSoon(path);
  };

  /** Reports files written after the session began reading and before the watcher reached them. */
  readonly #onReady = (): void => {
    const isOld = ({ ctimeMs }: Stats): boolean => ctimeMs < this.#opened - fileClockTickMs;
    for (const [folder, names] of this.#byFolder) {
      const found = statOf(folder);
      // The folder may have lost a file.
      if (found !== undefined && !isOld(found)) this.#changed(folder);
      for (const file of [...names].map((name) => join(folder, name))) {
        const stat = statOf(file);
        if (stat?.isFile() === true && !isOld(stat)) this.#reportChange(file, 0);
      }
    }
  };

  /** The names that the watcher watches, by folder: without those that it ignores. */
  get #byFolder(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#watched === undefined) {
      const entries = Object.entries(this.#watcher.getWatched());
      this.#watched = new Map(entries.map(([folder, names]) => [folder, new Set(names)]));
      // The watcher builds its list on every call, and one turn looks at many paths.
      setImmediate(() => (this.#watched = undefined));
    }
    return this.#watched;
  }

  #isWatched(path: string): boolean {
    return this.#byFolder.get(dirname(path))?.has(basename(path)) === true;
  }

  /** Vite caches failed imports until it hears of a new file. */
  #forgetFailedImports(file: string): void {
    for (const { pluginContainer, logger } of Object.values(this.#environments))
      pluginContainer
        .watchChange(file, { event: "create" })
        .catch((error: unknown) => logger.error(String(error)));
  }

  #changed(file: string): void {
    // A file may have several paths. Modules use the one without links.
    this.#onChange(join(realPath(dirname(file)), basename(file)));
  }

  #report(event: "add" | "change" | "unlink", file: string): void {
    this.#watcher.emit(event, file);
    this.#watcher.emit("all", event, file);
  }

  #lookSoon(path: string, attempt = 0): void {
    clearTimeout(this.#looks.get(path));
    const timer = setTimeout(() => {
      this.#looks.delete(path);
      if (!this.#reportChange(path, attempt) && attempt + 1 < lookDelaysMs.length)
        this.#lookSoon(path, attempt + 1);
    }, lookDelaysMs[attempt]);
    this.#looks.set(path, timer.unref());
  }

  /** Reports a difference from the last report. Returns `false` if the path needs another look. */
  #reportChange(path: string, attempt: number): boolean {
    const found = statOf(path);
    const before = this.#reported.get(path);
    if (isSame(before, found)) return true;
    if (found === undefined) {
      // Wait before reporting a removal, as the watcher does: editors save by removing a file.
      if (attempt > 0) this.#report("unlink", path);
      return attempt > 0;
    }
    if (!this.#isWatched(path)) {
      // The watcher skips paths that it ignores.
      this.#watcher.add(path);
      return false;
    }
    if (found.isDirectory()) return this.#lookInto(path);
    this.#report(before === undefined ? "add" : "change", path);
    return true;
  }

  /** Returns whether the watcher watches everything in a folder. */
  #lookInto(folder: string): boolean {
    const paths = namesIn(folder).map((name) => join(folder, name));
    const missing = paths.filter((path) => !this.#isWatched(path));
    if (missing.length > 0) this.#watcher.add(missing);
    for (const path of missing) if (!this.#looks.has(path)) this.#lookSoon(path);
    for (const path of paths)
      if (this.#isWatched(path) && statOf(path)?.isFile() === true) this.#reportChange(path, 0);
    return missing.length === 0;
  }

  /** Watches paths whose watch has ended again, all at once, if they reappear soon. */
  #rewatchSoon(): void {
    this.#rewatching ??= setTimeout(() => {
      this.#rewatching = undefined;
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
      this.#watched = undefined;
      // Watching again takes a moment, and changes until then aren't reported.
      for (const path of present) this.#lookSoon(path, 1);
    }, lookDelaysMs[0]).unref();
  }
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  return a?.mtimeMs === b?.mtimeMs && a?.size === b?.size && a?.ino === b?.ino;
}

/** `undefined` for a path that doesn't exist or isn't accessible. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Empty if the folder is gone. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
