// Finds calls on servers of procedures that only pages have. Pages can't be called, so each fails
// with ProcedureNotFound. Nothing else reports them, as the same import is right in a page.

import type { Problem } from "../../../src/base/problem.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import type { ApplicationGraph, PageOnlyCall } from "../cut/application.ts";
import { type ApplicationProcedure, isRoute } from "../cut/application-procedure.ts";
import { isPageOnly } from "../cut/closed-procedures.ts";
import { type Declared, Declarations, type Mention, declaredKey } from "../read/declarations.ts";
import type { Modules } from "../read/modules.ts";

/** Each such call once. In code that pages run too only calls count, not other mentions. */
export async function pageOnlyCalls(graph: ApplicationGraph): Promise<readonly PageOnlyCall[]> {
  const { named, modules, configured } = graph;
  const sought = new Set(
    named.filter((procedure) => !isRoute(procedure) && isPageOnly(procedure, graph)),
  );
  const onServers = named.filter((procedure) => !sought.has(procedure));
  if (sought.size === 0) return [];
  const declarations = new Declarations(modules);
  const procedures = declarations.byKey(named);
  const leading = await modules.leadingTo([...sought].map(({ module }) => module));
  const visited = new Set<string>();
  const calls: (Mention & { readonly procedure: ApplicationProcedure; readonly of: string })[] = [];
  const follow = async (start: readonly Declared[], of: string): Promise<void> => {
    await declarations.follow(start, visited, (mention) => {
      const procedure = procedures.get(declaredKey(mention.target));
      if (procedure === undefined) return leading.has(mention.target.module);
      // Behind a seam the code may run elsewhere.
      if (sought.has(procedure)) calls.push({ ...mention, procedure, of });
      return false;
    });
  };
  for (const procedure of onServers.filter(({ module }) => leading.has(module)))
    await follow(
      declarations.behind(procedure.module, procedure.export),
      `"${procedure.fqn}" in ${segmentsOf(procedure)}`,
    );
  for (const module of configured.filter((each) => leading.has(each)))
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
