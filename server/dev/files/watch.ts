// Listens to Vite's own watcher, so that Vite's hot updates and this session see the same changes.
// The watcher misses some: a second look at the disk finds them and reports them through it.

import { readdirSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import type { ViteDevServer } from "vite";

import { isInside, realPath } from "../../files/sources.ts";
import { lookDelaysMs, statOf, WatchedPaths } from "./watched-paths.ts";

/**
 * The watcher doesn't report when it has scanned an added folder. This is enough for a large one.
 */
const addedFolderMs = 1000;

/** File times come from a clock that ticks every few ms, so a file may seem older than it is. */
const fileClockTickMs = 20;

type Server = Pick<ViteDevServer, "watcher" | "config" | "environments">;

/**
 * Calls `onChange` with each file or folder below `root` that is added, changed or removed. Returns
 * a function that stops it.
 */
export function watch(server: Server, root: string, onChange: (file: string) => void): () => void {
  const watching = new Watch(server, root, onChange);
  return () => watching.close();
}

class Watch {
  readonly #watcher: Server["watcher"];
  readonly #environments: Server["environments"];
  readonly #onChange: (file: string) => void;
  readonly #opened = Date.now();
  readonly #looks = new Map<string, NodeJS.Timeout>();
  /** The state of each file when it was last reported. */
  readonly #reported = new Map<string, Stats>();
  readonly #watched: WatchedPaths;
  readonly #added: NodeJS.Timeout | undefined;

  constructor(
    { watcher, config, environments }: Server,
    root: string,
    onChange: (file: string) => void,
  ) {
    this.#watcher = watcher;
    this.#environments = environments;
    this.#onChange = onChange;
    // Rewatching takes a moment, and doesn't report what it finds.
    this.#watched = new WatchedPaths(watcher, (path) => this.#lookSoon(path, 1));
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
    this.#watched.close();
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
    if (event === "rename" && (isItself || this.#watched.byFolder.has(path)))
      this.#watched.rewatch(path);
    this.#lookSoon(path);
  };

  /** Reports files written after the session began reading and before the watcher reached them. */
  readonly #onReady = (): void => {
    const isOld = ({ ctimeMs }: Stats): boolean => ctimeMs < this.#opened - fileClockTickMs;
    for (const [folder, names] of this.#watched.byFolder) {
      const found = statOf(folder);
      // The folder may have lost a file.
      if (found !== undefined && !isOld(found)) this.#changed(folder);
      for (const file of [...names].map((name) => join(folder, name))) {
        const stat = statOf(file);
        if (stat?.isFile() === true && !isOld(stat)) this.#reportChange(file, 0);
      }
    }
  };

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

  /** Reports what differs from the last report. Returns `false` if the path needs another look. */
  #reportChange(path: string, attempt: number): boolean {
    const found = statOf(path);
    const before = this.#reported.get(path);
    if (isSame(before, found)) return true;
    if (found === undefined) {
      // Wait before reporting a removal, as the watcher does: editors save by removing a file.
      if (attempt > 0) this.#report("unlink", path);
      return attempt > 0;
    }
    if (!this.#watched.has(path)) {
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
    const missing = paths.filter((path) => !this.#watched.has(path));
    if (missing.length > 0) this.#watcher.add(missing);
    for (const path of missing) if (!this.#looks.has(path)) this.#lookSoon(path);
    for (const path of paths)
      if (this.#watched.has(path) && statOf(path)?.isFile() === true) this.#reportChange(path, 0);
    return missing.length === 0;
  }
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  return a?.mtimeMs === b?.mtimeMs && a?.size === b?.size && a?.ino === b?.ino;
}

/** Empty if the folder is gone. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
