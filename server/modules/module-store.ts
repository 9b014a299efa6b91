// A node's modules: fetched from their source, checked, cached by hash, and put under their plain
// names into a folder of this node, from which Node imports them.

import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { entryOf, type FileRecord, type ServerManifest } from "../../src/base/manifest.ts";
import {
  type Clock,
  type Log,
  type ModuleLoader,
  ModulesUnavailable,
  type Transport,
} from "../../src/base/ports.ts";
import { integrityOf } from "../files/kept-builds.ts";
import type { Config } from "../config/config.ts";
import { ContentStore } from "./content-store.ts";
import { needsOf } from "./lack.ts";
import type { ModuleImporter } from "./module-importer.ts";
import { folderSource, type ModuleSource, repositorySource } from "./module-source.ts";
import { createRunTree, removeDeadTrees, type RunTree } from "./run-tree.ts";
import { separateMap } from "./separate-map.ts";
import type { TrustKey } from "../../src/http/trust.ts";

export interface ModuleStoreOptions {
  /** The address of a repository, or the folder of a build's server part. */
  readonly from:
    | { readonly repository: string }
    | { readonly folder: string; readonly manifest?: ServerManifest };
  /** An absolute path [`node_modules/.cache/seamline` in the application folder]. */
  readonly cache?: string | undefined;
  /** The application folder: bare imports resolve from here. */
  readonly root: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly trustKey: TrustKey;
  /**
   * Called with the file URL of each part that the node loads; Node resolves the imports inside.
   */
  readonly moduleImporter: ModuleImporter;
  /** A repository is asked again until its build has the segments and modules that this names. */
  readonly config?: Config;
}

export interface ModuleStore extends ModuleLoader {
  /** Always the same revision: the one that this node runs. */
  manifest(): Promise<ServerManifest>;
  /** Puts files and everything that they import on disk. */
  prepare(files: Iterable<string>): Promise<void>;
  /** Removes this node's folder. The cache stays for the next start. */
  close(): Promise<void>;
}

// Enough to use the bandwidth, few enough that no request times out while it waits.
const parallelFiles = 16;

export function createModuleStore(options: ModuleStoreOptions): ModuleStore {
  const { log } = options;
  const cache = options.cache ?? join(options.root, "node_modules/.cache/seamline");
  const store = new ContentStore(join(cache, "store"));
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
  const placed = new Map<string, Promise<void>>();
  const loaded = { files: 0, bytes: 0, cached: 0 };
  let running = 0;
  let opened: Promise<{ manifest: ServerManifest; tree: RunTree }> | undefined;

  const open = (): NonNullable<typeof opened> =>
    (opened ??= (async () => {
      await makeFolder(cache);
      await Promise.all([removeDeadTrees(cache), store.clean()]);
      const manifest = await source.manifest();
      return {
        manifest,
        tree: createRunTree({ cache, root: options.root, revision: manifest.revision }),
      };
    })().catch((error: unknown) => {
      opened = undefined;
      throw unavailable(error);
    }));

  const place = async (
    file: string,
    record: FileRecord,
    { revision }: ServerManifest,
    tree: RunTree,
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
    if (separated === undefined) return tree.place(file, content);
    tree.write(file, separated.code);
    tree.write(`${file}.map`, separated.map);
  };

  const prepare = async (files: Iterable<string>): Promise<RunTree> => {
    const { manifest, tree } = await open();
    const waiting = [...closure(manifest, files)];
    running++;
    try {
      const worker = async (): Promise<void> => {
        for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
          let placing = placed.get(file);
          if (placing === undefined) {
            placing = place(file, entryOf(manifest.files, file)!, manifest, tree);
            placed.set(file, placing);
            // A failed file may be requested again.
            placing.catch(() => placed.delete(file));
          }
          await placing;
        }
      };
      await Promise.all(Array.from({ length: Math.min(parallelFiles, waiting.length) }, worker));
    } catch (error) {
      throw unavailable(error);
    } finally {
      running--;
    }
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
    prepare: async (files) => void (await prepare(files)),
    async import(file) {
      const { folder } = await prepare([file]);
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
      const { tree } = (await opened?.catch(() => undefined)) ?? {};
      await tree?.remove();
    },
  };
}

/** Not to be confused with what a module throws: a configuration that names one isn't at fault. */
function unavailable(error: unknown): ModulesUnavailable {
  if (error instanceof ModulesUnavailable) return error;
  return new ModulesUnavailable(error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}

function sourceOf(
  { from, root, config, trustKey, transport, clock, log }: ModuleStoreOptions,
  cache: string,
  signal: AbortSignal,
): ModuleSource {
  if ("folder" in from) return folderSource(from.folder, from.manifest);
  const name = createHash("sha256").update(from.repository).digest("hex").slice(0, 16);
  return repositorySource({
    url: from.repository,
    trustKey,
    transport,
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

async function makeFolder(cache: string): Promise<void> {
  try {
    await mkdir(cache, { recursive: true });
  } catch (error) {
    throw new Error(
      `Can't cache modules in ${cache} (${(error as NodeJS.ErrnoException).code}). Make the folder writable, or set another 'cache' in the configuration`,
      { cause: error },
    );
  }
}
