// Which of some procedures code imports, or what it imports does: by modules and parts of modules, which are read and kept already.

import type { ModuleDescription } from "../../src/split/describe.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

/** An import of a source module by value, with the procedures among those sought that it names. */
export interface ValueImport {
  readonly target: SourceModule;
  readonly sought: readonly Procedure[];
}

export interface Step {
  readonly module: SourceModule;
  readonly imports: readonly ValueImport[];
  readonly from?: Step;
}

/** Walks from code to the procedures that are sought. What a piece of code imports is looked up once, however many segments lead to it. */
export class ImportSearch {
  /** Module → the sought procedures that it declares, by their exports. */
  readonly #sought = new Map<SourceModule, Map<string, Procedure>>();
  readonly #cut: ReadonlyMap<string, CutModule>;
  readonly #modules: Modules;
  readonly #imports = new Map<ModuleDescription, readonly ValueImport[]>();

  constructor(sought: readonly Procedure[], cut: ReadonlyMap<string, CutModule>, modules: Modules) {
    for (const one of sought)
      this.#sought.set(
        one.module,
        (this.#sought.get(one.module) ?? new Map<string, Procedure>()).set(one.export, one),
      );
    this.#cut = cut;
    this.#modules = modules;
  }

  /** The sought procedures that code imports, or what it imports does, each with the shortest chain of files. */
  async from(start: readonly Step[]): Promise<ReadonlyMap<Procedure, readonly string[]>> {
    const found = new Map<Procedure, readonly string[]>();
    const visited = new Set<SourceModule>();
    const queue = [...start];
    // A list hands out what is added while it is walked.
    for (const step of queue)
      for (const { target, sought } of step.imports) {
        for (const procedure of sought)
          if (!found.has(procedure))
            found.set(procedure, [...chainOf(step), procedure.module.name]);
        if (visited.has(target)) continue;
        visited.add(target);
        // Behind a face stands its shared part, never a body.
        const parts = this.#cut.get(target.file)?.parts.server;
        const description =
          parts === undefined
            ? this.#modules.describe(target)
            : this.#modules.describePart(target, parts.shared);
        const imports =
          this.#imports.get(description) ?? (await this.importsOf(target, description));
        if (imports.length > 0) queue.push({ module: target, imports, from: step });
      }
    return found;
  }

  /** What a module, or a part of it, imports by value. */
  async importsOf(
    module: SourceModule,
    description: ModuleDescription,
  ): Promise<readonly ValueImport[]> {
    const known = this.#imports.get(description);
    if (known !== undefined) return known;
    const imports: ValueImport[] = [];
    for (const {
      module: target,
      typeOnly,
      names,
      namespace,
      passedOn,
    } of await this.#modules.importsOf(module, description)) {
      if (typeOnly) continue;
      const sought: Procedure[] = [];
      // Who passes a name on doesn't call it.
      for (const name of passedOn ? [] : names) {
        const all = name === "*" ? await this.#members(module, namespace ?? "", target) : [name];
        for (const one of all) {
          // Few modules pass on what others declare; of all the rest it is known here and now.
          const declared =
            this.#modules.declaredIn(target, one) ?? (await this.#modules.declaration(target, one));
          if (!("missing" in declared))
            sought.push(...this.#named(declared.module, declared.export.name));
        }
      }
      imports.push({ target, sought });
    }
    this.#imports.set(description, imports);
    return imports;
  }

  /** What a module takes of another that it imports as a namespace; all where it hands the namespace on. */
  async #members(
    module: SourceModule,
    namespace: string,
    target: SourceModule,
  ): Promise<readonly string[]> {
    const uses = (this.#modules.usesOf(module)?.units ?? []).flatMap((unit) =>
      unit.uses.filter((one) => one.name === namespace),
    );
    const members = uses.map((one) => one.member);
    return members.includes(undefined)
      ? await this.#modules.exportNames(target)
      : members.filter((one) => one !== undefined);
  }

  #named(module: SourceModule, name: string): readonly Procedure[] {
    const procedure = this.#sought.get(module)?.get(name);
    return procedure === undefined ? [] : [procedure];
  }
}

function chainOf(step: Step): readonly string[] {
  return step.from === undefined ? [step.module.name] : [...chainOf(step.from), step.module.name];
}
