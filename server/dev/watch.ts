// Files as they change, by Vite's own watcher: Vite's hot updates and this session hear the same. The watcher misses some changes. They are
// found here, by a second look at the disk, and told through it.

import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import type { ViteDevServer } from "vite";

import { isInside, realPath } from "../sources.ts";

/**
 * When a path is looked at after an event, in ms. The first look finds what came within 50 ms of an event, which the watcher leaves out: a
 * formatter that writes right after the editor. The others follow while the watcher doesn't have all files of a folder yet.
 */
const lookDelaysMs = [100, 200, 400, 800];

/** The watcher doesn't say when it has gone through a folder that is added later. This is long enough for a large one. */
const addedFolderMs = 1000;

/** How often something that is gone is looked for, for as long as the watcher may take to tell that it is. */
const mostLooks = 10;

/** File systems take their times from a clock that ticks every few ms, so a file may seem older than it is. */
const clockTickMs = 20;

type Server = Pick<ViteDevServer, "watcher" | "config" | "environments">;

/** Calls `heard` with each file or folder below `root` that is new, changed or gone, from now on, until the returned function is called. */
export function watch(server: Server, root: string, heard: (file: string) => void): () => void {
  const open = new Watch(server, root, heard);
  return () => open.close();
}

class Watch {
  readonly #watcher: Server["watcher"];
  readonly #environments: Server["environments"];
  readonly #heard: (file: string) => void;
  readonly #opened = Date.now();
  readonly #looks = new Map<string, NodeJS.Timeout>();
  /** By file: what it was when it was last told. */
  readonly #told = new Map<string, Stats>();
  /**
   * Paths whose watch has ended, and how often they were looked for since. The watcher may not know: if the same name is there again, it takes
   * it for the same file or folder.
   */
  readonly #ended = new Map<string, number>();
  #watchingAgain: NodeJS.Timeout | undefined;
  readonly #added: NodeJS.Timeout | undefined;
  #listed: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  constructor(
    { watcher, config, environments }: Server,
    root: string,
    heard: (file: string) => void,
  ) {
    this.#watcher = watcher;
    this.#environments = environments;
    this.#heard = heard;
    watcher.on("all", this.#onAll);
    watcher.on("raw", this.#onRaw);
    // If it is ready already, it has watched all files since before the application is read.
    watcher.once("ready", this.#onReady);
    // Segment files and modules may lie beside Vite's root.
    if (root === config.root || isInside(config.root, root)) return;
    watcher.add(root);
    this.#added = setTimeout(this.#onReady, addedFolderMs).unref();
  }

  close(): void {
    this.#watcher.off("all", this.#onAll).off("raw", this.#onRaw).off("ready", this.#onReady);
    for (const timer of this.#looks.values()) clearTimeout(timer);
    clearTimeout(this.#added);
    clearTimeout(this.#watchingAgain);
  }

  readonly #onAll = (event: string, path: string): void => {
    const file = resolve(path);
    this.#lookSoon(file);
    if (event === "addDir") return;
    const [before, found] = [this.#told.get(file), statOf(file)];
    if (found?.isFile() === true) this.#told.set(file, found);
    else this.#told.delete(file);
    // One that was gone for a moment is told as changed.
    if (
      event === "change" &&
      found !== undefined &&
      found.birthtimeMs > (before?.birthtimeMs ?? this.#opened)
    )
      this.#resolveAgain(file);
    this.#hear(file);
  };

  // What the system says, before the watcher makes of it what it does. A watch is bound to the file or folder that it was opened for, not to
  // its path: when that is removed or moved, the system says so by its own name, and then nothing more.
  readonly #onRaw = (
    event: string,
    name: unknown,
    { watchedPath }: { readonly watchedPath?: string } = {},
  ): void => {
    if (watchedPath === undefined || typeof name !== "string") return;
    const isItself = name === basename(watchedPath);
    const path = isItself ? watchedPath : join(watchedPath, name);
    // A folder that comes, or goes, under a name that the watcher knows is another one.
    if (event === "rename" && (isItself || this.#watched.has(path))) {
      this.#ended.set(path, 0);
      this.#watchAgainSoon();
    }
    this.#lookSoon(path);
  };

  /** Tells what was written after the session began to read, and before the watcher came to it. */
  readonly #onReady = (): void => {
    const isOld = ({ ctimeMs }: Stats): boolean => ctimeMs < this.#opened - clockTickMs;
    for (const [folder, names] of this.#watched) {
      const found = statOf(folder);
      // A file may be gone.
      if (found !== undefined && !isOld(found)) this.#hear(folder);
      for (const file of [...names].map((name) => join(folder, name))) {
        const stat = statOf(file);
        if (stat?.isFile() === true && !isOld(stat)) this.#isSettled(file, 0);
      }
    }
  };

  /** Vite remembers which imports lead nowhere, until it is told that a file is new. */
  #resolveAgain(file: string): void {
    for (const { pluginContainer, logger } of Object.values(this.#environments))
      pluginContainer
        .watchChange(file, { event: "create" })
        .catch((error: unknown) => logger.error(String(error)));
  }

  #hear(file: string): void {
    // One file may be heard of by several names; modules have that which leads through no link.
    this.#heard(join(realPath(dirname(file)), basename(file)));
  }

  #tell(event: "add" | "change" | "unlink", file: string): void {
    this.#watcher.emit(event, file);
    this.#watcher.emit("all", event, file);
  }

  #lookSoon(path: string, times = 0): void {
    clearTimeout(this.#looks.get(path));
    const timer = setTimeout(() => this.#look(path, times), lookDelaysMs[times]);
    this.#looks.set(path, timer.unref());
  }

  #look(path: string, times: number): void {
    this.#looks.delete(path);
    if (!this.#isSettled(path, times) && times + 1 < lookDelaysMs.length)
      this.#lookSoon(path, times + 1);
  }

  /** Tells what isn't as it was told. Gives whether there is nothing to wait for. */
  #isSettled(path: string, times: number): boolean {
    const found = statOf(path);
    const before = this.#told.get(path);
    if (isSame(before, found)) return true;
    if (found === undefined) {
      // The watcher waits a while before it tells that a file is gone, as editors save by removing one.
      if (times > 0) this.#tell("unlink", path);
      return times > 0;
    }
    if (!this.#has(path)) {
      // It takes what it doesn't ignore.
      this.#watcher.add(path);
      return false;
    }
    if (found.isDirectory()) return this.#lookInto(path);
    this.#tell(before === undefined ? "add" : "change", path);
    return true;
  }

  /** Gives whether the watcher has all that is in a folder. */
  #lookInto(folder: string): boolean {
    const paths = namesIn(folder).map((name) => join(folder, name));
    const missing = paths.filter((path) => !this.#has(path));
    if (missing.length > 0) this.#watcher.add(missing);
    for (const path of missing) if (!this.#looks.has(path)) this.#lookSoon(path);
    for (const path of paths)
      if (this.#has(path) && statOf(path)?.isFile() === true) this.#isSettled(path, 0);
    return missing.length === 0;
  }

  #watchAgainSoon(): void {
    this.#watchingAgain ??= setTimeout(() => {
      this.#watchingAgain = undefined;
      this.#watchAgain();
    }, lookDelaysMs[0]).unref();
  }

  /** Watches again what is there again. */
  #watchAgain(): void {
    const paths: string[] = [];
    for (const [path, times] of this.#ended) {
      const isThere = statOf(path) !== undefined;
      if (isThere) paths.push(path);
      if (isThere || times === mostLooks) this.#ended.delete(path);
      else this.#ended.set(path, times + 1);
    }
    if (this.#ended.size > 0) this.#watchAgainSoon();
    if (paths.length === 0) return;
    this.#watcher.unwatch(paths);
    this.#watcher.add(paths);
    this.#listed = undefined;
    // That takes a moment, and it doesn't tell what it finds.
    for (const path of paths) this.#lookSoon(path, 1);
  }

  /** Whether the watcher knows a path. It never knows what it ignores. */
  #has(path: string): boolean {
    return this.#watched.get(dirname(path))?.has(basename(path)) === true;
  }

  /** By folder. The watcher makes this list anew each time, and many paths are looked at in one turn. */
  get #watched(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#listed === undefined) {
      this.#listed = new Map(
        Object.entries(this.#watcher.getWatched()).map(([folder, names]) => [
          folder,
          new Set(names),
        ]),
      );
      setImmediate(() => (this.#listed = undefined));
    }
    return this.#listed;
  }
}

/** `undefined` for what isn't there, and for what can't be looked at: that can't be read either. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.mtimeMs === other?.mtimeMs && one?.size === other?.size && one?.ino === other?.ino;
}

/** Of a folder that is gone meanwhile, none. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
