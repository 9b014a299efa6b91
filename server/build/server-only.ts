// What only runs on Node must not come along into a page (architecture §1): a build error with the way that it came.

import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";

import type { Problem } from "../../src/problem.ts";
import { slashed } from "../sources.ts";
import { importProblem } from "./import-problem.ts";

/** One import of a module that only Node has. */
export interface NodeImport {
  readonly specifier: string;
  /** Module id. */
  readonly importer: string;
}

/** Whether `specifier` names a module of Node itself, for which nothing stands in: Vite found only its empty replacement. */
export function isNodeOnly(specifier: string, importer: string, resolved: string | undefined): boolean {
  if (!isBuiltin(specifier) || (resolved !== undefined && !resolved.startsWith("__vite-browser-external"))) return false;
  // A package that maps the module to `false` for browsers works without it.
  const browser = packageOf(cleanId(importer))?.json["browser"];
  const name = specifier.replace(/^node:/, "");
  return !(
    typeof browser === "object" &&
    browser !== null &&
    ((browser as Record<string, unknown>)[name] === false || (browser as Record<string, unknown>)[specifier] === false)
  );
}

/** One problem for each, at the last import in the application's own code, with the shortest chain from a page or another entry. */
export function nodeImportProblems(
  found: readonly NodeImport[],
  root: string,
  importersOf: (id: string) => readonly string[],
): readonly Problem[] {
  return found.map(({ specifier, importer }) => {
    const chain = shortest(importer, importersOf);
    const names = [...new Set([...chain.map((id) => nameOf(id, root)), specifier])];
    const own = chain.findLast((id) => !isPackage(id) && !id.startsWith("\0")) ?? importer;
    const next = chain[chain.indexOf(own) + 1];
    const message = `"${specifier}" exists on Node only, but a browser would get it: ${names.join(" → ")}`;
    const hint =
      "Move what needs it into a procedure of a segment that browsers don't load, or out of what pages import; a stand-in can be named in Vite's resolve.alias.";
    return importProblem(own, next === undefined ? specifier : nameOf(next, root).replace(/^package /, ""), root, message, hint);
  });
}

function shortest(id: string, importersOf: (id: string) => readonly string[]): readonly string[] {
  const paths: string[][] = [[id]];
  const seen = new Set([id]);
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    const importers = importersOf(path[0] as string);
    if (importers.length === 0) return path;
    for (const one of [...importers].sort())
      if (!seen.has(one)) {
        seen.add(one);
        paths.push([one, ...path]);
      }
  }
  return [id];
}

function nameOf(id: string, root: string): string {
  const file = cleanId(id);
  const own = isPackage(id) ? packageOf(file) : undefined;
  return own === undefined ? slashed(relative(root, file)) : `package ${String(own.json["name"])}`;
}

function isPackage(id: string): boolean {
  return id.includes("/node_modules/");
}

function packageOf(file: string): { readonly json: Readonly<Record<string, unknown>> } | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (existsSync(path)) {
      const json = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
      if (json["name"] !== undefined) return { json };
    }
  }
  return undefined;
}

function cleanId(id: string): string {
  return id.replace(/[?#].*$/, "").replace(/^\0/, "");
}
