// What a module threw while it was loaded, as a problem with its place: the same form as a mistake in the source.

import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

import { type Problem, Problems } from "../../src/problem.ts";
import { frameOf } from "../../src/split/mark.ts";
import { bundlerProblems } from "../build/problems.ts";
import { isInside, slashed } from "../sources.ts";

/** `where` says what could not be loaded. */
export function loadProblems(thrown: unknown, root: string, where: string): readonly Problem[] {
  if (thrown instanceof Problems) return thrown.problems;
  const { problems, id, loc } = (thrown ?? {}) as { problems?: readonly Problem[]; id?: string; loc?: object };
  // A message between runner and server carries what an error holds, but not its class.
  if (Array.isArray(problems)) return problems;
  if (id !== undefined || loc !== undefined) return bundlerProblems(thrown, root);
  const place = placeOf(thrown, root);
  const message = `${where}: ${thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)}`;
  return [{ file: place?.file ?? ".", message, ...place }];
}

/** The file that went between its being listed and its being read: one change more, and no end of the session. Else it throws again. */
export function goneFile(thrown: unknown): string {
  const { code, path } = thrown as NodeJS.ErrnoException;
  if (code !== "ENOENT" || path === undefined) throw thrown;
  return path;
}

/** The first line of the stack that is the application's own. */
function placeOf(thrown: unknown, root: string): Pick<Problem, "file" | "line" | "column" | "frame"> | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  for (const [, url = "", line = "", column = ""] of stack.matchAll(/(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()\s]+?):(\d+):(\d+)\)?$/gm)) {
    const file = (url.startsWith("file:") ? fileURLToPath(url) : url).replace(/\?.*$/, "");
    if (!isInside(root, file) || file.includes("/node_modules/") || !existsSync(file)) continue;
    const place = { line: Number(line), column: Number(column) };
    return { file: slashed(relative(root, file)), ...place, frame: frameOf(readFileSync(file, "utf8"), place.line, place.column) };
  }
  return undefined;
}
