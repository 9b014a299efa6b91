// Listens to Vite's own watcher, so that Vite's hot updates and this session see the same changes.
// The watcher misses some: those of a file or folder that it hasn't reached yet, and of two in quick
// succession the second. A look at the disk finds them, and reports them through the watcher.

import { type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import type { ViteDevServer } from "vite";

import { type FolderEntry, isInside, listFolder, realPath } from "../files/sources.ts";
import { firstLookMs, maxLooks } from "./times.ts";

/**
 * How often to look for a path whose watch has ended: as long as the watcher may take to report a
 * removal.
 */
const rewatchAttempts = 10;

export type WatchedServer = Pick<ViteDevServer, "watcher" | "config" | "environments">;

export interface Watched {
  /** The application folder. */
  readonly root: string;
  /** Folders in it whose files are not part of the application, absolute. */
  readonly except: readonly string[];
}

/**
 * Calls `onChange` with each file or folder of the application that is added, changed or removed from now on.
 * Returns a function that stops it.
 */
export function watch(
  server: WatchedServer,
  watched: Watched,
  onChange: (file: string) => void,
): () => void {
  const watching = new Watch(server, watched, onChange);
  return () => watching.close();
}

class Watch {
  readonly #watcher: WatchedServer["watcher"];
  readonly #environments: WatchedServer["environments"];
  readonly #except: readonly string[];
  readonly #onChange: (file: string) => void;
  readonly #opened = Date.now();
  readonly #looks = new Map<string, NodeJS.Timeout>();
  /**
   * By folder and name, the state of each file and folder when it was last reported: at first, when
   * the session opened.
   */
  readonly #reported = new Map<string, Map<string, Stats>>();
  /**
   * Paths whose watch has ended, and how often they were looked for since. If the name exists
   * again, the watcher takes it for the same file or folder.
   */
  readonly #ended = new Map<string, number>();
  #watched: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  #rewatching: NodeJS.Timeout | undefined;

  constructor(
    { watcher, config, environments }: WatchedServer,
    { root, except }: Watched,
    onChange: (file: string) => void,
  ) {
    this.#watcher = watcher;
    this.#environments = environments;
    this.#except = except;
    this.#onChange = onChange;
    watcher.on("all", this.#onAll);
    watcher.on("raw", this.#onRaw);
    // Segment files and modules may be outside Vite's root.
    if (root !== config.root && !isInside(config.root, root)) watcher.add(root);
    this.#remember(root);
    // The watcher reports nothing about a file until it has reached it, and its `ready` comes long
    // before that if a file such as `.env` is missing.
    // A session has more urgent things to do first.
    this.#lookSoon(root, 3);
  }

  close(): void {
    this.#watcher.off("all", this.#onAll).off("raw", this.#onRaw);
    for (const timer of this.#looks.values()) clearTimeout(timer);
    clearTimeout(this.#rewatching);
  }

  /** Takes everything that is in a folder now for reported. */
  #remember(folder: string): void {
    const entries = new Map<string, Stats>();
    this.#reported.set(folder, entries);
    for (const { name, path, isFolder } of this.#entriesIn(folder)) {
      const found = statOf(path);
      if (found !== undefined) entries.set(name, found);
      if (isFolder) this.#remember(path);
    }
  }

  #lastReported(path: string): Stats | undefined {
    return this.#reported.get(dirname(path))?.get(basename(path));
  }

  #setReported(path: string, found: Stats | undefined): void {
    const folder = dirname(path);
    const entries = this.#reported.get(folder) ?? new Map<string, Stats>();
    this.#reported.set(folder, entries);
    if (found === undefined) entries.delete(basename(path));
    else entries.set(basename(path), found);
  }

  readonly #onAll = (event: string, path: string): void => {
    const file = resolve(path);
    // The watcher drops changes within 50 ms of an event, such as a formatter's right after a save.
    this.#lookSoon(file);
    const [before, found] = [this.#lastReported(file), statOf(file)];
    this.#setReported(file, found);
    if (event === "addDir") return;
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

  #report(event: "add" | "change" | "unlink" | "unlinkDir", file: string): void {
    this.#watcher.emit(event, file);
    this.#watcher.emit("all", event, file);
  }

  #lookSoon(path: string, attempt = 0): void {
    clearTimeout(this.#looks.get(path));
    const timer = setTimeout(
      () => {
        this.#looks.delete(path);
        this.#look(path, attempt);
      },
      firstLookMs * 2 ** attempt,
    );
    this.#looks.set(path, timer.unref());
  }

  /** Looks at a path now, and again later until the watcher has reached it: then returns `true`. */
  #look(path: string, attempt: number): boolean {
    const isDone = this.#reportChange(path, attempt);
    if (!isDone && attempt + 1 < maxLooks) this.#lookSoon(path, attempt + 1);
    return isDone;
  }

  /** Reports a difference from the last report. Returns `false` if the path needs another look. */
  #reportChange(path: string, attempt: number): boolean {
    const found = statOf(path);
    const before = this.#lastReported(path);
    if (found === undefined) {
      if (before === undefined) return true;
      // Wait before reporting a removal, as the watcher does: editors save by removing a file.
      if (attempt === 0) return false;
      for (const name of this.#reported.get(path)?.keys() ?? [])
        this.#look(join(path, name), attempt);
      this.#report(before.isDirectory() ? "unlinkDir" : "unlink", path);
      return true;
    }
    const isUnchanged = isSame(before, found);
    if (!this.#isWatched(path)) {
      // It may have missed that this is new. It skips paths that it ignores.
      if (!isUnchanged) this.#watcher.add(path);
      return false;
    }
    if (found.isDirectory()) {
      this.#setReported(path, found);
      return this.#lookInto(path, attempt);
    }
    if (!isUnchanged) this.#report(before === undefined ? "add" : "change", path);
    return true;
  }

  /**
   * Returns `false` until the watcher has reached everything in the folder: it watches a folder
   * itself once it has listed it, and misses what is added in between.
   */
  #lookInto(folder: string, attempt: number): boolean {
    const paths = new Set(this.#entriesIn(folder).map(({ path }) => path));
    let isDone = attempt > 1;
    for (const path of paths)
      if (this.#looks.has(path) || !this.#look(path, attempt)) isDone = false;
    for (const name of this.#reported.get(folder)?.keys() ?? []) {
      const path = join(folder, name);
      if (!paths.has(path) && !this.#looks.has(path)) this.#lookSoon(path);
    }
    return isDone;
  }

  /** Empty if the folder is gone. */
  #entriesIn(folder: string): readonly FolderEntry[] {
    try {
      return listFolder(folder, this.#except);
    } catch {
      return [];
    }
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
    }, firstLookMs).unref();
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
