// Searches for procedures that code imports, directly or through other modules.

import type { CodeDescription } from "../../../src/split/describe/describe.ts";
import type { ApplicationGraph } from "./application.ts";
import { type CutModule, importedParts } from "./cut.ts";
import { declarationOf, exportNames } from "../read/export-declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import type { ApplicationProcedure } from "./application-procedure.ts";

/** A value import of a source module, with the sought procedures that it names. */
export interface ValueImport {
  readonly target: SourceModule;
  readonly sought: readonly ApplicationProcedure[];
}

export interface Step {
  readonly module: SourceModule;
  readonly imports: readonly ValueImport[];
  readonly from?: Step;
}

/**
 * Follows imports to the sought procedures. The imports of a piece of code are looked up once,
 * whichever segment leads to it.
 */
export class ImportSearch {
  /** Module → the sought procedures that it declares, by their exports. */
  readonly #sought = new Map<SourceModule, Map<string, ApplicationProcedure>>();
  readonly #cut: ReadonlyMap<string, CutModule>;
  readonly #modules: Modules;
  readonly #imports = new Map<CodeDescription, readonly ValueImport[]>();

  constructor(
    sought: readonly ApplicationProcedure[],
    { cut, modules }: Pick<ApplicationGraph, "cut" | "modules">,
  ) {
    for (const procedure of sought)
      this.#sought.set(
        procedure.module,
        (this.#sought.get(procedure.module) ?? new Map<string, ApplicationProcedure>()).set(
          procedure.export,
          procedure,
        ),
      );
    this.#cut = cut;
    this.#modules = modules;
  }

  /** The sought procedures that are reached from `start`, each with the shortest chain of files. */
  async from(
    start: readonly Step[],
  ): Promise<ReadonlyMap<ApplicationProcedure, readonly string[]>> {
    const found = new Map<ApplicationProcedure, readonly string[]>();
    const visited = new Set<SourceModule>();
    const queue = [...start];
    // Iterating an array includes appended items.
    for (const step of queue)
      for (const { target, sought } of step.imports) {
        for (const procedure of sought)
          if (!found.has(procedure))
            found.set(procedure, [...chainOf(step), procedure.module.name]);
        if (visited.has(target)) continue;
        visited.add(target);
        const parts = this.#cut.get(target.file)?.parts.server;
        for (const description of parts === undefined
          ? [this.#modules.describe(target)]
          : importedParts(parts)) {
          const imports = await this.importsIn(target.file, description);
          if (imports.length > 0) queue.push({ module: target, imports, from: step });
        }
      }
    return found;
  }

  /** The value imports of code in a file: a module, a part of one, or a script of a page. */
  async importsIn(file: string, description: CodeDescription): Promise<readonly ValueImport[]> {
    const cached = this.#imports.get(description);
    if (cached !== undefined) return cached;
    const imports: ValueImport[] = [];
    for (const {
      module: target,
      typeOnly,
      names,
      namespace,
      isReexport,
    } of await this.#modules.importsIn(file, description)) {
      if (typeOnly) continue;
      const sought: ApplicationProcedure[] = [];
      // A re-export isn't a call.
      for (const name of isReexport ? [] : names) {
        const exported =
          name === "*" ? await this.#members(description, namespace ?? "", target) : [name];
        for (const exportName of exported) {
          const declared = await declarationOf(this.#modules, target, exportName);
          if (!("missing" in declared))
            sought.push(...this.#named(declared.module, declared.export.name));
        }
      }
      imports.push({ target, sought });
    }
    this.#imports.set(description, imports);
    return imports;
  }

  /** The members that code uses of a namespace; all if it passes the namespace on. */
  async #members(
    { uses: { units } }: CodeDescription,
    namespace: string,
    target: SourceModule,
  ): Promise<readonly string[]> {
    const uses = units.flatMap((unit) => unit.uses.filter((use) => use.name === namespace));
    const members = uses.map((use) => use.member);
    return members.includes(undefined)
      ? await exportNames(this.#modules, target)
      : members.filter((member) => member !== undefined);
  }

  #named(module: SourceModule, name: string): readonly ApplicationProcedure[] {
    const procedure = this.#sought.get(module)?.get(name);
    return procedure === undefined ? [] : [procedure];
  }
}

function chainOf(step: Step): readonly string[] {
  return step.from === undefined ? [step.module.name] : [...chainOf(step.from), step.module.name];
}
