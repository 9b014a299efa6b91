// The guards of a node: functions that callers from outside must pass before a procedure or route runs.

import { NodeNotAvailable } from "../base/errors.ts";
import { entryOf, guardParts, type ServerManifest } from "../base/manifest.ts";
import type { ModuleLoader } from "../base/ports.ts";
import type { ProcedureFunction } from "./procedure-function.ts";

/** As a node finds it: the function, or why there is none. */
type Loaded =
  | { readonly file: string; readonly run: ProcedureFunction }
  | { readonly failure: unknown };

const notLoaded: Loaded = { failure: undefined };

export class Guards {
  readonly #loader: Pick<ModuleLoader, "import">;
  #loaded = new Map<string, Loaded>();

  constructor(loader: Pick<ModuleLoader, "import">) {
    this.#loader = loader;
  }

  /** The function of a guard. Throws if it isn't loaded, so that no caller passes. */
  find(name: string): ProcedureFunction {
    const found = this.#loaded.get(name) ?? notLoaded;
    if ("run" in found) return found.run;
    throw new NodeNotAvailable("The guard of this call can't be loaded", { cause: found.failure });
  }

  /**
   * Loads the guards of these segments, and again those with a file in `fresh`. Rejects if one can't be
   * loaded; until it is, {@link find} throws for it.
   */
  async load(
    manifest: ServerManifest,
    segments: readonly string[],
    fresh: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const names = guardsIn(manifest, segments);
    const loading = [...names].map(async (name) => {
      try {
        this.#loaded.set(name, await this.#load(name, manifest, fresh));
      } catch (failure) {
        this.#loaded.set(name, { failure });
        throw failure;
      }
    });
    const results = await Promise.allSettled(loading);
    for (const name of this.#loaded.keys()) if (!names.has(name)) this.#loaded.delete(name);
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #load(
    name: string,
    { modules }: Pick<ServerManifest, "modules">,
    fresh: ReadonlySet<string>,
  ): Promise<Loaded> {
    const { module, export: exported } = guardParts(name);
    const file = entryOf(modules, module)?.file;
    if (file === undefined)
      throw new TypeError(`The guard ${name} isn't in the build: build again`);
    const known = this.#loaded.get(name);
    if (known !== undefined && "run" in known && known.file === file && !fresh.has(file))
      return known;
    const run = (await this.#loader.import(file))[exported];
    if (typeof run !== "function")
      throw new TypeError(`${file} has no function '${exported}' for a guard: build again`);
    return { file, run: run as ProcedureFunction };
  }
}

/** The guards of these segments' procedures and routes. */
export function guardsIn(
  { segments: all, routes = {} }: Pick<ServerManifest, "segments" | "routes">,
  segments: readonly string[],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const segment of segments)
    for (const { guard } of [...(entryOf(all, segment) ?? []), ...(entryOf(routes, segment) ?? [])])
      if (guard !== undefined) names.add(guard);
  return names;
}
