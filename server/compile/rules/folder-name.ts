// Folder names that Vite can't work with: it writes modules as URLs, so `?` and `#` end a file's
// name.

import { type Problem, Problems } from "../../../src/base/problem.ts";

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

/** One problem for each folder or file below the application's that has such a name. */
export function nameProblems(modules: readonly string[]): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const module of modules) {
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
