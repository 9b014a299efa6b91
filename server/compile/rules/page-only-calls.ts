// Finds calls on servers of procedures that only pages have. Pages can't be called, so each fails
// with ProcedureNotFound. Nothing else reports them, as the same import is right in a page.

import type { Problem } from "../../../src/base/problem.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import type { NameUse } from "../../../src/split/describe/uses.ts";
import type { CutModule } from "../cut/cut.ts";
import { type Declared, Declarations, declaredKey } from "../read/declarations.ts";
import { ImportSearch, type Step } from "../cut/import-search.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import { type ApplicationProcedure, isRoute } from "../cut/application-procedure.ts";

export interface PageOnlyCall {
  readonly problem: Problem;
  /** The segments that have the procedure. If a server loads one of them, the call is fine. */
  readonly segments: readonly string[];
  /** Pages run the same code too, which may check where it runs. */
  readonly isShared: boolean;
}

export interface PageOnlyOptions {
  readonly procedures: readonly ApplicationProcedure[];
  readonly cut: ReadonlyMap<string, CutModule>;
  readonly modules: Modules;
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  /** The segments among them that servers load too. */
  readonly served: ReadonlySet<string>;
  /** Middleware and health checks. */
  readonly configured: readonly SourceModule[];
  readonly pages: ReadonlySet<SourceModule>;
}

/** The procedures that no server has. */
export function pageOnly({
  procedures,
  browserSegments,
  served,
}: Pick<
  PageOnlyOptions,
  "procedures" | "browserSegments" | "served"
>): readonly ApplicationProcedure[] {
  return procedures.filter(
    (procedure) =>
      !isRoute(procedure) &&
      procedure.entries.every(
        ({ segment }) => browserSegments.includes(segment.name) && !served.has(segment.name),
      ),
  );
}

/** Each such call once. In code that pages run too only calls count, not other mentions. */
export async function pageOnlyCalls(options: PageOnlyOptions): Promise<readonly PageOnlyCall[]> {
  const { procedures, modules, configured } = options;
  const sought = new Set(pageOnly(options));
  const onServers = procedures.filter((procedure) => !sought.has(procedure));
  // Cheap, as imports are known already: most applications end here.
  if (sought.size === 0 || !(await mayReach([...sought], onServers, options))) return [];
  const declarations = new Declarations(modules);
  const walk = new Walk(declarations, procedures);
  for (const procedure of onServers)
    await walk.from(
      declarations.behind(procedure.module, procedure.export),
      `"${procedure.fqn}" in ${segmentsOf(procedure)}`,
    );
  for (const module of configured)
    await walk.from(declarations.all(module), "a middleware or health check of a configuration");
  const found = walk.calls.filter(({ procedure }) => sought.has(procedure));
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
  sought: readonly ApplicationProcedure[],
  onServers: readonly ApplicationProcedure[],
  { cut, modules, configured }: PageOnlyOptions,
): Promise<boolean> {
  const search = new ImportSearch(sought, cut, modules);
  const held = new Map<SourceModule, Set<string>>();
  for (const { module, export: name } of onServers)
    held.set(module, (held.get(module) ?? new Set<string>()).add(name));
  const whole = async (module: SourceModule): Promise<Step> => ({
    module,
    imports: await search.importsOf(module, modules.describe(module)),
  });
  // What whole modules import is known. Only if that leads there, their bodies are parsed, or if a
  // body may call a procedure of its own module.
  const all = await Promise.all([...held.keys(), ...configured].map(whole));
  const isBeside = sought.some(({ module }) => held.has(module));
  if (!isBeside && (await search.from(all)).size === 0) return false;
  const start = all.slice(held.size);
  for (const [module, exports] of held) {
    const body = modules.describePart(module, cut.get(module.file)?.bodyOf(exports));
    start.push({ module, imports: await search.importsOf(module, body) });
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
  { procedures, cut, browserSegments, pages }: PageOnlyOptions,
): Promise<ReadonlySet<string>> {
  const walk = new Walk(declarations, procedures);
  for (const { module, export: name, entries } of procedures)
    if (entries.some(({ segment }) => browserSegments.includes(segment.name)))
      await walk.from(declarations.behind(module, name), "");
  for (const module of pages) {
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
