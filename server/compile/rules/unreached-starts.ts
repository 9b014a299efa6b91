// Calls of `startClient` in modules that no page loads. They don't count: a forgotten module or a
// test that names a segment must not publish its code.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Warns of them, which says why a segment is missing in pages. */
export function unreachedStarts({
  modules,
  pageModules,
  configuredSegments,
}: ApplicationGraph): readonly Problem[] {
  if (configuredSegments !== undefined) return [];
  return [...modules.all]
    .filter((module) => !pageModules.has(module) && !/\.(?:test|spec)$/.test(module.id))
    .filter(
      (module) =>
        modules.memory.of(module.file, "mentions startClient", () =>
          modules.text(module.file).includes("startClient"),
        ) && modules.outline(module).startClientCalls.length > 0,
    )
    .map((module) => ({
      file: module.name,
      message:
        "startClient is called here, but no page loads this module, so browsers don't get the segments that it names",
      hint: 'Load it from a page, or list the segments in "browserSegments".',
    }));
}
