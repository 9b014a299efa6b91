// Drops the transformed code of changed modules from both of Vite's environments.

import type { DevEnvironment, EnvironmentModuleNode } from "vite";

import type { Application } from "../compile/read/application.ts";
import type { Difference } from "./difference.ts";
import { parsePartId } from "../compile/modules/module-ids.ts";
import type { Pages } from "./pages.ts";

/**
 * For nodes. Returns the ids of the modules. With `isIncomplete`, drops everything: Vite may have
 * cached a failed import.
 */
export function invalidateOnNodes(
  { moduleGraph }: DevEnvironment,
  { server }: Pick<Difference, "server">,
  {
    staleGlobs,
    files,
  }: { readonly staleGlobs: readonly string[]; readonly files: ReadonlySet<string> },
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

/** For pages, which then update. Returns the ids of the changed modules that they have. */
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
