// Files as they change. The watcher is Vite's own, so that both of us hear of the same.

import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";

import type { ServerOptions, ViteDevServer } from "vite";

import { isInside } from "../sources.ts";
import { FolderWatcher } from "./folder-watcher.ts";

/**
 * The watcher takes all that happens to a file within 50 ms for one change, and tells it at the beginning: a formatter that writes right
 * after the editor would go unheard. So every file is looked at once more.
 */
const secondLook = 100;

/**
 * Whether the source folder is watched in our way (folder-watcher.ts), and what is told of it handed to Vite's watcher. Not where a
 * configuration says how files are watched: polling, for one, is for disks of which the system tells nothing.
 */
export function isWatchedHere(options: ServerOptions | undefined, root: string, source: string): boolean {
  const { watch: said, middlewareMode } = options ?? {};
  return (
    process.platform === "linux" && said === undefined && !middlewareMode && source !== root && isInside(root, source) && existsSync(source)
  );
}

/**
 * Calls `heard` with each file or folder below `root` that is new, changed or gone, until the returned function is called. `here` is a
 * folder of which Vite's watcher has been told to leave it out.
 */
export function watch(
  { watcher, config }: Pick<ViteDevServer, "watcher" | "config">,
  { root, here }: { readonly root: string; readonly here: string | undefined },
  heard: (file: string) => void,
): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const listen = (event: string, path: string): void => {
    if (event === "addDir") return;
    const file = resolve(path);
    heard(file);
    if (here !== undefined && isInside(here, file)) return;
    const before = stampOf(file);
    clearTimeout(timers.get(file));
    timers.set(
      file,
      setTimeout(() => {
        timers.delete(file);
        const now = stampOf(file);
        // Gone is told in any case, only later.
        if (now === before || now === "") return;
        watcher.emit("change", path);
        watcher.emit("all", "change", path);
      }, secondLook).unref(),
    );
  };
  // Segment files and modules may lie beside Vite's root; what is watched already would be looked at twice.
  if (root !== config.root && !isInside(config.root, root)) watcher.add(root);
  watcher.on("all", listen);
  const tell = (event: string, path: string): void => {
    watcher.emit(event, path);
    watcher.emit("all", event, path);
  };
  const own = here === undefined ? undefined : new FolderWatcher(here, tell, (error) => watcher.emit("error", error));
  return () => {
    own?.close();
    watcher.off("all", listen);
    for (const timer of timers.values()) clearTimeout(timer);
  };
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.mtimeMs} ${found.size}`;
}
