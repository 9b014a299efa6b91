// Refuses modules that export `then`. `import()` resolves with the module, so its promise would
// adopt the state of that `then`, and wait forever. The runtime imports bodies, classes and
// configured modules this way; Vite's runner does so with all modules of a node.

import type { Problem } from "../../../src/base/problem.ts";
import { thenable } from "../../../src/split/procedures/export-problems.ts";
import { frameOf } from "../../../src/split/read/code-frame.ts";
import { type ApplicationGraph, dynamicModules } from "../cut/application.ts";

const isThen = ({ name }: { readonly name: string }): boolean => name === "then";

/** Checks modules that servers load, and others that are imported dynamically. */
export async function thenables(graph: ApplicationGraph): Promise<readonly Problem[]> {
  const { modules } = graph;
  const problems: Problem[] = [];
  const reached = new Set([...graph.serverModules, ...dynamicModules(graph)]);
  // Iterating a set includes items that are added meanwhile.
  for (const module of reached) {
    const { exports, starReexports } = modules.outline(module);
    const found = exports.some(isThen) ? modules.describe(module).exports.find(isThen) : undefined;
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
