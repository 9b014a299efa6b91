// Importing as a module of the application would, from a file of ours.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModuleNamespace } from "../src/ports.ts";

type Importer = (specifier: string) => Promise<ModuleNamespace>;

/** Imports as a module of the application would (§4.6): a package's name means the application's own copy. */
export function applicationImporter(root: string): Importer {
  let ofApplication: Promise<Importer> | undefined;
  return async (specifier) => {
    if (URL.canParse(specifier)) return (await import(specifier)) as ModuleNamespace;
    return await (
      await (ofApplication ??= importerIn(root))
    )(specifier);
  };
}

// Node resolves a package from the file that imports it, so there has to be one in the application folder.
async function importerIn(root: string): Promise<Importer> {
  const folder = join(root, "node_modules/.cache/seamline");
  const file = join(folder, "importer.mjs");
  await mkdir(folder, { recursive: true });
  await writeFile(file, "export const importHere = (specifier) => import(specifier);\n");
  const { importHere } = (await import(pathToFileURL(file).href)) as { importHere: Importer };
  return importHere;
}
