// Folder names that Vite can't work with: it writes modules as URLs, so `?` and `#` end a file's
// name.

import { type Problem, Problems } from "../../../src/base/problem.ts";
import type { Modules } from "../read/modules.ts";

const endOfName = /[?#]/;

/**
 * A problem if the application's path contains such characters. Pages would get unsplit sources
 * there, even those of servers.
 */
export function folderProblem(root: string): Problem | undefined {
  const [found] = endOfName.exec(root) ?? [];
  if (found === undefined) return undefined;
  return {
    file: root,
    message: `Vite can't read modules from a folder with "${found}" in its path: it reads that as the end of a file name`,
    hint: "Rename the folder, or move the application to another one.",
  };
}

/** Names of modules that Vite can't read, and pairs of files with the same module id. */
export function moduleNames(modules: Modules): readonly Problem[] {
  return [...unreadableNames(modules), ...twins(modules)];
}

function twins(modules: Modules): readonly Problem[] {
  return [...modules.all].flatMap(({ id, name, file }) => {
    const first = modules.get(id);
    if (first === undefined || first.file === file) return [];
    return [
      {
        file: name,
        message: `this file and ${first.name} are one module, "${id}": a module's name doesn't include the extension`,
        hint: "Rename or remove one of them.",
      },
    ];
  });
}

/** One problem for each folder or file below the application's that has such a name. */
function unreadableNames(modules: Modules): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const { name: module } of modules.all) {
    const [file, found = ""] = /^[^?#]*([?#])[^/]*/.exec(module) ?? [];
    if (file === undefined) continue;
    problems.set(file, {
      file,
      message: `Vite can't read modules with "${found}" in their path: it reads that as the end of a file name`,
      hint: file === module ? "Rename the file." : "Rename the folder.",
    });
  }
  return [...problems.values()];
}

/** Throws {@link Problems} where Vite can't work. */
export function refuseFolder(root: string): void {
  const problem = folderProblem(root);
  if (problem !== undefined) throw new Problems([problem]);
}
