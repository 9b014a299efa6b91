// Modules with classes that only pages import. The server's build has them too, so that nodes can
// rebuild what pages send. As they were written for pages, their problems on a server never fail a
// build.

import type { Environment } from "vite";

import type { Problem } from "../../../src/base/problem.ts";
import { environmentNames } from "../read/module-ids.ts";
import type { Application } from "../cut/application.ts";
import type { SourceModule } from "../read/modules.ts";

/**
 * Whether the importer is in the server's build for such classes only. If the import can't be
 * resolved, the module just fails to load.
 */
export function isForPages(
  environment: Environment,
  importer: string,
  { modules, pageModules, serverModules }: Application,
): boolean {
  const module =
    environment.name === environmentNames.server
      ? modules.byFile(importer.replace(/[?#].*$/, ""))
      : undefined;
  return module !== undefined && pageModules.has(module) && !serverModules.has(module);
}

/**
 * Builds the server with these modules and, if that fails, without them: a plugin may refuse to compile page
 * code for servers. A failure without them is the application's mistake.
 */
export async function withOrWithout(
  pageClasses: readonly SourceModule[],
  warnings: Problem[],
  build: (pageClasses: readonly SourceModule[]) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  if (pageClasses.length === 0) return await build([]);
  const before = warnings.length;
  const reason = await build(pageClasses).then(
    ([first]) => first && `${first.file}: ${first.message}`,
    firstLine,
  );
  if (reason === undefined) return [];
  // Both builds give the same warnings.
  warnings.length = before;
  const problems = await build([]);
  if (problems.length === 0)
    warnings.push({
      file: pageClasses
        .map((module) => module.name)
        .sort()
        .join(", "),
      message: `these modules, whose classes only pages import, can't be built for servers, so servers refuse their instances: ${reason}`,
      hint: "If servers need the classes, move them to modules that import nothing that is for pages only.",
    });
  return problems;
}

function firstLine(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).split("\n")[0] ?? "";
}
