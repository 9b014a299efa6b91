// The types by which a node checks arguments of callers from outside.

import { NodeNotAvailable } from "../base/errors.ts";
import { isChecked } from "../base/access.ts";
import { entryOf, type ServerManifest, typesIdOf } from "../base/manifest.ts";
import type { Host, ModuleLoader } from "../base/ports.ts";
import type { ApplicationTypes, ParameterTypes } from "../base/parameter-types.ts";
import type { Registration } from "./registry.ts";

/** As a node finds them: the types, or why there are none. */
type Loaded =
  | { readonly file: string; readonly types: ApplicationTypes }
  | { readonly failure: unknown };

export class Checks {
  readonly #loader: Pick<ModuleLoader, "import">;
  readonly #openTypes: Host["openTypes"];
  #loaded: Loaded = { failure: undefined };

  constructor(loader: Pick<ModuleLoader, "import">, { openTypes }: Pick<Host, "openTypes">) {
    this.#loader = loader;
    this.#openTypes = openTypes;
  }

  /**
   * The types of a procedure's parameters; `undefined` if its callers aren't checked. Throws if they aren't
   * loaded, so that callers from outside are refused.
   */
  find(procedure: Registration): ParameterTypes | undefined {
    const loaded = this.#loaded;
    if (!procedure.checked) return undefined;
    const found = "types" in loaded ? loaded.types.of(procedure.typesId) : undefined;
    if (found === null) return undefined;
    if (found !== undefined) return found;
    const cause = "failure" in loaded ? loaded.failure : undefined;
    throw new NodeNotAvailable("The types of this call's parameters can't be loaded", { cause });
  }

  /**
   * Waits for types that are still being read, in development. `undefined` if there is nothing to wait for.
   */
  ready(procedure: Registration): Promise<void> | undefined {
    const loaded = this.#loaded;
    if (!procedure.checked || !("types" in loaded)) return undefined;
    return loaded.types.ready?.(procedure.typesId);
  }

  /** The types of a procedure's parameters, once they are read. `undefined` if its callers aren't checked. */
  async describe(procedure: Registration): Promise<object | undefined> {
    const loaded = this.#loaded;
    if (procedure.checked && loaded !== undefined && "types" in loaded)
      await loaded.types.whole?.();
    return this.find(procedure)?.describe();
  }

  /**
   * Loads the types, again if their file is in `fresh`. Rejects if they can't be loaded, or lack a procedure of
   * these segments; until they have it, {@link find} throws for it.
   */
  async load(
    manifest: ServerManifest,
    segments: readonly string[],
    fresh: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const { types: file } = manifest;
    const checked = checkedIn(manifest, segments);
    if (file === undefined) {
      this.#loaded = { failure: undefined };
      const [first] = checked;
      if (first === undefined) return;
      throw new TypeError(
        `The build has no types of ${first}, which callers outside reach: build again`,
      );
    }
    try {
      this.#loaded = await this.#load(file, fresh);
    } catch (failure) {
      this.#loaded = { failure };
      throw failure;
    }
    for (const id of checked)
      if (this.#loaded.types.of(id) === undefined)
        throw new TypeError(
          `${file} has no types of ${id}, which callers outside reach: build again`,
        );
  }

  async #load(
    file: string,
    fresh: ReadonlySet<string>,
  ): Promise<Exclude<Loaded, { failure: unknown }>> {
    const known = this.#loaded;
    if ("types" in known && known.file === file && !fresh.has(file)) return known;
    if (this.#openTypes === undefined)
      throw new TypeError(`This host can't check arguments by the types of ${file}`);
    const module = await this.#loader.import(file);
    try {
      return { file, types: await this.#openTypes(module) };
    } catch (cause) {
      throw new TypeError(
        `${file} has no types that this version of Seamline can use: build again`,
        {
          cause,
        },
      );
    }
  }
}

/** The functions of these segments whose arguments are checked. */
function checkedIn(
  { procedures, segments: all }: ServerManifest,
  segments: readonly string[],
): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const segment of segments)
    for (const entry of entryOf(all, segment) ?? []) {
      const record = procedures[entry.procedure];
      if (record !== undefined && isChecked(entry)) ids.add(typesIdOf(record));
    }
  return ids;
}
