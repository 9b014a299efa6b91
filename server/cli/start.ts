// `seamline start`: the service that a configuration names, until it is told to stop.

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModuleNamespace } from "../../src/ports.ts";
import { startServer } from "../start-server.ts";
import type { StartOptions } from "./program.ts";

/** Resolves when the service answers; it stops on SIGTERM and SIGINT. */
export async function start(options: StartOptions): Promise<void> {
  const root = resolve(options.root);
  // A stack trace in the log leads to the application's TypeScript, not to what was made of it.
  process.setSourceMapsEnabled(true);
  await startServer(applicationImporter(root), {
    root,
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.build === undefined ? {} : { build: options.build }),
  });
}

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
