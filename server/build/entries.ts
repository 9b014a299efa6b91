// Modules that are made entries of a bundle, beside those of the configuration: each gets a file with all of its exports under their names.

import { basename, dirname } from "node:path";

import type { Environment, Rolldown } from "vite";

import { emptyId } from "./environments.ts";

type Context = Rolldown.PluginContext & { readonly environment: Environment };

export class Entries {
  /** Files of the browser's entries, by the modules' ids. */
  files: ReadonlyMap<string, string> = new Map();
  readonly #emitted = new Map<Environment, Set<string>>();

  /**
   * Makes a module an entry. Without a name of ours: the bundler's reference is a hash of the name, so two files of one name, of this plugin or of
   * another, would be taken for each other. The bundler names a file `index` after its folder, and nothing in the output may be named after the
   * application folder.
   */
  emit(context: Context, id: string, root: string): void {
    let emitted = this.#emitted.get(context.environment);
    if (emitted === undefined) this.#emitted.set(context.environment, (emitted = new Set()));
    if (emitted.has(id)) return;
    emitted.add(id);
    const name =
      dirname(id) === root
        ? {
            name: `seamline-${basename(id)
              .replace(/\.\w+(?=\?|$)/, "")
              .replace("?seamline=", "-")}`,
          }
        : {};
    context.emitFile({ type: "chunk", id, ...name, preserveSignature: "strict" });
  }

  /** Lets the modules of an environment be made entries once more, in another build of it. */
  forget(environment: Environment): void {
    this.#emitted.delete(environment);
  }

  /** Makes sure that each module of the browser's manifest costs one request. */
  tidy(context: Context, bundle: Rolldown.OutputBundle): void {
    for (const [name, one] of Object.entries(bundle))
      if (one.type === "chunk" && one.facadeModuleId === emptyId) delete bundle[name];
    this.files = placeEntries(bundle, this.#emitted.get(context.environment) ?? []);
  }
}

/**
 * Finds the file of each module that was made an entry. Removes entries that only pass on what another chunk has under the same names, as the
 * bundler makes them where a page and the manifest want one module: each would be one more request.
 */
function placeEntries(
  bundle: Rolldown.OutputBundle,
  ids: Iterable<string>,
): ReadonlyMap<string, string> {
  const chunks = Object.values(bundle).filter((one) => one.type === "chunk");
  const asked = new Set(chunks.flatMap((one) => [...one.imports, ...one.dynamicImports]));
  const places = new Map<string, string>();
  for (const id of ids) {
    // One that the configuration names as well is entered twice. What holds it may lack exports that nothing in the bundle asks for.
    const entries = chunks
      .filter((one) => one.isEntry && one.facadeModuleId === id)
      .sort((a, b) => b.moduleIds.length - a.moduleIds.length);
    const holder = chunks.find((one) => one.moduleIds.includes(id));
    for (const entry of entries) {
      const isFacade = entry.moduleIds.length === 0 && !asked.has(entry.fileName);
      if (!isFacade || holder === undefined || namesOf(holder) !== namesOf(entry))
        places.set(id, entry.fileName);
      else {
        places.set(id, holder.fileName);
        delete bundle[entry.fileName];
        delete bundle[`${entry.fileName}.map`];
      }
    }
    if (entries.length === 0)
      throw new Error(
        `The bundler wrote no file for ${id}: does another plugin remove it from the bundle?`,
      );
  }
  return places;
}

function namesOf(chunk: Rolldown.OutputChunk): string {
  return [...chunk.exports].sort().join();
}
