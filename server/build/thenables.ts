// Modules that export `then`. The promise that `import()` gives is resolved with the module, and a promise that is resolved with something that
// has a `then` waits for what that does. The runtime imports bodies, classes and configured modules so; Vite's runner, all modules of a node.

import type { Problem } from "../../src/problem.ts";
import { thenable } from "../../src/split/callable.ts";
import { frameOf } from "../../src/split/mark.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** Refuses them among modules that servers load, and others that are imported dynamically. */
export async function thenables(
  among: Iterable<SourceModule>,
  modules: Modules,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const reached = new Set(among);
  // A set hands out what is added while it is walked.
  for (const module of reached) {
    const { exports, starReexports } = modules.describe(module);
    const found = exports.find((one) => one.name === "then");
    if (found !== undefined) {
      const { line, column } = found;
      problems.push({
        file: module.name,
        line,
        column,
        ...thenable,
        frame: frameOf(modules.text(module.file), line, column),
      });
    }
    for (const specifier of starReexports) {
      const target = await modules.resolve(specifier, module.file);
      if (target !== undefined) reached.add(target);
    }
  }
  return problems;
}
