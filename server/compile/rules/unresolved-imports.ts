// Imports that lead to no file.

import type { Problem } from "../../../src/base/problem.ts";
import { importProblem } from "../read/import-problem.ts";
import { hasPackage } from "../read/package-of.ts";

/**
 * The problem of an import that can't be resolved. A missing package is only a warning for nodes,
 * which may have it.
 */
export function unresolvedImport(
  source: string,
  importer: string,
  root: string,
  isBrowser: boolean,
): { readonly problem: Problem; readonly isWarning: boolean } {
  const tell = (message: string, hint: string): Problem =>
    importProblem(importer, source, root, message, hint);
  if (/^\.{1,2}\//.test(source))
    return {
      problem: tell(`"${source}" isn't a file`, "Check the file's name and folder."),
      isWarning: false,
    };
  if (hasPackage(source, importer.replace(/[?#].*$/, ""))) {
    const message = `the package "${source}" is installed, but has no file for this import`;
    return {
      problem: tell(message, 'Build the package, or check "exports" in its package.json.'),
      isWarning: false,
    };
  }
  const problem = tell(
    `the package "${source}" is not installed here`,
    "Install it, or remove the import.",
  );
  return { problem, isWarning: !isBrowser };
}
