// Where the server's build draws the line between what it holds and what a node resolves itself.

import { existsSync } from "node:fs";
import { dirname, extname, isAbsolute, join } from "node:path";

import type { Rolldown } from "vite";

import { isInside } from "../sources.ts";
import type { Build } from "./build-run.ts";
import { importProblem } from "./import-problem.ts";

/** Bare imports stay imports: a node resolves them from the application. What an alias leads to inside of it is bundled. */
export function resolveForNode(
  source: string,
  importer: string,
  found: Rolldown.ResolvedId | null,
  sourceFolder: string,
): Rolldown.PartialResolvedId | Rolldown.ResolvedId | null {
  const external = { id: source, external: true, moduleSideEffects: true };
  if (found === null || found.external !== false) return external;
  const file = found.id.replace(/[?#].*$/, "");
  if (!isAbsolute(file) || isInside(sourceFolder, file)) return found;
  // Style sheets and images of a package are nothing that Node could import.
  if (!/\.(?:[cm]?[jt]sx?|json|node|wasm)$/.test(file) && extname(file) !== "") return found;
  return file.includes("/node_modules/") || isLinked(source, importer) ? external : found;
}

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
  (isOwn || isBrowser ? build.mistakes : build.warnings).push(problem);
  return { id: source, external: true };
}

/** Whether a package of a workspace is meant: it lies elsewhere, but under its name in some `node_modules`. */
function isLinked(source: string, importer: string): boolean {
  const name = source.split("/", source.startsWith("@") ? 2 : 1).join("/");
  for (let folder = dirname(importer); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "node_modules", name))) return true;
  return false;
}

/** How the bundler is to read a part, whose id has a query behind the extension. */
export function languageOf(file: string): "js" | "jsx" | "ts" | "tsx" {
  if (file.endsWith(".tsx")) return "tsx";
  if (file.endsWith(".jsx")) return "jsx";
  return /\.m?ts$/.test(file) ? "ts" : "js";
}
