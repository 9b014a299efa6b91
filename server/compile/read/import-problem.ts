// Problems at imports: the bundler knows the module, people need the line.

import { readFileSync } from "node:fs";
import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { positionOf, problemAt } from "../../../src/split/read/code-frame.ts";
import { slashed } from "../../files/sources.ts";

/** A problem at the import of `specifier` in a module. Parts have the lines of their module. */
export function importProblem(
  id: string,
  specifier: string,
  root: string,
  message: string,
  hint: string,
): Problem {
  const path = id.replace(/[?#].*$/, "");
  const file = slashed(relative(root, path));
  const source = readFileSync(path, "utf8");
  const at = offsetOf(source, specifier);
  return at === undefined
    ? { file, message, hint }
    : problemAt({ file, source }, at, message, hint);
}

/** Line and column of the import of `specifier` in a source. */
export function placeOfImport(
  source: string,
  specifier: string,
): { readonly line: number; readonly column: number } | undefined {
  const at = offsetOf(source, specifier);
  return at === undefined ? undefined : positionOf(source, at);
}

function offsetOf(source: string, specifier: string): number | undefined {
  return ['"', "'", "`"]
    .map((quote) => source.indexOf(quote + specifier))
    .find((offset) => offset >= 0);
}
