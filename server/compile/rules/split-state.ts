// Finds module state that would be split across machines: something at the top of a module that
// code of several segments uses and changes. Each node with one of these segments has a copy.

import type { Problem } from "../../../src/base/problem.ts";
import type { UnitUses } from "../../../src/split/describe/uses.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import { type ApplicationProcedure, bySegment } from "../cut/application-procedure.ts";
import { type Declared, Declarations, declaredKey } from "../read/declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

interface Use {
  readonly module: SourceModule;
  readonly state: UnitUses;
  readonly users: Set<string>;
  readonly changers: Set<string>;
}

/** One warning for each such binding. Code that can't be read is skipped. */
export async function splitState({
  modules,
  named,
}: Pick<ApplicationGraph, "modules" | "named">): Promise<readonly Problem[]> {
  const declarations = new Declarations(modules);
  const procedures = declarations.byKey(named);
  const found = new Map<string, Use>();
  const note = (target: Declared, segment: string, changes: boolean): void => {
    const state = declarations.uses(target);
    if (state?.state === undefined) return;
    const key = declaredKey(target);
    const use = found.get(key) ?? {
      module: target.module,
      state,
      users: new Set(),
      changers: new Set(),
    };
    found.set(key, use);
    use.users.add(segment);
    if (changes) use.changers.add(segment);
  };
  const segments = bySegment(named);
  const leading = await modules.leadingTo(await inSeveral(segments.values(), modules));
  for (const [segment, own] of segments) {
    const start = own
      .filter(({ module }) => leading.has(module))
      .flatMap(({ module, export: name }) => declarations.behind(module, name));
    await declarations.follow(start, new Set(), ({ step, use, target }) => {
      if (!leading.has(target.module)) return false;
      note(target, segment, declarations.uses(step)?.changes.includes(use.name) === true);
      // Using a procedure means calling its seam.
      return !procedures.has(declaredKey(target));
    });
  }
  return [...found.values()]
    .filter(({ users, changers }) => users.size > 1 && changers.size > 0)
    .map(({ module, state, users, changers }) => {
      const names = state.names.map((name) => `"${name}"`).join(", ");
      const changing =
        changers.size === users.size
          ? "use and change it"
          : `use it, and ${listed(changers)} changes it`;
      return {
        file: module.name,
        ...state.state,
        message: `${names} is state of this module, and procedures of ${listed(users)} ${changing}: each node has its own`,
        hint: "Keep it in one segment, whose procedures the others call; or outside, in a database.",
      };
    });
}

/** The modules that the code of several segments may load: no other has state that they share. */
async function inSeveral(
  segments: Iterable<readonly ApplicationProcedure[]>,
  modules: Modules,
): Promise<ReadonlySet<SourceModule>> {
  const seen = new Set<SourceModule>();
  const shared = new Set<SourceModule>();
  for (const own of segments) {
    const reached = new Set(own.map(({ module }) => module));
    // Iterating a set includes items that are added meanwhile.
    for (const module of reached) {
      if (seen.has(module)) shared.add(module);
      for (const edge of await modules.importsOf(module))
        if (!edge.typeOnly) reached.add(edge.module);
    }
    for (const module of reached) seen.add(module);
  }
  return shared;
}

function listed(segments: ReadonlySet<string>): string {
  return [...segments]
    .sort()
    .map((name) => `"${name}"`)
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
}
