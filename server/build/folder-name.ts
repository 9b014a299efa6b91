// Names of folders that Vite can't work in: it writes modules as addresses, and reads what follows `?` or `#` as no part of a file's name.

import { type Problem, Problems } from "../../src/problem.ts";

/** What is wrong with where an application lies. There pages would be sent sources as they are written, those of servers among them. */
export function folderProblem(root: string): Problem | undefined {
  const found = ["?", "#"].find((one) => root.includes(one));
  if (found === undefined) return undefined;
  return {
    file: root,
    message: `Vite can't read modules from a folder with "${found}" in its path: it takes that for the end of a file's name`,
    hint: "Rename the folder, or move the application to another one.",
  };
}

/** Throws {@link Problems} where Vite can't work. */
export function refuseFolder(root: string): void {
  const problem = folderProblem(root);
  if (problem !== undefined) throw new Problems([problem]);
}
