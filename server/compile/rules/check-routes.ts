// All that is checked of routes once the application's modules and pages are known.

import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import type { ApplicationRoute } from "../cut/application-procedure.ts";
import type { CutModule } from "../cut/cut.ts";
import type { PageScript } from "../cut/hidden-exports.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import { publicFiles } from "./public-files.ts";
import { routeImports } from "./route-imports.ts";
import { placedProblems } from "./route-problems.ts";

export interface RouteChecks {
  readonly input: {
    readonly root: string;
    readonly pages: readonly string[];
    readonly publicDir?: string | undefined;
    readonly assetsDir?: string | undefined;
  };
  readonly cut: ReadonlyMap<string, CutModule>;
  readonly modules: Modules;
  readonly browserSegments: readonly string[];
  readonly served: ReadonlySet<string>;
  readonly scripts: readonly PageScript[];
  /** The modules of a build. */
  readonly among: ReadonlySet<SourceModule>;
}

/** Adds what is wrong with routes to `problems` and `warnings`. */
export async function checkRoutes(
  routes: readonly ApplicationRoute[],
  { input, browserSegments, served, ...checks }: RouteChecks,
  { problems, warnings }: { readonly problems: Problem[]; readonly warnings: Problem[] },
): Promise<void> {
  if (routes.length === 0) return;
  const placed = placedProblems(routes, {
    assetsDir: input.assetsDir ?? "",
    files: publicFiles(input),
    browserSegments,
    served,
  });
  const nameOf = (file: string): string => slashed(relative(input.root, file));
  problems.push(...placed.problems, ...(await routeImports(routes, { ...checks, nameOf })));
  warnings.push(...placed.warnings);
}
