// Finds parent classes whose source the build has: in the source folder, and in linked packages,
// which it bundles.

import { existsSync, statSync } from "node:fs";

import type { ClassDescription } from "../../../src/split/describe/describe.ts";
import { realPath } from "../../files/sources.ts";
import { declarationOf } from "./export-declarations.ts";
import { type Modules, type SourceModule, isModuleFile } from "./modules.ts";
import { isInstalled } from "./package-of.ts";

/**
 * The class that an import in `importer` (a file) leads to through re-exports; `undefined` if it
 * isn't one, or its source isn't part of the build.
 */
export async function importedClass(
  specifier: string,
  name: string,
  importer: string,
  modules: Modules,
): Promise<{ readonly module: SourceModule; readonly class: ClassDescription } | undefined> {
  const resolve = async (path: string, from: string): Promise<SourceModule | undefined> =>
    (await modules.resolve(path, from)) ?? (await linkedModule(path, from, modules));
  const start = await resolve(specifier, importer);
  if (start === undefined) return undefined;
  const declared = await declarationOf(modules, start, name, resolve);
  if ("missing" in declared) return undefined;
  const found = modules
    .describe(declared.module)
    .classes.find((description) => description.export === declared.export.name);
  return found && { module: declared.module, class: found };
}

/** A module outside the source folder that the build bundles. Installed packages aren't. */
async function linkedModule(
  specifier: string,
  importer: string,
  modules: Modules,
): Promise<SourceModule | undefined> {
  const path = await modules.fileOf(specifier, importer);
  const written = path?.replace(/\.(m?)js(x?)$/, ".$1ts$2");
  const endings = ["", ".ts", ".tsx", ".js", "/index.ts", "/index.js"].map(
    (ending) => `${path}${ending}`,
  );
  const found = [...endings, written ?? ""].find(
    (candidate) => existsSync(candidate) && statSync(candidate).isFile(),
  );
  if (path === undefined || found === undefined) return undefined;
  const file = realPath(found);
  return isModuleFile(file) && !isInstalled(file) ? { id: "", file, name: file } : undefined;
}
