// Finds parent classes whose source the build has: in the source folder, and in linked packages,
// which it bundles.

import { existsSync, statSync } from "node:fs";

import type { ClassDescription } from "../../../src/split/describe/describe.ts";
import { realPath } from "../../files/sources.ts";
import { type Modules, type SourceModule, isModuleFile } from "./modules.ts";
import { isInstalled } from "./package-of.ts";

/** Limits re-exports on the way to a class, so that circles end. */
const mostSteps = 32;

/**
 * The class that an import in `importer` (a file) leads to through re-exports; `undefined` if it
 * isn't one, or its source isn't part of the build.
 */
export async function importedClass(
  specifier: string,
  name: string,
  importer: string,
  modules: Modules,
  steps = 0,
): Promise<{ readonly module: SourceModule; readonly class: ClassDescription } | undefined> {
  const module =
    (await modules.resolve(specifier, importer)) ??
    (await linkedModule(specifier, importer, modules));
  if (module === undefined || steps > mostSteps) return undefined;
  const { classes, exports, starReexports } = modules.describe(module);
  const found = classes.find((description) => description.export === name);
  if (found !== undefined) return { module, class: found };
  const exported = exports.find((candidate) => candidate.name === name);
  if (exported !== undefined)
    return (
      exported.from &&
      (await importedClass(
        exported.from.specifier,
        exported.from.name,
        module.file,
        modules,
        steps + 1,
      ))
    );
  if (name === "default") return undefined;
  for (const star of starReexports) {
    const there = await importedClass(star, name, module.file, modules, steps + 1);
    if (there !== undefined) return there;
  }
  return undefined;
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
