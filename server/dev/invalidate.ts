// What Vite has made of modules that are others now, in its two environments: it has to make it again.

import type { DevEnvironment, EnvironmentModuleNode } from "vite";

import type { Application } from "../build/application.ts";
import type { Difference } from "./difference.ts";
import { partOfId } from "./ids.ts";
import type { Pages } from "./pages.ts";

/** For nodes. `isIncomplete`: something couldn't be loaded, so what Vite made of it may hold an import that led nowhere then. */
export function invalidateOnNodes(
  { moduleGraph }: DevEnvironment,
  { server }: Pick<Difference, "server">,
  others: { readonly listing: readonly string[]; readonly files: ReadonlySet<string> },
  {
    cut,
    isIncomplete,
  }: { readonly cut: Application["cut"] | undefined; readonly isIncomplete: boolean },
): ReadonlySet<string> {
  const ids = new Set([...server, ...others.listing]);
  for (const file of others.files) {
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

/** For pages, which are told. Gives the ids of modules that they have. */
export async function invalidateInPages(
  environment: DevEnvironment,
  { browser }: Pick<Difference, "browser">,
  pages: Pick<Pages, "reloads">,
): Promise<ReadonlySet<string>> {
  const { moduleGraph } = environment;
  const inPages = new Set<string>();
  const { reloads } = pages;
  const changed = [...browser].flatMap((id) => moduleGraph.getModuleById(id) ?? []);
  const covered = changed.filter((one) => isCovered(one, changed));
  // First, since Vite keeps the code of a module when only its imports have changed.
  for (const module of covered) moduleGraph.invalidateModule(module);
  for (const module of changed.filter((one) => !covered.includes(one))) {
    // A page that loads itself again is told once; all else that changed, it gets anew.
    if (pages.reloads > reloads) moduleGraph.invalidateModule(module);
    else await environment.reloadModule(module);
  }
  for (const { id } of changed) if (id !== null) inPages.add(id);
  return inPages;
}

/** Whether a part imports the shared part of its module, which has changed too: that part's update reaches the same modules. */
function isCovered(
  { id, file }: EnvironmentModuleNode,
  changed: readonly EnvironmentModuleNode[],
): boolean {
  return changed.some(
    (other) =>
      other.id !== id &&
      other.file === file &&
      partOfId(other.id ?? "").part === "shared" &&
      [...other.importers].some((one) => one.id === id),
  );
}
