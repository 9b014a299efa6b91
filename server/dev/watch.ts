// Files as they change. The watcher is Vite's own, so that both of us hear of the same.

import { statSync } from "node:fs";
import { resolve } from "node:path";

import type { ViteDevServer } from "vite";

import { isInside } from "../sources.ts";

/**
 * The watcher takes all that happens to a file within 50 ms for one change, and tells it at the beginning: a formatter that writes right
 * after the editor would go unheard. So every file is looked at once more.
 */
const secondLook = 100;

/** Calls `heard` with each file or folder below `root` that is new, changed or gone, until the returned function is called. */
export function watch(
  { watcher, config }: Pick<ViteDevServer, "watcher" | "config">,
  root: string,
  heard: (file: string) => void,
): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const listen = (event: string, path: string): void => {
    if (event === "addDir") return;
    const file = resolve(path);
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
    heard(file);
  };
  // Segment files and modules may lie beside Vite's root; what is watched already would be looked at twice.
  if (root !== config.root && !isInside(config.root, root)) watcher.add(root);
  watcher.on("all", listen);
  return () => {
    watcher.off("all", listen);
    for (const timer of timers.values()) clearTimeout(timer);
  };
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.mtimeMs} ${found.size}`;
}
