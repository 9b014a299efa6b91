// What only runs on Node must not come along into a page (architecture §1): a build error with the way that it came.

import { isBuiltin } from "node:module";
import { relative } from "node:path";

import type { Problem } from "../../src/problem.ts";
import { slashed } from "../sources.ts";
import { importProblem } from "./import-problem.ts";
import { isInstalled, packageOf } from "./package-of.ts";

/** One import of a module that only Node has. */
export interface NodeImport {
  readonly specifier: string;
  /** Module id. */
  readonly importer: string;
}

/** Whether `specifier` names a module of Node itself, for which nothing stands in: Vite found only its empty replacement. */
export function isNodeOnly(
  specifier: string,
  importer: string,
  resolved: string | undefined,
): boolean {
  if (
    !isBuiltin(specifier) ||
    (resolved !== undefined && !resolved.startsWith("__vite-browser-external"))
  )
    return false;
  // A package that maps the module to `false` for browsers works without it.
  const browser = packageOf(cleanId(importer))?.json["browser"];
  const name = specifier.replace(/^node:/, "");
  return !(
    typeof browser === "object" &&
    browser !== null &&
    ((browser as Record<string, unknown>)[name] === false ||
      (browser as Record<string, unknown>)[specifier] === false)
  );
}

/** One problem for each import in the application's own code, with the shortest chain from a page or another entry. */
export function nodeImportProblems(
  found: readonly NodeImport[],
  root: string,
  importersOf: (id: string) => readonly string[],
): readonly Problem[] {
  const ways = new Map<
    string,
    { own: string; next: string; chain: readonly string[]; specifiers: Set<string> }
  >();
  // The bundler finds them in any order; people are told the same each time, and the nearest way first.
  const chains = found.map(({ specifier, importer }) => ({
    specifier,
    importer,
    chain: shortest(importer, importersOf),
  }));
  chains.sort((a, b) => a.chain.length - b.chain.length || (a.specifier < b.specifier ? -1 : 1));
  for (const { specifier, importer, chain } of chains) {
    const own = chain.findLast((id) => !isInstalled(id) && !id.startsWith("\0")) ?? importer;
    const after = chain[chain.indexOf(own) + 1];
    const next = after === undefined ? specifier : nameOf(after, root).replace(/^package /, "");
    // A package may need many modules of Node: the first says enough, as all of them come along with that one import.
    const way = ways.get(`${own} ${next}`) ?? { own, next, chain, specifiers: new Set() };
    ways.set(`${own} ${next}`, { ...way, specifiers: way.specifiers.add(specifier) });
  }
  return [...ways.values()].map(({ own, next, chain, specifiers }) => {
    const [first = "", ...others] = specifiers;
    const names = [...new Set([...chain.map((id) => nameOf(id, root)), first])].join(" → ");
    const which =
      others.length === 0 ? `"${first}" exists` : `"${first}" and ${others.length} more exist`;
    const message = `${which} on Node only, but a browser would get ${others.length === 0 ? "it" : "them"}: ${names}`;
    return importProblem(own, next, root, message, next === "seamline" ? ownHint : hint);
  });
}

const hint =
  "Move what needs it into a procedure of a segment that browsers don't load, or out of what pages import; a stand-in can be named in Vite's resolve.alias.";
const ownHint =
  "Pages take 'seamline' and 'seamline/client'; 'seamline/server' and 'seamline/vite' are for Node.";

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
  const own = isInstalled(id) ? packageOf(file) : undefined;
  return own === undefined ? slashed(relative(root, file)) : `package ${String(own.json["name"])}`;
}

function cleanId(id: string): string {
  return id.replace(/[?#].*$/, "").replace(/^\0/, "");
}
