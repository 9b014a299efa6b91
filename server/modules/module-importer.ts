// Imports modules on behalf of the application: a package's name means the application's copy.

import { writeFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { makeFolder, writing } from "../base/write-failure.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import { parsedUrl } from "../../src/base/url.ts";

/** Imports a module by its file URL or package name, as a module of the application would. */
export type ModuleImporter = (specifier: string) => Promise<ModuleNamespace>;

/**
 * Resolves paths (`./mod.js`) from the application folder, and packages as the application would.
 */
export function applicationImporter(root: string): ModuleImporter {
  let importHere: Promise<ModuleImporter> | undefined;
  return async (specifier) => {
    if (isAbsolute(specifier) || /^\.{1,2}\//.test(specifier))
      return (await import(pathToFileURL(resolve(root, specifier)).href)) as ModuleNamespace;
    if (parsedUrl(specifier) !== undefined) return (await import(specifier)) as ModuleNamespace;
    importHere ??= writeImporter(root);
    return await (
      await importHere
    )(specifier);
  };
}

// Node resolves a package from the file that imports it, so that file has to be in the application.
async function writeImporter(root: string): Promise<ModuleImporter> {
  const folder = join(root, "node_modules/.cache/seamline");
  const file = join(folder, "importer.mjs");
  await writing(file, `name modules by their paths, as in "./middleware.js"`, async () => {
    await makeFolder(folder);
    await writeFile(file, "export const importHere = (specifier) => import(specifier);\n");
  });
  const { importHere } = (await import(pathToFileURL(file).href)) as {
    importHere: ModuleImporter;
  };
  return importHere;
}
