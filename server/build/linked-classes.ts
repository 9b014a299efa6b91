// Classes that a class extends, wherever the build has their sources: in the source folder, and in packages that links lead to, which it builds in.

import { existsSync, statSync } from "node:fs";

import type { ClassDescription } from "../../src/split/describe.ts";
import { realPath } from "../sources.ts";
import { type Modules, type SourceModule, isModuleFile } from "./modules.ts";
import { isInstalled } from "./package-of.ts";

/** Re-exports on the way to a class; circles end here. */
const mostSteps = 32;

/** The class that an import in `importer` (a file) leads to, after all re-exports; `undefined` where it is none, or its source is not the build's. */
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
  const found = classes.find((one) => one.export === name);
  if (found !== undefined) return { module, class: found };
  const known = exports.find((one) => one.name === name);
  if (known !== undefined)
    return (
      known.from &&
      (await importedClass(known.from.specifier, known.from.name, module.file, modules, steps + 1))
    );
  if (name === "default") return undefined;
  for (const star of starReexports) {
    const there = await importedClass(star, name, module.file, modules, steps + 1);
    if (there !== undefined) return there;
  }
  return undefined;
}

/** A module outside of the source folder that the build reads: what was installed stays where it is, and is nobody's to read. */
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
    (one) => existsSync(one) && statSync(one).isFile(),
  );
  if (path === undefined || found === undefined) return undefined;
  const file = realPath(found);
  return isModuleFile(file) && !isInstalled(file) ? { id: "", file, name: file } : undefined;
}
