// `client.import("…")` of something that isn't a module.

import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Refuses paths that lead to no module of the source folder. */
export function clientImports({
  demands,
  modules,
}: Pick<ApplicationGraph, "demands" | "modules">): readonly Problem[] {
  return demands.unknown.map(({ path, file }) => {
    const near = nearest(
      path.replace(/\.\w+$/, ""),
      [...modules.ids].map((id) => `./${id}`),
    );
    return {
      file,
      message: `client.import("${path}") doesn't name a module of the source folder`,
      ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
    };
  });
}
