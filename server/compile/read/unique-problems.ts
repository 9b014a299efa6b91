// Sorts problems by file and line, each once.

import { type Problem, formatProblem } from "../../../src/base/problem.ts";

/** Removes duplicates, as several places may find one problem. */
export function uniqueProblems(problems: readonly Problem[]): readonly Problem[] {
  const files = new Map(
    [...new Set(problems.map((problem) => problem.file))].map((file, at) => [file, at]),
  );
  // Imports are resolved concurrently, so problems are found in a different order each time.
  const inOrder = (a: Problem, b: Problem): number =>
    (files.get(a.file) ?? 0) - (files.get(b.file) ?? 0) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0);
  return [
    ...new Map(problems.map((problem) => [formatProblem(problem), problem])).values(),
  ].toSorted(inOrder);
}
