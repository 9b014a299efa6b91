// Modules that can't be parsed or split.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Syntax errors in the modules that pages and servers load, and why modules can't be split. */
export function unreadableModules({
  cut,
  modules,
  pageModules,
  serverModules,
}: ApplicationGraph): readonly Problem[] {
  return [
    ...partsIn(cut).flatMap(({ problems }) => problems),
    ...[...pageModules, ...serverModules].flatMap((module) => modules.outline(module).problems),
  ];
}

/** Warns of code that is in no part of a module, or not in the browser's. */
export function lostCode({ cut }: Pick<ApplicationGraph, "cut">): readonly Problem[] {
  return partsIn(cut).flatMap(({ warnings }) => warnings);
}

function partsIn(
  cut: ApplicationGraph["cut"],
): readonly { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }[] {
  return [...cut.values()].flatMap(({ parts }) => Object.values(parts));
}
