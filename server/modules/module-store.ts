// A node's modules: fetched from their source, checked, cached by hash, and put under their plain
// names into a folder of this node, from which Node imports them.

import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { entryOf, type FileRecord, type ServerManifest } from "../../src/base/manifest.ts";
import {
  type Clock,
  type Log,
  type ModuleLoader,
  ModulesUnavailable,
  type Peer,
} from "../../src/base/ports.ts";
import { makeFolder, writing, WriteFailure } from "../base/write-failure.ts";
import { integrityOf } from "../files/kept-builds.ts";
import type { Config } from "../config/config.ts";
import { ContentStore, insteadOfCache } from "./content-store.ts";
import { needsOf } from "./lack.ts";
import type { ModuleImporter } from "./module-importer.ts";
import { folderSource, type ModuleSource, repositorySource } from "./module-source.ts";
import { createRunTree, removeDeadTrees, type RunTree } from "./run-tree.ts";
import { separateMap } from "./separate-map.ts";

export interface ModuleStoreOptions {
  /** The address of a repository and the peer for it, or the folder of a build's server part. */
  readonly from:
    | { readonly repository: string; readonly way: Peer & { close(): Promise<void> } }
    | { readonly folder: string; readonly manifest?: ServerManifest };
  /** An absolute path [`node_modules/.cache/seamline` in the application folder]. */
  readonly cache?: string | undefined;
  /** The application folder: bare imports resolve from here. */
  readonly root: string;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Called with the file URL of each part that the node loads; Node resolves the imports inside.
   */
  readonly moduleImporter: ModuleImporter;
  /** A repository is asked again until its build has the segments and modules that this names. */
  readonly config?: Config;
}

export interface ModuleStore extends ModuleLoader {
  /** Always of the same revision: the one that this node runs. */
  manifest(): Promise<ServerManifest>;
  /** Puts files and everything that they import on disk. */
  prepare(files: Iterable<string>): Promise<void>;
  /** Removes this node's folder. The cache stays for the next start. */
  close(): Promise<void>;
}

// Enough to use the bandwidth, few enough that no request times out while it waits.
const parallelFiles = 16;

/** The opened store, with the folder of the modules that this node runs. */
interface Opened {
  readonly manifest: ServerManifest;
  readonly store: ContentStore;
  readonly tree: RunTree;
  readonly placed: Map<string, Promise<void>>;
  /** Removes files that only this node uses. */
  remove(): Promise<void>;
}

