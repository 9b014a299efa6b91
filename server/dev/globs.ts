// Modules that name files by a pattern, `import.meta.glob`: what they hold changes when a file comes or goes that they have never read.

import { readFile } from "node:fs/promises";

import type { DevEnvironment, EnvironmentModuleNode, FSWatcher } from "vite";

export class Globs {
  readonly #environment: DevEnvironment;
  /** By id: what a module came to, as far as it was looked at. Vite throws its own away whenever a file comes that matches. */
  readonly #made = new Map<string, string>();
  #isLookedAt = true;

  /** Until the watcher is closed. */
  constructor(watcher: FSWatcher, environment: DevEnvironment) {
    this.#environment = environment;
    watcher.on("all", (event) => {
      if (event !== "change") this.#isLookedAt = false;
    });
  }

  /** Ids of the modules that name other files than when this was last asked. */
  async outdated(): Promise<readonly string[]> {
    if (this.#isLookedAt) return [];
    this.#isLookedAt = true;
    const all = [...this.#environment.moduleGraph.idToModuleMap.values()];
    const looked = await Promise.all(
      all.map(async (module) => ((await this.#isOther(module)) ? module.id : null)),
    );
    return looked.filter((id) => id !== null);
  }

  async #isOther({ id, url, file, transformResult }: EnvironmentModuleNode): Promise<boolean> {
    if (id === null || file === null || !(await holdsGlob(file))) return false;
    const before = transformResult === null ? this.#made.get(id) : withoutMap(transformResult.code);
    const module = this.#environment.moduleGraph.getModuleById(id);
    if (module !== undefined) this.#environment.moduleGraph.invalidateModule(module);
    // What can't be read is told by who needs it.
    const result = await this.#environment.transformRequest(url).catch(() => null);
    const now = withoutMap(result?.code ?? "");
    this.#made.set(id, now);
    return now !== before;
  }
}

/** Which files a pattern means is Vite's to say; here only whether it has to be asked. */
async function holdsGlob(file: string): Promise<boolean> {
  // Gone, or of a plugin's making and no file at all.
  const text = await readFile(file, "utf8").catch(() => "");
  return text.includes("import.meta.glob");
}

/** Vite writes the map into what it has made as soon as a node has asked for it. */
function withoutMap(code: string): string {
  return code.replace(/^\/\/# source(?:URL|MappingSource|MappingURL)=.*$/gm, "").trim();
}
