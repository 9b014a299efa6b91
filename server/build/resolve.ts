// Where the server's build draws the line between what it holds and what a node resolves itself.

import { isBuiltin } from "node:module";
import { isAbsolute, join } from "node:path";

import type { Rolldown } from "vite";

import type { Build } from "./build-run.ts";
import { importProblem } from "./import-problem.ts";

/** Where an import leads in the build of the server, as Vite alone sees it: the path of a file, or a name that no file has. */
export type FindFile = (specifier: string, importer: string) => Promise<string | undefined>;

export interface NodeImporter {
  /** The application folder: nodes find packages from there. */
  readonly root: string;
  /** What the configuration names as external. */
  readonly external: true | readonly string[];
  readonly find: FindFile;
}

/**
 * What stays an import, for Node to resolve from the application folder. Vite decides as it does for SSR: packages in `node_modules` that Node can run
 * do, unless the configuration takes them in; packages that links lead to, and those in TypeScript, are a part of the build.
 */
export async function resolveForNode(
  source: string,
  importer: string,
  found: Rolldown.ResolvedId | null,
  { root, external, find }: NodeImporter,
): Promise<Rolldown.PartialResolvedId | null> {
  // Bundled, contexts and the brands of errors would exist twice, also where it is a package of the same workspace.
  if (found === null || /^seamline(?:\/|$)/.test(source) || isForNode.test(found.id))
    return { id: source, external: true, moduleSideEffects: true };
  if (found.external === false) return found;
  const isNamed = external === true || external.some((name) => source === name || source.startsWith(`${name}/`));
  if (isNamed || isBuiltin(source)) return { ...found, moduleSideEffects: true };
  // A dependency of a package that only this one has, or in another version, Node wouldn't find, or not this one.
  const [here, fromRoot] = await Promise.all([find(source, importer), find(source, join(root, "package.json"))]);
  return here !== undefined && isAbsolute(here) && here !== fromRoot
    ? { id: here, moduleSideEffects: true }
    : { ...found, moduleSideEffects: true };
}

/** Nothing that a bundler could take in. */
const isForNode = /\.(?:node|wasm)$/;

/**
 * An import of the application's own that leads nowhere. The bundler would stop at the first; so it is told all is well, and all of
 * them are told at the end. A package that a node may have, though this machine hasn't, is a warning.
 */
export function reportUnresolved(source: string, importer: string, build: Build, isBrowser: boolean): Rolldown.PartialResolvedId {
  const isOwn = /^\.{1,2}\//.test(source);
  const message = isOwn ? `"${source}" is no file` : `the package "${source}" is not installed here`;
  const problem = importProblem(
    importer,
    source,
    build.root,
    message,
    isOwn ? "Look at its name and its folder." : "Install it, or take the import out.",
  );
  (isOwn || isBrowser ? build.unresolved : build.warnings).push(problem);
  return { id: source, external: true };
}

/** How the bundler is to read a part, whose id has a query behind the extension. */
export function languageOf(file: string): "js" | "jsx" | "ts" | "tsx" {
  if (file.endsWith(".tsx")) return "tsx";
  if (file.endsWith(".jsx")) return "jsx";
  return /\.m?ts$/.test(file) ? "ts" : "js";
}