export function createModuleStore(options: ModuleStoreOptions): ModuleStore {
  const { log } = options;
  const cache = options.cache ?? join(options.root, "node_modules/.cache/seamline");
  const stopping = new AbortController();
  // One listener per request: Node would warn of a leak at more than ten.
  setMaxListeners(0, stopping.signal);
  const source = sourceOf(options, cache, stopping.signal);
  // A repository doesn't say where it was built; the default folder is right for all roles of one
  // folder.
  const builtIn = join(
    "folder" in options.from ? options.from.folder : join(options.root, "dist/server"),
    "modules",
  );
  const loaded = { files: 0, bytes: 0, cached: 0 };
  let running = 0;
  let opened: Promise<Opened> | undefined;
  let isTemporary = false;
  let hasImported = false;
  let move: { readonly from: Opened; readonly to: Promise<Opened> } | undefined;

  const openIn = async (folder: string): Promise<Opened> => {
    const store = new ContentStore(join(folder, "store"));
    await writing(folder, insteadOfCache, async () => {
      await makeFolder(join(folder, "run"));
      await Promise.all([removeDeadTrees(folder), store.clean()]);
    });
    const manifest = await source.manifest();
    const { revision } = manifest;
    const tree = await writing(folder, insteadOfCache, () =>
      createRunTree({ cache: folder, root: options.root, revision }),
    );
    return { manifest, store, tree, placed: new Map(), remove: () => tree.remove() };
  };

  const open = (): Promise<Opened> =>
    (opened ??= openIn(cache).catch(async (error: unknown) => {
      try {
        if (canMove(error)) return await openElsewhere(error);
        throw unavailable(error);
      } catch (failure) {
        opened = undefined;
        throw failure;
      }
    }));

  // A build in a folder needs no cache, only files that Node can import. Once a service has imported some, it can't
  // switch to others: each module would exist twice.
  const canMove = (error: unknown): error is WriteFailure =>
    error instanceof WriteFailure && "folder" in options.from && !isTemporary && !hasImported;

  /** Opens a folder of this process's own, where temporary files are. */
  const openElsewhere = async (failure: WriteFailure): Promise<Opened> => {
    isTemporary = true;
    const files = tmpdir();
    try {
      const folder = await writing(files, "set TMPDIR or 'cache' to another folder", () =>
        mkdtemp(join(files, "seamline-")),
      );
      const remove = (): Promise<void> =>
        rm(folder, { recursive: true, force: true, maxRetries: 5 });
      const elsewhere = await openIn(folder).catch(async (error: unknown) => {
        await remove();
        throw error;
      });
      log.warn(
        `can't cache modules in ${cache}: ${failure.reason}. Starting with copies in ${folder}`,
      );
      return { ...elsewhere, remove };
    } catch (error) {
      isTemporary = false;
      throw unavailable(new Error(`${failure.message}. ${messageOf(error)}`, { cause: error }));
    }
  };

  /** Opens the store elsewhere if it couldn't be written and may be moved. */
  const moved = async (thrown: unknown, from: Opened): Promise<boolean> => {
    if (move?.from !== from) {
      if (!canMove(thrown)) return false;
      opened = openElsewhere(thrown);
      move = { from, to: opened };
      opened.catch(() => (opened = undefined));
      // Ignore failures: the next start removes the rest.
      await from.remove().catch(() => undefined);
    }
    await move.to;
    return true;
  };

  const place = async (
    file: string,
    record: FileRecord,
    { manifest: { revision }, store, tree }: Opened,
  ): Promise<void> => {
    let content = await store.find(record);
    if (content === undefined) {
      const bytes = await source.file(file, revision);
      if (integrityOf(bytes) !== record.integrity)
        throw new Error(
          `The module file ${file} doesn't match the manifest: the build has changed since. Start this node again`,
        );
      content = await store.put(record, bytes);
      loaded.files++;
      loaded.bytes += bytes.length;
    } else loaded.cached++;
    const built = file.endsWith(".js") ? readFileSync(content, "utf8") : "";
    const separated = separateMap(built, file, join(builtIn, dirname(file)));
    await writing(join(tree.folder, file), insteadOfCache, () => {
      if (separated === undefined) return tree.place(file, content);
      tree.write(file, separated.code);
      tree.write(`${file}.map`, separated.map);
    });
  };

  const prepare = async (files: readonly string[]): Promise<RunTree> => {
    const current = await open();
    const { manifest, placed, tree } = current;
    const waiting = [...closure(manifest, files)];
    running++;
    try {
      const worker = async (): Promise<void> => {
        for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
          let placing = placed.get(file);
          if (placing === undefined) {
            placing = place(file, entryOf(manifest.files, file)!, current);
            placed.set(file, placing);
            // A failed file may be requested again.
            placing.catch(() => placed.delete(file));
          }
          await placing;
        }
      };
      await Promise.all(Array.from({ length: Math.min(parallelFiles, waiting.length) }, worker));
    } catch (error) {
      if (await moved(error, current)) return await prepare(files);
      throw unavailable(error);
    } finally {
      running--;
    }
    // Another import may have moved the store, as the disk is full.
    if (opened === undefined || (await opened) !== current) return await prepare(files);
    if (running === 0) reportLoaded();
    return tree;
  };

  /** Logs one line when all requested files are there, if any had to be fetched. */
  const reportLoaded = (): void => {
    if (loaded.files > 0 && "repository" in options.from)
      log.info(
        `modules: ${loaded.files} fetched (${(loaded.bytes / 1_000).toFixed(1)} kB), ${loaded.cached} cached`,
      );
    Object.assign(loaded, { files: 0, bytes: 0, cached: 0 });
  };

  return {
    manifest: async () => (await open()).manifest,
    prepare: async (files) => void (await prepare([...files])),
    async import(file) {
      const { folder } = await prepare([file]);
      hasImported = true;
      const path = join(folder, file);
      try {
        return await options.moduleImporter(pathToFileURL(path).href);
      } catch (error) {
        const [{ manifest }, { loadFailure, purposeOf }] = await Promise.all([
          open(),
          import("./load-failure.ts"),
        ]);
        throw loadFailure(error, {
          root: options.root,
          file: path,
          purpose: purposeOf(file, manifest),
        });
      }
    },
    async close() {
      stopping.abort(new Error("This node is stopping"));
      if ("repository" in options.from) await options.from.way.close();
      await (await opened?.catch(() => undefined))?.remove();
    },
  };
}

/**
 * Tells the store's own failures from errors of modules: these aren't mistakes in a configuration that names a
 * module.
 */
function unavailable(error: unknown): ModulesUnavailable {
  if (error instanceof ModulesUnavailable) return error;
  return new ModulesUnavailable(messageOf(error), { cause: error });
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function sourceOf(
  { from, root, config, clock, log }: ModuleStoreOptions,
  cache: string,
  signal: AbortSignal,
): ModuleSource {
  if ("folder" in from) return folderSource(from.folder, from.manifest);
  const name = createHash("sha256").update(from.repository).digest("hex").slice(0, 16);
  return repositorySource({
    url: from.repository,
    peer: from.way,
    clock,
    log,
    signal,
    needs: config && needsOf(config, root),
    keptManifest: join(cache, "manifests", `${name}.json`),
  });
}

/** `files` and everything that they import. */
function closure(manifest: ServerManifest, files: Iterable<string>): Set<string> {
  const found = new Set<string>(files);
  for (const file of found) {
    if (!Object.hasOwn(manifest.files, file))
      throw new Error(
        `The build of revision ${manifest.revision} has no file '${file}': build again`,
      );
    for (const imported of entryOf(manifest.files, file)?.imports ?? []) found.add(imported);
  }
  return found;
}
