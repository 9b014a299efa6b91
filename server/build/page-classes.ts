// Modules with classes that only pages import. The server's build has them as well, so that nodes can rebuild what pages send; but they were
// written for pages, so nothing that is wrong with them on a server may fail a build.

import type { Environment } from "vite";

import type { Problem } from "../../src/problem.ts";
import { environmentNames } from "./environments.ts";
import type { Application } from "./application.ts";
import type { SourceModule } from "./modules.ts";

/** Whether an import in the server's build is made by a module that only pages need: where it leads nowhere, the module fails when it is loaded. */
export function isForPages(
  environment: Environment,
  importer: string,
  { modules, serverModules }: Application,
): boolean {
  const module =
    environment.name === environmentNames.server
      ? modules.byFile(importer.replace(/[?#].*$/, ""))
      : undefined;
  return module !== undefined && !serverModules.has(module);
}

/**
 * Runs a build of the server with these modules, and where that fails, without them: a plugin may refuse to compile for servers what is for pages.
 * What is wrong without them too is the application's own mistake.
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
  // Both builds warn of the same.
  warnings.length = before;
  const problems = await build([]);
  if (problems.length === 0)
    warnings.push({
      file: pageClasses
        .map((one) => one.name)
        .sort()
        .join(", "),
      message: `these modules, whose classes only pages import, can't be built for servers, which refuse their instances: ${reason}`,
      hint: "If servers need the classes, move them to modules that import nothing that is for pages only.",
    });
  return problems;
}

function firstLine(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).split("\n")[0] ?? "";
}
