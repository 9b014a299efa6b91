// Modules that are symbolic links. Vite identifies a module by its real path, Seamline by the path
// that names it: such a module would exist twice, and Vite's copy wouldn't be split.

import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { isInside, slashed } from "../../files/sources.ts";
import { type ApplicationGraph, dynamicModules, splitModules } from "../cut/application.ts";
import type { SourceModule } from "../read/modules.ts";

/**
 * Refuses links among modules with procedures, and among modules that are loaded by name at run
 * time.
 */
export function linkedModules(graph: ApplicationGraph): readonly Problem[] {
  const found = new Map<SourceModule, Problem>();
  const look = (modules: Iterable<SourceModule>, why: string): void => {
    for (const module of modules)
      if (graph.modules.realPath(module) !== module.file && !found.has(module))
        found.set(module, problemOf(module, why, graph));
  };
  look(splitModules(graph), "it can't be split, so pages would get the source of its procedures");
  look(dynamicModules(graph), "nodes and pages don't find it, or its classes, under its name here");
  return [...found.values()];
}

function problemOf(
  module: SourceModule,
  why: string,
  { root, modules }: ApplicationGraph,
): Problem {
  const target = modules.realPath(module);
  const there = modules.byFile(target);
  const path = isInside(root, target) ? slashed(relative(root, target)) : target;
  return {
    file: module.name,
    message: `this file is a link to ${path}, and Vite knows it by that path: ${why}`,
    hint:
      there === undefined
        ? "Put the file itself here, or a module of your own that imports what it needs from there."
        : `Name "./${there.id}" in segment files and imports, or put the file itself here.`,
  };
}
