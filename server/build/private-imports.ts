// A private procedure answers on its own nodes only (decisions §6, private). Code of another segment that imports it will get
// ProcedureNotFound, so the build says so beforehand.

import type { Problem } from "../../src/problem.ts";
import type { ModuleDescription } from "../../src/split/describe.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

/** An import of a source module by value, with the private procedures that it names. */
interface ValueImport {
  readonly target: SourceModule;
  readonly hidden: readonly Procedure[];
}

interface Step {
  readonly module: SourceModule;
  readonly imports: readonly ValueImport[];
  readonly from?: Step;
}

/** One warning for each private procedure and segment whose code imports it without holding it, with the chain of imports. */
export async function privateImports(options: {
  procedures: readonly Procedure[];
  cut: ReadonlyMap<string, CutModule>;
  modules: Modules;
  clients: readonly string[];
  pages: ReadonlySet<SourceModule>;
}): Promise<readonly Problem[]> {
  const { procedures, cut, modules } = options;
  const hidden = procedures.filter((one) => one.entries.every(({ entry }) => entry.access === "private"));
  if (hidden.length === 0) return [];
  const search = new Search(hidden, cut, modules);
  const warnings: Problem[] = [];
  const check = async (who: string, holders: readonly string[], start: readonly Step[]): Promise<void> => {
    for (const [procedure, chain] of await search.from(start))
      if (!procedure.entries.some(({ segment }) => holders.includes(segment.name)))
        warnings.push({
          file: chain[0] ?? procedure.module.name,
          message: `"${procedure.fqn}" is private to ${segmentsOf(procedure)}, but code of ${who} imports it: ${chain.join(" → ")}`,
          hint: "A call from there will be a ProcedureNotFound: name it in that segment too, or make it public or protected.",
        });
  };
  for (const [segment, held] of bySegment(procedures)) {
    const bodies = [...held].map(async ([module, exports]) => {
      // What the code of these procedures imports, that of their siblings left out.
      const body = modules.describePart(module, cut.get(module.file)?.bodyOf(exports));
      return { module, imports: await search.importsOf(module, body) };
    });
    await check(`segment "${segment}"`, [segment], await Promise.all(bodies));
  }
  const pages = [...options.pages].filter((module) => !cut.has(module.file));
  const loaded = pages.map(async (module) => ({ module, imports: await search.importsOf(module, modules.describe(module)) }));
  await check("pages", options.clients, await Promise.all(loaded));
  return warnings;
}

/** Segment → module → the exports that the segment holds. */
function bySegment(procedures: readonly Procedure[]): ReadonlyMap<string, ReadonlyMap<SourceModule, ReadonlySet<string>>> {
  const segments = new Map<string, Map<SourceModule, Set<string>>>();
  for (const { module, export: name, entries } of procedures)
    for (const { segment } of entries) {
      const held = segments.get(segment.name) ?? new Map<SourceModule, Set<string>>();
      segments.set(segment.name, held.set(module, (held.get(module) ?? new Set<string>()).add(name)));
    }
  return segments;
}

/** Walks from code to private procedures. What a piece of code imports is looked up once, however many segments lead to it. */
class Search {
  /** Module → its private procedures by their exports. */
  readonly #hidden = new Map<SourceModule, Map<string, Procedure>>();
  readonly #cut: ReadonlyMap<string, CutModule>;
  readonly #modules: Modules;
  readonly #imports = new Map<ModuleDescription, readonly ValueImport[]>();

  constructor(hidden: readonly Procedure[], cut: ReadonlyMap<string, CutModule>, modules: Modules) {
    for (const one of hidden)
      this.#hidden.set(one.module, (this.#hidden.get(one.module) ?? new Map<string, Procedure>()).set(one.export, one));
    this.#cut = cut;
    this.#modules = modules;
  }

  /** The private procedures that code imports, or what it imports does, each with the shortest chain of files. */
  async from(start: readonly Step[]): Promise<ReadonlyMap<Procedure, readonly string[]>> {
    const found = new Map<Procedure, readonly string[]>();
    const visited = new Set<SourceModule>();
    const queue = [...start];
    // A list hands out what is added while it is walked.
    for (const step of queue)
      for (const { target, hidden } of step.imports) {
        for (const procedure of hidden) if (!found.has(procedure)) found.set(procedure, [...chainOf(step), procedure.module.name]);
        if (visited.has(target)) continue;
        visited.add(target);
        // Behind a face stands its shared part, never a body.
        const parts = this.#cut.get(target.file)?.parts.server;
        const description = parts === undefined ? this.#modules.describe(target) : this.#modules.describePart(target, parts.shared);
        const imports = this.#imports.get(description) ?? (await this.importsOf(target, description));
        if (imports.length > 0) queue.push({ module: target, imports, from: step });
      }
    return found;
  }

  /** What a module, or a part of it, imports by value. */
  async importsOf(module: SourceModule, description: ModuleDescription): Promise<readonly ValueImport[]> {
    const known = this.#imports.get(description);
    if (known !== undefined) return known;
    const imports: ValueImport[] = [];
    for (const { module: target, typeOnly, names, passedOn } of await this.#modules.importsOf(module, description)) {
      if (typeOnly) continue;
      const hidden: Procedure[] = [];
      // Who passes a name on doesn't call it.
      for (const name of passedOn ? [] : names) {
        // Few modules pass on what others declare; of all the rest it is known here and now.
        const declared = this.#modules.declaredIn(target, name) ?? (await this.#modules.declaration(target, name));
        if (name === "*") hidden.push(...(this.#hidden.get(target)?.values() ?? []));
        else if (!("missing" in declared)) hidden.push(...this.#named(declared.module, declared.export.name));
      }
      imports.push({ target, hidden });
    }
    this.#imports.set(description, imports);
    return imports;
  }

  #named(module: SourceModule, name: string): readonly Procedure[] {
    const procedure = this.#hidden.get(module)?.get(name);
    return procedure === undefined ? [] : [procedure];
  }
}

function chainOf(step: Step): readonly string[] {
  return step.from === undefined ? [step.module.name] : [...chainOf(step.from), step.module.name];
}

function segmentsOf(procedure: Procedure): string {
  return procedure.entries.map(({ segment }) => `"${segment.name}"`).join(", ");
}
