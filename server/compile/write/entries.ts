// Additional entries of a bundle. Each gets a file with all of its exports under their own names.

import { basename, dirname } from "node:path";

import type { Environment, Rolldown } from "vite";

import { emptyId, parsePartId } from "../read/module-ids.ts";

type BundleContext = Rolldown.PluginContext & { readonly environment: Environment };

export class Entries {
  /** Files of the browser's entries, by the modules' ids. */
  files: ReadonlyMap<string, string> = new Map();
  readonly #emitted = new Map<Environment, Set<string>>();

  /**
   * Makes a module an entry, unnamed: the bundler's reference is a hash of the name, so two files
   * with one name would be confused. It names a file `index` after its folder, and no output may be
   * named after the application folder.
   */
  emit(context: BundleContext, id: string, root: string): void {
    let emitted = this.#emitted.get(context.environment);
    if (emitted === undefined) this.#emitted.set(context.environment, (emitted = new Set()));
    if (emitted.has(id)) return;
    emitted.add(id);
    const { file, part } = parsePartId(id);
    const plain = [basename(file).replace(/\.\w+$/, ""), ...(part === undefined ? [] : [part])];
    const name = dirname(file) === root ? { name: ["seamline", ...plain].join("-") } : {};
    context.emitFile({ type: "chunk", id, ...name, preserveSignature: "strict" });
  }

  /** Allows entries of an environment to be emitted again, for another build of it. */
  forget(environment: Environment): void {
    this.#emitted.delete(environment);
  }

  /** Ensures that each module in the browser's manifest costs one request. */
  tidy(context: BundleContext, bundle: Rolldown.OutputBundle): void {
    for (const [name, file] of Object.entries(bundle))
      if (file.type === "chunk" && file.facadeModuleId === emptyId) delete bundle[name];
    this.files = placeEntries(bundle, this.#emitted.get(context.environment) ?? []);
  }
}

/**
 * Finds the file of each emitted entry. Removes entries that only re-export another chunk under the
 * same names, which the bundler makes if both a page and the manifest want a module: each would
 * cost another request.
 */
function placeEntries(
  bundle: Rolldown.OutputBundle,
  ids: Iterable<string>,
): ReadonlyMap<string, string> {
  const chunks = Object.values(bundle).filter((chunk) => chunk.type === "chunk");
  const imported = new Set(chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]));
  const containers = new Map<string, Rolldown.OutputChunk>();
  const named = new Map<string, Rolldown.OutputChunk[]>();
  for (const chunk of chunks) {
    for (const id of chunk.moduleIds) if (!containers.has(id)) containers.set(id, chunk);
    if (!chunk.isEntry || chunk.facadeModuleId === null) continue;
    const others = named.get(chunk.facadeModuleId);
    if (others === undefined) named.set(chunk.facadeModuleId, [chunk]);
    else others.push(chunk);
  }
  const places = new Map<string, string>();
  for (const id of ids) {
    // A module that the configuration names too has two entries. The chunk that holds it may lack
    // exports that nothing in the bundle imports.
    const entries = (named.get(id) ?? []).sort((a, b) => b.moduleIds.length - a.moduleIds.length);
    const container = containers.get(id);
    for (const entry of entries) {
      const isFacade = entry.moduleIds.length === 0 && !imported.has(entry.fileName);
      if (!isFacade || container === undefined || namesOf(container) !== namesOf(entry))
        places.set(id, entry.fileName);
      else {
        places.set(id, container.fileName);
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
