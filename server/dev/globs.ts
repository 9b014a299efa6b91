// Modules with `import.meta.glob` change when a matching file appears or disappears, although they
// never imported it.

import { readFile } from "node:fs/promises";

import type { DevEnvironment, EnvironmentModuleNode, FSWatcher } from "vite";

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
