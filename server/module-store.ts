// A node's modules (architecture §1, a node's modules on disk): taken from their source, checked, kept by hash, and linked under their
// plain names into a tree of this node's own, from where Node imports them.

import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { entryOf, type FileRecord, type ServerManifest } from "../src/manifest.ts";
import {
  type Clock,
  type Log,
  type ModuleLoader,
  type ModuleNamespace,
  ModulesUnavailable,
  type Transport,
} from "../src/ports.ts";
import { ContentStore, integrityOf } from "./content-store.ts";
import { loadFailure, purposeOf } from "./load-failure.ts";
import { folderSource, type ModuleSource, repositorySource } from "./module-source.ts";
import { createRunTree, removeDeadTrees, type RunTree } from "./run-tree.ts";

export interface ModuleStoreOptions {
  /** A repository's address, or the folder of the server's part of a build. */
  readonly from: { readonly repository: string } | { readonly folder: string };
  /** Absolute [`node_modules/.cache/seamline` of the application folder]. */
  readonly cache?: string | undefined;
  /** The application folder: bare imports resolve from here. */
  readonly root: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly trustKey: string;
  /** Gets the file URL of each part that the node itself loads (§4.6); imports inside are Node's own. */
  readonly moduleImporter: (specifier: string) => Promise<ModuleNamespace>;
}

export interface ModuleStore extends ModuleLoader {
  /** Always the same one: the revision that this node runs. */
  manifest(): Promise<ServerManifest>;
  /** Brings files, and all that they import, to this disk. */
  prepare(files: Iterable<string>): Promise<void>;
  /** Removes this node's tree. The content stays for the next start. */
  close(): Promise<void>;
}

// Enough to fill a line, few enough that no request waits for its time to run out.
const atOnce = 16;

export function createModuleStore(options: ModuleStoreOptions): ModuleStore {
  const { log } = options;
  const cache = options.cache ?? join(options.root, "node_modules/.cache/seamline");
  const store = new ContentStore(join(cache, "store"));
  const stopping = new AbortController();
  // One listener for each request under way: more than the ten from which Node suspects a leak.
  setMaxListeners(0, stopping.signal);
  const source = sourceOf(options, cache, stopping.signal);
  // Chosen: a repository doesn't say where it was built; the default place is right for all roles of one folder.
  const builtIn = join(
    "folder" in options.from ? options.from.folder : join(options.root, "dist/server"),
    "modules",
  );
  const placed = new Map<string, Promise<void>>();
  const loaded = { files: 0, bytes: 0, kept: 0 };
  let running = 0;
  let opened: Promise<{ manifest: ServerManifest; tree: RunTree }> | undefined;

  const open = (): NonNullable<typeof opened> =>
    (opened ??= (async () => {
      await makeFolder(cache);
      await Promise.all([removeDeadTrees(cache), store.clean()]);
      const manifest = await source.manifest();
      return {
        manifest,
        tree: await createRunTree({ cache, root: options.root, revision: manifest.revision }),
      };
    })().catch((error: unknown) => {
      opened = undefined;
      throw unavailable(error);
    }));

  const place = async (file: string, record: FileRecord, tree: RunTree): Promise<void> => {
    let content = await store.find(record);
    if (content === undefined) {
      const bytes = await source.file(file);
      if (integrityOf(bytes) !== record.integrity)
        throw new Error(
          `The module file ${file} is not the one that the manifest names: the build has changed since. Start this node again`,
        );
      content = await store.put(record, bytes);
      loaded.files++;
      loaded.bytes += bytes.length;
    } else loaded.kept++;
    if (file.endsWith(".map"))
      await tree.write(
        file,
        relocated(await readFile(content, "utf8"), join(builtIn, dirname(file))),
      );
    else await tree.place(file, content);
  };

  const prepare = async (files: Iterable<string>): Promise<RunTree> => {
    const { manifest, tree } = await open();
    const waiting = [...closure(manifest, files)];
    running++;
    try {
      const worker = async (): Promise<void> => {
        for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
          let one = placed.get(file);
          if (one === undefined) {
            one = place(file, entryOf(manifest.files, file)!, tree);
            placed.set(file, one);
            // What failed may be asked for again.
            one.catch(() => placed.delete(file));
          }
          await one;
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, worker));
    } catch (error) {
      throw unavailable(error);
    } finally {
      running--;
    }
    if (running === 0) tell();
    return tree;
  };

  /** One line when all that was asked for has come, and only if something had to come. */
  const tell = (): void => {
    if (loaded.files > 0 && "repository" in options.from)
      log.info(
        `modules: ${loaded.files} taken (${(loaded.bytes / 1_000).toFixed(1)} kB), ${loaded.kept} were here already`,
      );
    Object.assign(loaded, { files: 0, bytes: 0, kept: 0 });
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
        const { manifest } = await open();
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

/** Told apart from what a module throws: a configuration that names one has nothing to do with it. */
function unavailable(error: unknown): ModulesUnavailable {
  if (error instanceof ModulesUnavailable) return error;
  return new ModulesUnavailable(error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}

function sourceOf(
  { from, trustKey, transport, clock, log }: ModuleStoreOptions,
  cache: string,
  signal: AbortSignal,
): ModuleSource {
  if ("folder" in from) return folderSource(from.folder);
  const name = createHash("sha256").update(from.repository).digest("hex").slice(0, 16);
  return repositorySource({
    url: from.repository,
    trustKey,
    transport,
    clock,
    log,
    signal,
    keptManifest: join(cache, "manifests", `${name}.json`),
  });
}

/** `files` and everything that they import, and the source maps of all. */
function closure(manifest: ServerManifest, files: Iterable<string>): Set<string> {
  const found = new Set<string>(files);
  for (const file of found) {
    if (!Object.hasOwn(manifest.files, file))
      throw new Error(
        `The build of revision ${manifest.revision} has no file '${file}': build again`,
      );
    for (const one of entryOf(manifest.files, file)?.imports ?? []) found.add(one);
    if (Object.hasOwn(manifest.files, `${file}.map`)) found.add(`${file}.map`);
  }
  return found;
}

/** A source map whose sources are found from anywhere: it stood in `folder` when the build wrote them relative to it. */
function relocated(text: string, folder: string): string {
  let map: { sources?: unknown };
  try {
    map = JSON.parse(text) as { sources?: unknown };
  } catch {
    // Some other tool's `.map`.
    return text;
  }
  if (!Array.isArray(map.sources)) return text;
  const sources = map.sources.map((one) =>
    typeof one === "string" && !URL.canParse(one) ? pathToFileURL(resolve(folder, one)).href : one,
  );
  return JSON.stringify({ ...map, sources });
}

async function makeFolder(cache: string): Promise<void> {
  try {
    await mkdir(cache, { recursive: true });
  } catch (error) {
    throw new Error(
      `Can't keep modules in ${cache} (${(error as NodeJS.ErrnoException).code}). Make the folder writable, or name another one as 'cache' in the configuration`,
      { cause: error },
    );
  }
}
