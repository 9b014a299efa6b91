// Globs in `browserModules` that match nothing.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Warns of them. */
export function unmatchedGlobs({
  unmatchedGlobs: globs,
}: Pick<ApplicationGraph, "unmatchedGlobs">): readonly Problem[] {
  return globs.map((glob) => ({
    file: "browserModules",
    message: `"${glob}" matches no module of the source folder`,
  }));
}
