// Modules that are stale after a change, in Vite's environments for nodes and for pages.

import { readFile } from "node:fs/promises";

import type { DevEnvironment, EnvironmentModuleNode, FSWatcher } from "vite";

import type { Application } from "../compile/cut/application.ts";
import { parsePartId } from "../compile/read/module-ids.ts";
import type { Difference } from "./difference.ts";
import type { Pages } from "./pages.ts";

/**
 * Drops the transformed code of changed modules for nodes. Returns the ids of the modules. With `isIncomplete`, drops everything: Vite may have
 * cached a failed import.
 */
export function invalidateOnNodes(
  { moduleGraph }: DevEnvironment,
  { server }: Pick<Difference, "server">,
  {
    staleGlobs,
    files,
  }: { readonly staleGlobs: readonly string[]; readonly files: Iterable<string> },
  {
    cut,
    isIncomplete,
  }: { readonly cut: Application["cut"] | undefined; readonly isIncomplete: boolean },
): ReadonlySet<string> {
  const ids = new Set([...server, ...staleGlobs]);
  for (const file of files) {
    if (cut?.has(file) === true) continue;
    for (const { id } of moduleGraph.getModulesByFile(file) ?? []) if (id !== null) ids.add(id);
    ids.add(file);
  }
  if (isIncomplete) moduleGraph.invalidateAll();
  for (const id of ids) {
    const module = moduleGraph.getModuleById(id);
    if (module !== undefined) moduleGraph.invalidateModule(module);
  }
  return ids;
}

/** The same for pages, which then update. Returns the ids of the changed modules that they have. */
export async function invalidateInPages(
  environment: DevEnvironment,
  { browser }: Pick<Difference, "browser">,
  pages: Pick<Pages, "reloads">,
): Promise<ReadonlySet<string>> {
  const { moduleGraph } = environment;
  const inPages = new Set<string>();
  const { reloads } = pages;
  const changed = [...browser].flatMap((id) => moduleGraph.getModuleById(id) ?? []);
  const covered = changed.filter((module) => isCovered(module, changed));
  // These come first: Vite keeps a module's code if only its imports have changed.
  for (const module of covered) moduleGraph.invalidateModule(module);
  for (const module of changed.filter((candidate) => !covered.includes(candidate))) {
    // A page that reloads requests the rest again.
    if (pages.reloads > reloads) moduleGraph.invalidateModule(module);
    else await environment.reloadModule(module);
  }
  for (const { id } of changed) if (id !== null) inPages.add(id);
  return inPages;
}

/** Whether the shared part of the same module has changed too: its update reaches this part. */
function isCovered(
  { id, file }: EnvironmentModuleNode,
  changed: readonly EnvironmentModuleNode[],
): boolean {
  return changed.some(
    (candidate) =>
      candidate.id !== id &&
      candidate.file === file &&
      parsePartId(candidate.id ?? "").part === "shared" &&
      [...candidate.importers].some((importer) => importer.id === id),
  );
}

/**
 * Modules with `import.meta.glob` change when a matching file appears or disappears, although they
 * never imported it.
 */
export class Globs {
  readonly #environment: DevEnvironment;
  /**
   * Transformed code by id, where it was needed: Vite drops its own when a matching file appears.
   */
  readonly #code = new Map<string, string>();
  #isCurrent = true;

  constructor(watcher: FSWatcher, environment: DevEnvironment) {
    this.#environment = environment;
    watcher.on("all", (event) => {
      if (event !== "change") this.#isCurrent = false;
    });
  }

  /** Ids of the modules whose patterns match different files than at the last call. */
  async findStale(): Promise<readonly string[]> {
    if (this.#isCurrent) return [];
    this.#isCurrent = true;
    const all = [...this.#environment.moduleGraph.idToModuleMap.values()];
    const staleIds = await Promise.all(
      all.map(async (module) => ((await this.#isStale(module)) ? module.id : null)),
    );
    return staleIds.filter((id) => id !== null);
  }

  async #isStale({ id, url, file, transformResult }: EnvironmentModuleNode): Promise<boolean> {
    if (id === null || file === null || !(await holdsGlob(file))) return false;
    const before = transformResult === null ? this.#code.get(id) : withoutMap(transformResult.code);
    const module = this.#environment.moduleGraph.getModuleById(id);
    if (module !== undefined) this.#environment.moduleGraph.invalidateModule(module);
    // If it can't be transformed, its importer reports that.
    const result = await this.#environment.transformRequest(url).catch(() => null);
    const current = withoutMap(result?.code ?? "");
    this.#code.set(id, current);
    return current !== before;
  }
}

/** Vite knows which files a pattern matches; this only says whether there is one. */
async function holdsGlob(file: string): Promise<boolean> {
  // The file may be gone, or the module may be virtual.
  const text = await readFile(file, "utf8").catch(() => "");
  return text.includes("import.meta.glob");
}

/** Vite adds the map to the code as soon as a node has asked for it. */
function withoutMap(code: string): string {
  return code.replace(/^\/\/# source(?:URL|MappingSource|MappingURL)=.*$/gm, "").trim();
}
