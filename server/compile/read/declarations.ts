// Which declarations of an application use which others, across modules. This is finer than
// imports: one module may hold code for pages next to code for servers.

import type { ModuleUses, NameUse, UnitUses } from "../../../src/split/describe/uses.ts";
import { declarationOf, exportNames } from "./export-declarations.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** A declaration of a module, by its place among the module's. */
export interface Declared {
  readonly module: SourceModule;
  readonly unit: number;
}

/** A declaration, and the way on which it was reached. */
export interface Step extends Declared {
  readonly from?: Step;
}

/** A mention of a declaration in another one. */
export interface Mention {
  readonly step: Step;
  readonly use: NameUse;
  readonly target: Declared;
}

export class Declarations {
  readonly #modules: Modules;
  readonly #binding = new WeakMap<ModuleUses, ReadonlyMap<string, readonly number[]>>();

  constructor(modules: Modules) {
    this.#modules = modules;
  }

  /** The declarations behind an export; none if the module can't be read. */
  behind(module: SourceModule, name: string): readonly Declared[] {
    return (this.#usesOf(module).exports.get(name) ?? []).map((unit) => ({ module, unit }));
  }

  /** All declarations and statements of a module. */
  all(module: SourceModule): readonly Declared[] {
    return this.#usesOf(module).units.map((_, unit) => ({ module, unit }));
  }

  /** Whether other modules can import it. */
  isExported({ module, unit }: Declared): boolean {
    return [...this.#usesOf(module).exports.values()].some((units) => units.includes(unit));
  }

  uses({ module, unit }: Declared): UnitUses | undefined {
    return this.#usesOf(module).units[unit];
  }

  /** The items by the keys of the declarations that they are. */
  byKey<Item extends { readonly module: SourceModule; readonly export: string }>(
    items: readonly Item[],
  ): ReadonlyMap<string, Item> {
    return new Map(
      items.flatMap((item) =>
        this.behind(item.module, item.export).map((declared) => [declaredKey(declared), item]),
      ),
    );
  }

  /**
   * Follows mentions from declaration to declaration, each once; those in `visited` are left out.
   * `note` gets every mention, and returns whether to go on there.
   */
  async follow(
    start: readonly Declared[],
    visited: Set<string>,
    note: (mention: Mention) => boolean,
  ): Promise<void> {
    const queue: Step[] = [...start];
    // Iterating an array includes appended items.
    for (const step of queue) {
      const key = declaredKey(step);
      if (visited.has(key)) continue;
      visited.add(key);
      for (const use of this.uses(step)?.uses ?? [])
        for (const target of await this.meant(step, use))
          if (note({ step, use, target })) queue.push({ ...target, from: step });
    }
  }

  #usesOf(module: SourceModule): ModuleUses {
    return this.#modules.describe(module).uses;
  }

  /**
   * The declarations that a mention refers to, in the module itself or behind an import. For a
   * namespace, only the member if the text names one.
   */
  async meant({ module }: Declared, { name, member }: NameUse): Promise<readonly Declared[]> {
    const uses = this.#usesOf(module);
    const found: Declared[] = [];
    for (const unit of this.#bindingsOf(uses).get(name) ?? []) {
      const from = uses.units[unit]?.from;
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
          ? await exportNames(this.#modules, target)
          : [member];
    const found: Declared[] = [];
    for (const exportName of names) {
      const declared = await declarationOf(this.#modules, target, exportName);
      if (!("missing" in declared))
        found.push(...this.behind(declared.module, declared.export.name));
    }
    return found;
  }

  #bindingsOf(uses: ModuleUses): ReadonlyMap<string, readonly number[]> {
    const cached = this.#binding.get(uses);
    if (cached !== undefined) return cached;
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
