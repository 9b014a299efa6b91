// Modules that are symbolic links. Vite identifies a module by its real path, Seamline by the path
// that names it: such a module would exist twice, and Vite's copy wouldn't be split.

import { lstatSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import type { FileMemory } from "../read/file-memory.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

export interface Linked {
  readonly problems: readonly Problem[];
  /** Targets of links to modules with procedures. Vite would serve these to pages. */
  readonly sources: ReadonlySet<string>;
}

interface Folders {
  readonly root: string;
  readonly source: string;
}

/**
 * Refuses links among modules with procedures, and among modules that are loaded by name at run
 * time.
 */
export function linkedModules(
  {
    withProcedures,
    others,
  }: { withProcedures: Iterable<SourceModule>; others: Iterable<SourceModule> },
  { root, modules, memory }: Pick<Folders, "root"> & { modules: Modules; memory: FileMemory },
): Linked {
  const found = new Map<SourceModule, Problem>();
  const sources = new Set<string>();
  const look = (module: SourceModule, why: string): void => {
    const target = memory.of(module.file, "link", () => realPath(module.file));
    if (target === module.file) return;
    const there = modules.byFile(target);
    const path = isInside(root, target) ? slashed(relative(root, target)) : target;
    if (!found.has(module))
      found.set(module, {
        file: module.name,
        message: `this file is a link to ${path}, and Vite knows it by that path: ${why}`,
        hint:
          there === undefined
            ? "Put the file itself here, or a module of your own that imports what it needs from there."
            : `Name "./${there.id}" in segment files and imports, or put the file itself here.`,
      });
    sources.add(target);
  };
  for (const module of withProcedures)
    look(module, "it can't be split, so pages would get the source of its procedures");
  const kept = new Set(sources);
  for (const module of others)
    look(module, "nodes and pages don't find it, or its classes, under its name here");
  return { problems: [...found.values()], sources: kept };
}

/**
 * The last symbolic link in a path that a segment file names, and the path to name instead, if
 * there is one.
 */
export function linkOnTheWay(
  key: string,
  { root, source }: Folders,
): { readonly link: string; readonly instead: string | undefined } | undefined {
  for (let path = dirname(resolve(source, key)); isInside(source, path); path = dirname(path)) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const instead = resolve(realPath(path), relative(path, resolve(source, key)));
    return {
      link: slashed(relative(root, path)),
      instead: isInside(source, instead) ? `./${slashed(relative(source, instead))}` : undefined,
    };
  }
  return undefined;
}
