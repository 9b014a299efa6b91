// A server's call of a procedure that only pages have. Pages can't be called, so it would be a ProcedureNotFound, each time; and nothing else
// says so, as the same import is right in a page.

import type { Problem } from "../../src/problem.ts";
import { problemAt } from "../../src/split/mark.ts";
import type { NameUse } from "../../src/split/uses.ts";
import type { CutModule } from "./cut.ts";
import { type Declared, Declarations, declaredKey } from "./declarations.ts";
import { ImportSearch, type Step } from "./import-search.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

export interface PageOnlyCall {
  readonly problem: Problem;
  /** The segments that have the procedure: where a server loads one of them all is well. */
  readonly segments: readonly string[];
  /** Pages run the same code, which may know where it is. */
  readonly isShared: boolean;
}

export interface PageOnlyOptions {
  readonly procedures: readonly Procedure[];
  readonly cut: ReadonlyMap<string, CutModule>;
  readonly modules: Modules;
  /** Segments that browsers may load. */
  readonly clients: readonly string[];
  /** Those among them that servers load, too. */
  readonly served: ReadonlySet<string>;
  /** Middleware and health checks. */
  readonly configured: readonly SourceModule[];
  readonly pages: ReadonlySet<SourceModule>;
}

/** The procedures that no server has. */
export function pageOnly({
  procedures,
  clients,
  served,
}: Pick<PageOnlyOptions, "procedures" | "clients" | "served">): readonly Procedure[] {
  return procedures.filter((one) =>
    one.entries.every(({ segment }) => clients.includes(segment.name) && !served.has(segment.name)),
  );
}

/** Each such call once. Code that pages run as well is told only where it calls: it may hand on what it has. */
export async function pageOnlyCalls(options: PageOnlyOptions): Promise<readonly PageOnlyCall[]> {
  const { procedures, modules, configured } = options;
  const sought = pageOnly(options);
  const onServers = procedures.filter((one) => !sought.includes(one));
  // Imports are known already, and in most applications they say that there is nothing to look for.
  if (sought.length === 0 || !(await mayReach(sought, onServers, options))) return [];
  const declarations = new Declarations(modules);
  const walk = new Walk(declarations, procedures);
  for (const one of onServers)
    await walk.from(
      declarations.behind(one.module, one.export),
      `"${one.fqn}" in ${segmentsOf(one)}`,
    );
  for (const module of configured)
    await walk.from(declarations.all(module), "a middleware or health check of a configuration");
  const found = walk.calls.filter(({ procedure }) => sought.includes(procedure));
  const shared = found.length === 0 ? new Set<string>() : await inPages(declarations, options);
  return found.flatMap(({ procedure, step, use }) => {
    const isShared = shared.has(declaredKey(step));
    if (isShared && !use.called) return [];
    return [
      {
        problem: problemOf(procedure, step, use, modules),
        segments: procedure.entries.map(({ segment }) => segment.name),
        isShared,
      },
    ];
  });
}

async function mayReach(
  sought: readonly Procedure[],
  onServers: readonly Procedure[],
  { cut, modules, configured }: PageOnlyOptions,
): Promise<boolean> {
  const search = new ImportSearch(sought, cut, modules);
  const held = new Map<SourceModule, Set<string>>();
  for (const { module, export: name } of onServers)
    held.set(module, (held.get(module) ?? new Set<string>()).add(name));
  const start: Step[] = [];
  for (const [module, exports] of held) {
    const body = modules.describePart(module, cut.get(module.file)?.bodyOf(exports));
    start.push({ module, imports: await search.importsOf(module, body) });
  }
  for (const module of configured)
    start.push({ module, imports: await search.importsOf(module, modules.describe(module)) });
  return (await search.from(start)).size > 0;
}

interface WalkStep extends Declared {
  readonly from?: WalkStep;
  /** Whose code it is. */
  readonly of: string;
}

interface Call {
  readonly procedure: Procedure;
  readonly step: WalkStep;
  readonly use: NameUse;
}

/** Goes from declaration to declaration, each once, up to procedures: a seam is as far as code of one machine leads. */
class Walk {
  readonly calls: Call[] = [];
  readonly #declarations: Declarations;
  readonly #procedures: ReadonlyMap<string, Procedure>;
  readonly #visited = new Set<string>();

  constructor(declarations: Declarations, procedures: readonly Procedure[]) {
    this.#declarations = declarations;
    this.#procedures = new Map(
      procedures.flatMap((one) =>
        declarations.behind(one.module, one.export).map((unit) => [declaredKey(unit), one]),
      ),
    );
  }

  get visited(): ReadonlySet<string> {
    return this.#visited;
  }

  async from(start: readonly Declared[], of: string): Promise<void> {
    const queue: WalkStep[] = start.map((one) => ({ ...one, of }));
    for (const step of queue) {
      if (this.#visited.has(declaredKey(step))) continue;
      this.#visited.add(declaredKey(step));
      for (const use of this.#declarations.uses(step)?.uses ?? [])
        for (const target of await this.#declarations.meant(step, use)) {
          const procedure = this.#procedures.get(declaredKey(target));
          if (procedure === undefined) queue.push({ ...target, of, from: step });
          else this.calls.push({ procedure, step, use });
        }
    }
  }
}

/** Declarations whose code pages run: those of their own modules, and what the procedures that they hold need. */
async function inPages(
  declarations: Declarations,
  { procedures, cut, clients, pages }: PageOnlyOptions,
): Promise<ReadonlySet<string>> {
  const walk = new Walk(declarations, procedures);
  for (const { module, export: name, entries } of procedures)
    if (entries.some(({ segment }) => clients.includes(segment.name)))
      await walk.from(declarations.behind(module, name), "");
  for (const module of pages) {
    const segmented = new Set(
      cut
        .get(module.file)
        ?.procedures.flatMap((one) => declarations.behind(module, one.export).map(declaredKey)),
    );
    const own = declarations.all(module).filter((one) => !segmented.has(declaredKey(one)));
    // Of a module that is cut pages get what its other exports need.
    const start = segmented.size === 0 ? own : own.filter((one) => declarations.isExported(one));
    await walk.from(start, "");
  }
  return walk.visited;
}

function problemOf(procedure: Procedure, step: WalkStep, use: NameUse, modules: Modules): Problem {
  const way = [...chainOf(step), procedure.module.name]
    .filter((name, at, all) => name !== all[at - 1])
    .join(" → ");
  const message = `${step.of} calls "${procedure.fqn}", which is only in ${segmentsOf(procedure)}, for browsers: ${way}`;
  const hint = `Servers can't call pages: the call fails with ProcedureNotFound. Return what the page needs, or name "${procedure.fqn}" in a segment that servers load.`;
  return problemAt(
    { file: step.module.name, source: modules.text(step.module.file) },
    use.start,
    message,
    hint,
  );
}

function chainOf({ from, module }: WalkStep): readonly string[] {
  return [...(from === undefined ? [] : chainOf(from)), module.name];
}

/** `"ui" (src/ui/ui.segment.json)`. */
function segmentsOf(procedure: Procedure): string {
  return procedure.entries
    .map(({ segment }) => `"${segment.name}" (${segment.file})`)
    .join(" and ");
}
