// The rules that every reading of an application applies, in a build and in development too. Each is
// a function of the graph, in a file with its message. `seamline check` applies more of them, for
// which it follows imports into packages: see server/report/check.ts.

import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import { browserSegments } from "./browser-segments.ts";
import { clientImports } from "./client-imports.ts";
import { moduleNames } from "./folder-name.ts";
import { guardsInBrowsers, missingGuards, uselessGuards } from "./guards.ts";
import { linkedModules } from "./links.ts";
import { privateImports } from "./private-imports.ts";
import { resumeWithoutStream, unreadEventIds } from "./resume.ts";
import { routeImports } from "./route-imports.ts";
import { routeEntries, routesInAssets, uselessRoutes } from "./routes.ts";
import { segmentEntries, uselessEntries } from "./segment-entries.ts";
import { sourceFolder } from "./source-folder.ts";
import { thenables } from "./thenables.ts";
import { unmatchedGlobs } from "./unmatched-globs.ts";
import { unreachedStarts } from "./unreached-starts.ts";
import { lostCode, unreadableModules } from "./unreadable-modules.ts";

type Rule = (graph: ApplicationGraph) => readonly Problem[] | Promise<readonly Problem[]>;

const mistakes: readonly Rule[] = [
  ({ modules }) => moduleNames(modules),
  sourceFolder,
  segmentEntries,
  resumeWithoutStream,
  routeEntries,
  missingGuards,
  guardsInBrowsers,
  clientImports,
  browserSegments,
  unreadableModules,
  linkedModules,
  thenables,
  routesInAssets,
  routeImports,
];

const doubts: readonly Rule[] = [
  uselessEntries,
  unreadEventIds,
  unmatchedGlobs,
  unreachedStarts,
  lostCode,
  uselessRoutes,
  uselessGuards,
];

/** Follow imports through the parts of modules, which are right only if nothing else is wrong. */
const doubtsOfParts: readonly Rule[] = [privateImports];

/** Applies them. `around` are problems outside of the sources, such as in tsconfig.json. */
export async function applyRules(
  graph: ApplicationGraph,
  around: readonly Problem[],
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }> {
  const problems = [...around];
  for (const rule of mistakes) problems.push(...(await rule(graph)));
  const warnings: Problem[] = [];
  for (const rule of problems.length === 0 ? [...doubts, ...doubtsOfParts] : doubts)
    warnings.push(...(await rule(graph)));
  return { problems, warnings };
}
