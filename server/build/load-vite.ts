// Vite is the application's own (a peer): a build runs with the version that the application installed.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Parse } from "../../src/split/split-module.ts";

export type Vite = typeof import("vite");

/** Vite as the application folder resolves it; throws an error that says what to install. */
export async function loadVite(root: string): Promise<Vite> {
  let path: string;
  try {
    path = createRequire(join(root, "package.json")).resolve("vite");
  } catch {
    try {
      // A workspace may keep Vite beside Seamline only.
      return await import("vite");
    } catch (cause) {
      throw new Error(`A build needs Vite, and ${root} has none: npm install --save-dev vite`, { cause });
    }
  }
  return (await import(pathToFileURL(path).href)) as Vite;
}

/** Vite's parser in the shape that the splitter wants: the file's extension says whether there are types and JSX. */
export function parserOf(vite: Vite): Parse {
  return (file, source) => {
    const { program, comments, errors } = vite.parseSync(file, source);
    return { program, comments, errors };
  };
}
