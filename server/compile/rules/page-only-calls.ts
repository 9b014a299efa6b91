// Finds calls on servers of procedures that only pages have. Pages can't be called, so each fails
// with ProcedureNotFound. Nothing else reports them, as the same import is right in a page.

import type { Problem } from "../../../src/base/problem.ts";
import { noCode } from "../../../src/split/describe/describe-part.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import type { ApplicationGraph, PageOnlyCall } from "../cut/application.ts";
import { type ApplicationProcedure, byModule, isRoute } from "../cut/application-procedure.ts";
import { isPageOnly } from "../cut/closed-procedures.ts";
import { ImportSearch, type Step } from "../cut/import-search.ts";
import { type Declared, Declarations, type Mention, declaredKey } from "../read/declarations.ts";
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
  const procedures = declarations.byKey(named);
  const visited = new Set<string>();
  const calls: (Mention & { readonly procedure: ApplicationProcedure; readonly of: string })[] = [];
  const follow = async (start: readonly Declared[], of: string): Promise<void> => {
    await declarations.follow(start, visited, (mention) => {
      const procedure = procedures.get(declaredKey(mention.target));
      if (procedure === undefined) return true;
      // Behind a seam the code may run elsewhere.
      if (sought.has(procedure)) calls.push({ ...mention, procedure, of });
      return false;
    });
  };
  for (const procedure of onServers)
    await follow(
      declarations.behind(procedure.module, procedure.export),
      `"${procedure.fqn}" in ${segmentsOf(procedure)}`,
    );
  for (const module of configured)
    await follow(declarations.all(module), "a middleware or health check of a configuration");
  const shared = calls.length === 0 ? new Set<string>() : await inPages(declarations, graph);
  return calls.flatMap((call) => {
    const isShared = shared.has(declaredKey(call.step));
    if (isShared && !call.use.called) return [];
    return [
      {
        problem: problemOf(call, modules),
        segments: call.procedure.entries.map(({ segment }) => segment.name),
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
  const held = byModule(onServers);
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
    const body = cut.get(module.file)?.bodyOf(exports)?.description ?? noCode;
    start.push({ module, imports: await search.importsIn(module.file, body) });
  }
  return (await search.from(start)).size > 0;
}

/**
 * Declarations that pages run: those of their modules, and those that the procedures in pages need.
 */
async function inPages(
  declarations: Declarations,
  { named, cut, browserSegments, pageModules }: ApplicationGraph,
): Promise<ReadonlySet<string>> {
  const procedures = declarations.byKey(named);
  const visited = new Set<string>();
  const follow = async (start: readonly Declared[]): Promise<void> => {
    await declarations.follow(start, visited, ({ target }) => !procedures.has(declaredKey(target)));
  };
  for (const { module, export: name, entries } of named)
    if (entries.some(({ segment }) => browserSegments.includes(segment.name)))
      await follow(declarations.behind(module, name));
  for (const module of pageModules) {
    const own = declarations
      .all(module)
      .filter((declared) => procedures.get(declaredKey(declared)) === undefined);
    // Of a split module, pages get the code that its other exports need.
    await follow(
      cut.has(module.file) ? own.filter((declared) => declarations.isExported(declared)) : own,
    );
  }
  return visited;
}

function problemOf(
  { procedure, step, use, of }: Mention & { procedure: ApplicationProcedure; of: string },
  modules: Modules,
): Problem {
  const chain = [...chainOf(step), procedure.module.name]
    .filter((name, at, all) => name !== all[at - 1])
    .join(" → ");
  const message = `${of} calls "${procedure.fqn}", which is only in ${segmentsOf(procedure)}, for browsers: ${chain}`;
  const hint = `Servers can't call pages: the call fails with ProcedureNotFound. Return what the page needs, or name "${procedure.fqn}" in a segment that servers load.`;
  return problemAt(
    { file: step.module.name, source: modules.text(step.module.file) },
    use.start,
    message,
    hint,
  );
}

function chainOf({ from, module }: Mention["step"]): readonly string[] {
  return [...(from === undefined ? [] : chainOf(from)), module.name];
}

/** `"ui" (src/ui/ui.segment.json)`. */
function segmentsOf(procedure: ApplicationProcedure): string {
  return procedure.entries
    .map(({ segment }) => `"${segment.name}" (${segment.file})`)
    .join(" and ");
}
