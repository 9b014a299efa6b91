// Reports modules of Node that get into a page, with the chain of imports.

import { isBuiltin } from "node:module";
import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import { importProblem } from "../read/import-problem.ts";
import { isInstalled, packageOf } from "../read/package-of.ts";

/** An import of a module that only Node has. */
export interface NodeImport {
  readonly specifier: string;
  /** Module id. */
  readonly importer: string;
}

/**
 * Whether `specifier` is a module of Node without a replacement for browsers: Vite found only its
 * empty stand-in.
 */
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
  // A package that maps the module to `false` works without it in browsers.
  const browser = packageOf(cleanId(importer))?.json["browser"];
  const name = specifier.replace(/^node:/, "");
  return !(
    typeof browser === "object" &&
    browser !== null &&
    ((browser as Record<string, unknown>)[name] === false ||
      (browser as Record<string, unknown>)[specifier] === false)
  );
}

/**
 * One problem for each import in the application's own code, with the shortest chain from an entry.
 */
export function nodeImportProblems(
  found: readonly NodeImport[],
  root: string,
  importersOf: (id: string) => readonly string[],
): readonly Problem[] {
  const imports = new Map<
    string,
    { own: string; next: string; chain: readonly string[]; specifiers: Set<string> }
  >();
  // Sorted, because the bundler finds them in any order. The shortest chains come first.
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
    // One import may bring along many modules of Node; naming the first is enough.
    const entry = imports.get(`${own} ${next}`) ?? { own, next, chain, specifiers: new Set() };
    imports.set(`${own} ${next}`, { ...entry, specifiers: entry.specifiers.add(specifier) });
  }
  return [...imports.values()].map(({ own, next, chain, specifiers }) => {
    const [first = "", ...others] = specifiers;
    const names = [...new Set([...chain.map((id) => nameOf(id, root)), first])].join(" → ");
    const which =
      others.length === 0 ? `"${first}" exists` : `"${first}" and ${others.length} more exist`;
    const message = `${which} on Node only, but a browser would get ${others.length === 0 ? "it" : "them"}: ${names}`;
    return importProblem(own, next, root, message, next === "seamline" ? ownHint : hint);
  });
}

const hint =
  "Move the code that needs it into a procedure of a segment that browsers don't load, or out of what pages import; or name a replacement in Vite's resolve.alias.";
const ownHint =
  "Pages take 'seamline' and 'seamline/client'; 'seamline/server' and 'seamline/vite' are for Node.";

function shortest(id: string, importersOf: (id: string) => readonly string[]): readonly string[] {
  const paths: string[][] = [[id]];
  const seen = new Set([id]);
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    const importers = importersOf(path[0] as string);
    if (importers.length === 0) return path;
    for (const importer of [...importers].sort())
      if (!seen.has(importer)) {
        seen.add(importer);
        paths.push([importer, ...path]);
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
