// The declarations of an application and which of them use which, across modules: finer than imports, as one module may hold what only pages
// use beside what servers do.

import type { ModuleUses, NameUse, UnitUses } from "../../src/split/uses.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** A declaration of a module, by its place among the module's. */
export interface Declared {
  readonly module: SourceModule;
  readonly unit: number;
}

export class Declarations {
  readonly #modules: Modules;
  readonly #binding = new WeakMap<ModuleUses, ReadonlyMap<string, readonly number[]>>();

  constructor(modules: Modules) {
    this.#modules = modules;
  }

  /** What stands behind an export of the module that declares it; nothing in a module that can't be read. */
  behind(module: SourceModule, name: string): readonly Declared[] {
    return (this.#modules.usesOf(module)?.exports.get(name) ?? []).map((unit) => ({
      module,
      unit,
    }));
  }

  /** All declarations and statements of a module. */
  all(module: SourceModule): readonly Declared[] {
    return (this.#modules.usesOf(module)?.units ?? []).map((_, unit) => ({ module, unit }));
  }

  /** Whether others may import it. */
  isExported({ module, unit }: Declared): boolean {
    return [...(this.#modules.usesOf(module)?.exports.values() ?? [])].some((units) =>
      units.includes(unit),
    );
  }

  uses({ module, unit }: Declared): UnitUses | undefined {
    return this.#modules.usesOf(module)?.units[unit];
  }

  /** What a mention stands for: declarations of the module itself, or those behind an import. Of a namespace, the member that is taken, or all. */
  async meant({ module }: Declared, { name, member }: NameUse): Promise<readonly Declared[]> {
    const uses = this.#modules.usesOf(module);
    const found: Declared[] = [];
    for (const unit of this.#bindingsOf(uses).get(name) ?? []) {
      const from = uses?.units[unit]?.from;
      found.push(
        ...(from === undefined ? [{ module, unit }] : await this.#imported(module, from, member)),
      );
    }
    return found;
  }

  async #imported(
    importer: SourceModule,
    { specifier, name }: NonNullable<UnitUses["from"]>,
    member: string | undefined,
  ): Promise<readonly Declared[]> {
    const target = await this.#modules.resolve(specifier, importer.file);
    if (target === undefined) return [];
    const names =
      name !== "*"
        ? [name]
        : member === undefined
          ? await this.#modules.exportNames(target)
          : [member];
    const found: Declared[] = [];
    for (const one of names) {
      const declared = await this.#modules.declaration(target, one);
      if (!("missing" in declared))
        found.push(...this.behind(declared.module, declared.export.name));
    }
    return found;
  }

  #bindingsOf(uses: ModuleUses | undefined): ReadonlyMap<string, readonly number[]> {
    if (uses === undefined) return new Map();
    const known = this.#binding.get(uses);
    if (known !== undefined) return known;
    const bindings = new Map<string, number[]>();
    for (const [at, { names }] of uses.units.entries())
      for (const name of names) bindings.set(name, [...(bindings.get(name) ?? []), at]);
    this.#binding.set(uses, bindings);
    return bindings;
  }
}

/** A declaration as a key of a set. */
export function declaredKey({ module, unit }: Declared): string {
  return `${module.id} ${unit}`;
}
