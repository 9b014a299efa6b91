// The source folder's files as they change, on Linux. Vite's watcher lists a folder anew after each change in it, every file looked at: of
// a thousand files that takes longer than all that has to be done of the change. Here a folder is watched as a whole, and of its files only
// the one is looked at that the system names.

import { type FSWatcher, lstatSync, readdirSync, type Stats, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The words of Vite's watcher. */
export type FileEvent = "add" | "addDir" | "change" | "unlink" | "unlinkDir";

/** A file that is being written is let be until it has been for so long what it is, in ms: who saves empties it first, and then fills it. */
const settling = 5;

/** So long at most, in ms: some are written all the time, and some are meant to be empty. */
const patience = 50;

/** What is gone for less, in ms, another file takes the place of, as many editors save. */
const replacing = 100;

interface Folder {
  readonly handle: FSWatcher;
  /** Names, and what each was when it was told of; empty before. */
  readonly files: Map<string, string>;
}

/** Tells of every file and folder below `root`, but for `node_modules` and folders whose names begin with a dot. */
export class FolderWatcher {
  readonly #root: string;
  readonly #tell: (event: FileEvent, path: string) => void;
  readonly #failed: (error: Error) => void;
  readonly #folders = new Map<string, Folder>();
  readonly #looks = new Map<string, { readonly timer: NodeJS.Timeout; readonly ms: number }>();
  readonly #above: FSWatcher;

  /** `failed` is told of what the system doesn't let one see, or watches no more. */
  constructor(root: string, tell: (event: FileEvent, path: string) => void, failed: (error: Error) => void) {
    this.#root = root;
    this.#tell = tell;
    this.#failed = failed;
    // The folder itself may go, and come again.
    this.#above = watch(dirname(root), (_, name) => {
      if (name === null || name === basename(root)) this.#soon(root);
    });
    this.#above.on("error", failed);
    this.#open(root, () => {});
  }

  close(): void {
    for (const { timer } of this.#looks.values()) clearTimeout(timer);
    this.#looks.clear();
    this.#above.close();
    for (const { handle } of this.#folders.values()) handle.close();
    this.#folders.clear();
  }

  /** Watches a folder and all in it, and calls `found` with each. One that can't be watched is told of, and left out. */
  #open(path: string, found: (event: FileEvent, path: string) => void): void {
    const files = new Map<string, string>();
    const heard = (_: string, name: string | null): void => {
      const names = name === null ? new Set([...files.keys(), ...listed(path).map((entry) => entry.name)]) : [name];
      for (const one of names) this.#soon(join(path, one));
    };
    try {
      // Watched first: what comes while it is listed is told twice rather than never.
      const handle = watch(path, heard);
      handle.on("error", this.#failed);
      this.#folders.set(path, { handle, files });
      found("addDir", path);
      for (const entry of listed(path)) {
        const inside = join(path, entry.name);
        if (entry.isDirectory()) {
          if (isWatched(entry.name)) this.#open(inside, found);
        } else if (!entry.isSymbolicLink() || stateOf(inside) !== undefined) {
          files.set(entry.name, "");
          found("add", inside);
        }
      }
    } catch (error) {
      if (!isGone(error)) this.#failed(error as Error);
    }
  }

  /** Looks at a path after some time; what happens to it meanwhile makes that no longer. */
  #soon(path: string, waited = 0, ms = settling): void {
    const known = this.#looks.get(path);
    if (known !== undefined && known.ms <= ms) return;
    clearTimeout(known?.timer);
    const look = (): void => {
      this.#looks.delete(path);
      try {
        this.#look(path, waited + ms);
      } catch (error) {
        this.#failed(error as Error);
      }
    };
    this.#looks.set(path, { timer: setTimeout(look, ms).unref(), ms });
  }

  #look(path: string, waited: number): void {
    const stat = stateOf(path);
    const files = this.#folders.get(dirname(path))?.files;
    const before = files?.get(basename(path));
    const isFolder = stat?.isDirectory() === true;
    if (stat === undefined || (isFolder ? before !== undefined : this.#folders.has(path))) {
      if (before === undefined && !this.#folders.has(path)) return;
      if (stat === undefined && waited < replacing) return this.#soon(path, waited, replacing - waited);
      this.#leave(path);
    }
    if (isFolder && !this.#folders.has(path) && isWatched(basename(path)) && (files !== undefined || path === this.#root)) this.#come(path);
    if (stat === undefined || isFolder || files === undefined) return;
    const stamp = stampOf(stat);
    if (stamp === before) return;
    if (waited < patience && (stat.size === 0 || Date.now() - stat.mtimeMs < settling)) return this.#soon(path, waited);
    files.set(basename(path), stamp);
    this.#tell(before === undefined ? "add" : "change", path);
  }

  #come(path: string): void {
    const found: [FileEvent, string][] = [];
    this.#open(path, (event, one) => void found.push([event, one]));
    for (const [event, one] of found) {
      const stat = event === "add" ? stateOf(one) : undefined;
      if (stat !== undefined) this.#folders.get(dirname(one))?.files.set(basename(one), stampOf(stat));
      this.#tell(event, one);
    }
  }

  #leave(path: string): void {
    // Those below come after it.
    for (const [folder, { handle, files }] of [...this.#folders].reverse()) {
      if (folder !== path && !folder.startsWith(`${path}/`)) continue;
      handle.close();
      this.#folders.delete(folder);
      for (const name of files.keys()) this.#tell("unlink", join(folder, name));
      this.#tell("unlinkDir", folder);
    }
    if (this.#folders.get(dirname(path))?.files.delete(basename(path)) === true) this.#tell("unlink", path);
  }
}

function stampOf({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs} ${size} ${ino}`;
}

/** What stands at a path. A link to a folder is nothing: it could lead anywhere, or in a circle. */
function stateOf(path: string): Stats | undefined {
  try {
    const found = lstatSync(path);
    if (!found.isSymbolicLink()) return found;
    const target = statSync(path);
    return target.isDirectory() ? undefined : target;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** What is in a folder now; of one that is gone already, nothing. */
function listed(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function isWatched(name: string): boolean {
  return name !== "node_modules" && !name.startsWith(".");
}
