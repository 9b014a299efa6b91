// State that would be split over machines: something at the top of a module that code of several segments uses and changes. Each
// node that holds one of these segments has its own.

import type { Problem } from "../../src/problem.ts";
import { type ModuleUses, type UnitUses, usesOf } from "../../src/split/uses.ts";
import type { Parse } from "../../src/split/split-module.ts";
import type { Application } from "./application.ts";
import type { SourceModule } from "./modules.ts";

/** A declaration of a module, by its place in `units`. */
interface Place {
  readonly module: SourceModule;
  readonly unit: number;
}

interface Use {
  readonly module: SourceModule;
  readonly state: UnitUses;
  readonly users: Set<string>;
  readonly changers: Set<string>;
}

/** One warning for each such binding. Of code that can't be read nothing is said. */
export async function splitState(application: Application, parse: Parse): Promise<readonly Problem[]> {
  const walker = new Walker(application, parse);
  for (const { module, export: name, entries } of application.procedures)
    for (const { segment } of entries) await walker.from(module, name, segment.name);
  return walker.uses
    .filter(({ users, changers }) => users.size > 1 && changers.size > 0)
    .map(({ module, state, users, changers }) => {
      const names = state.names.map((name) => `"${name}"`).join(", ");
      const changing = changers.size === users.size ? "use and change it" : `use it, and ${listed(changers)} changes it`;
      return {
        file: module.name,
        ...state.state,
        message: `${names} is state of this module, and procedures of ${listed(users)} ${changing}: each node has its own`,
        hint: "Keep it in one segment, whose procedures the others call; or outside, in a database.",
      };
    });
}

function listed(segments: ReadonlySet<string>): string {
  return [...segments]
    .sort()
    .map((name) => `"${name}"`)
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
}

class Walker {
  readonly #application: Application;
  readonly #parse: Parse;
  readonly #read = new Map<SourceModule, ModuleUses | undefined>();
  readonly #binding = new Map<SourceModule, ReadonlyMap<string, readonly number[]>>();
  readonly #visited = new Map<string, Set<string>>();
  readonly #uses = new Map<string, Use>();
  /** Units that are procedures: what uses them calls a seam. */
  readonly #procedures = new Set<string>();

  constructor(application: Application, parse: Parse) {
    this.#application = application;
    this.#parse = parse;
    for (const { module, export: name } of application.procedures)
      for (const unit of this.#usesOf(module)?.exports.get(name) ?? []) this.#procedures.add(keyOf({ module, unit }));
  }

  get uses(): readonly Use[] {
    return [...this.#uses.values()];
  }

  /** Walks through all that the code of a procedure may reach on the node that holds it. */
  async from(module: SourceModule, name: string, segment: string): Promise<void> {
    const visited = this.#visited.get(segment) ?? new Set<string>();
    this.#visited.set(segment, visited);
    const queue: Place[] = (this.#usesOf(module)?.exports.get(name) ?? []).map((unit) => ({ module, unit }));
    for (const place of queue) {
      const key = keyOf(place);
      if (visited.has(key)) continue;
      visited.add(key);
      const unit = this.#usesOf(place.module)?.units[place.unit];
      if (unit === undefined) continue;
      for (const used of unit.uses)
        for (const target of await this.#targets(place.module, used)) {
          this.#note(target, segment, unit.changes.includes(used));
          if (!this.#procedures.has(keyOf(target))) queue.push(target);
        }
    }
  }

  /** What a name of a module stands for: its own declarations, or those behind an import. */
  async #targets(module: SourceModule, name: string): Promise<readonly Place[]> {
    const read = this.#usesOf(module);
    const units = this.#bindingsOf(module).get(name) ?? [];
    const found: Place[] = [];
    for (const unit of units) {
      const from = read?.units[unit]?.from;
      found.push(...(from === undefined ? [{ module, unit }] : await this.#imported(module, from)));
    }
    return found;
  }

  async #imported(importer: SourceModule, { specifier, name }: NonNullable<UnitUses["from"]>): Promise<readonly Place[]> {
    const { modules } = this.#application;
    const target = await modules.resolve(specifier, importer.file);
    if (target === undefined) return [];
    const names = name === "*" ? await modules.exportNames(target) : [name];
    const found: Place[] = [];
    for (const one of names) {
      const declared = await modules.declaration(target, one);
      if ("missing" in declared) continue;
      const units = this.#usesOf(declared.module)?.exports.get(declared.export.name) ?? [];
      found.push(...units.map((unit) => ({ module: declared.module, unit })));
    }
    return found;
  }

  #note({ module, unit }: Place, segment: string, changes: boolean): void {
    const state = this.#usesOf(module)?.units[unit];
    if (state?.state === undefined) return;
    const key = keyOf({ module, unit });
    const use = this.#uses.get(key) ?? { module, state, users: new Set(), changers: new Set() };
    this.#uses.set(key, use);
    use.users.add(segment);
    if (changes) use.changers.add(segment);
  }

  #usesOf(module: SourceModule): ModuleUses | undefined {
    if (!this.#read.has(module))
      this.#read.set(module, usesOf({ source: this.#application.modules.text(module.file), file: module.name, parse: this.#parse }));
    return this.#read.get(module);
  }

  #bindingsOf(module: SourceModule): ReadonlyMap<string, readonly number[]> {
    const known = this.#binding.get(module);
    if (known !== undefined) return known;
    const bindings = new Map<string, number[]>();
    for (const [at, { names }] of this.#usesOf(module)?.units.entries() ?? [])
      for (const name of names) bindings.set(name, [...(bindings.get(name) ?? []), at]);
    this.#binding.set(module, bindings);
    return bindings;
  }
}

function keyOf({ module, unit }: Place): string {
  return `${module.id} ${unit}`;
}
