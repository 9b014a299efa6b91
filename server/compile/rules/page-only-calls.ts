// Finds calls on servers of procedures that only pages have. Pages can't be called, so each fails
// with ProcedureNotFound. Nothing else reports them, as the same import is right in a page.

import type { Problem } from "../../../src/base/problem.ts";
import type { NameUse } from "../../../src/split/describe/uses.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import type { ApplicationGraph, PageOnlyCall } from "../cut/application.ts";
import { type ApplicationProcedure, isRoute } from "../cut/application-procedure.ts";
import { isPageOnly } from "../cut/closed-procedures.ts";
import { ImportSearch, type Step } from "../cut/import-search.ts";
import { type Declared, Declarations, declaredKey } from "../read/declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/** Each such call once. In code that pages run too only calls count, not other mentions. */
export async function pageOnlyCalls(graph: ApplicationGraph): Promise<readonly PageOnlyCall[]> {
  const { named, modules, configured } = graph;
  const sought = new Set(
    named.filter((procedure) => !isRoute(procedure) && isPageOnly(procedure, graph)),
  );
  const onServers = named.filter((procedure) => !sought.has(procedure));
  // Cheap, as imports are known already: most applications end here.
  if (sought.size === 0 || !(await mayReach([...sought], onServers, graph))) return [];
  const declarations = new Declarations(modules);
  const walk = new Walk(declarations, named);
  for (const procedure of onServers)
    await walk.from(
      declarations.behind(procedure.module, procedure.export),
      `"${procedure.fqn}" in ${segmentsOf(procedure)}`,
    );
  for (const module of configured)
    await walk.from(declarations.all(module), "a middleware or health check of a configuration");
  const found = walk.calls.filter(({ procedure }) => sought.has(procedure));
  const shared = found.length === 0 ? new Set<string>() : await inPages(declarations, graph);
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
  sought: readonly ApplicationProcedure[],
  onServers: readonly ApplicationProcedure[],
  graph: ApplicationGraph,
): Promise<boolean> {
  const { cut, modules, configured } = graph;
  const search = new ImportSearch(sought, graph);
  const held = new Map<SourceModule, Set<string>>();
  for (const { module, export: name } of onServers)
    held.set(module, (held.get(module) ?? new Set<string>()).add(name));
  const whole = async (module: SourceModule): Promise<Step> => ({
    module,
    imports: await search.importsIn(module.file, modules.describe(module)),
  });
  // What whole modules import is known. Only if that leads there, their bodies are parsed, or if a
  // body may call a procedure of its own module.
  const all = await Promise.all([...held.keys(), ...configured].map(whole));
  const isBeside = sought.some(({ module }) => held.has(module));
  if (!isBeside && (await search.from(all)).size === 0) return false;
  const start = all.slice(held.size);
  for (const [module, exports] of held) {
    const body = modules.describePart(module, cut.get(module.file)?.bodyOf(exports));
    start.push({ module, imports: await search.importsIn(module.file, body) });
  }
  return (await search.from(start)).size > 0;
}

interface WalkStep extends Declared {
  readonly from?: WalkStep;
  /** The procedure or module whose code it is. */
  readonly of: string;
}

interface Call {
  readonly procedure: ApplicationProcedure;
  readonly step: WalkStep;
  readonly use: NameUse;
}

/** Follows declarations, each once, up to procedures: behind a seam the code may run elsewhere. */
class Walk {
  readonly calls: Call[] = [];
  readonly #declarations: Declarations;
  readonly #procedures: ReadonlyMap<string, ApplicationProcedure>;
  readonly #visited = new Set<string>();

  constructor(declarations: Declarations, procedures: readonly ApplicationProcedure[]) {
    this.#declarations = declarations;
    this.#procedures = new Map(
      procedures.flatMap((procedure) =>
        declarations
          .behind(procedure.module, procedure.export)
          .map((unit) => [declaredKey(unit), procedure]),
      ),
    );
  }

  get visited(): ReadonlySet<string> {
    return this.#visited;
  }

  async from(start: readonly Declared[], of: string): Promise<void> {
    const queue: WalkStep[] = start.map((declared) => ({ ...declared, of }));
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

/**
 * Declarations that pages run: those of their modules, and what the procedures that they hold need.
 */
async function inPages(
  declarations: Declarations,
  { named, cut, browserSegments, pageModules }: ApplicationGraph,
): Promise<ReadonlySet<string>> {
  const walk = new Walk(declarations, named);
  for (const { module, export: name, entries } of named)
    if (entries.some(({ segment }) => browserSegments.includes(segment.name)))
      await walk.from(declarations.behind(module, name), "");
  for (const module of pageModules) {
    const segmented = new Set(
      cut
        .get(module.file)
        ?.procedures.flatMap((procedure) =>
          declarations.behind(module, procedure.export).map(declaredKey),
        ),
    );
    const own = declarations
      .all(module)
      .filter((declared) => !segmented.has(declaredKey(declared)));
    // Of a split module, pages get what its other exports need.
    const start =
      segmented.size === 0 ? own : own.filter((declared) => declarations.isExported(declared));
    await walk.from(start, "");
  }
  return walk.visited;
}

function problemOf(
  procedure: ApplicationProcedure,
  step: WalkStep,
  use: NameUse,
  modules: Modules,
): Problem {
  const chain = [...chainOf(step), procedure.module.name]
    .filter((name, at, all) => name !== all[at - 1])
    .join(" → ");
  const message = `${step.of} calls "${procedure.fqn}", which is only in ${segmentsOf(procedure)}, for browsers: ${chain}`;
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
function segmentsOf(procedure: ApplicationProcedure): string {
  return procedure.entries
    .map(({ segment }) => `"${segment.name}" (${segment.file})`)
    .join(" and ");
}
