// Files beside server modules, for a check: the warnings that a build would print.

import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";

import type { Problem } from "../../src/base/problem.ts";
import { isCommonJs, isInstalled } from "../compile/read/package-of.ts";
import { importedByCode } from "../compile/read/package-imports.ts";
import { filesBeside } from "../compile/plugin/addresses-beside.ts";
import { importsProcedures } from "../compile/write/files-beside.ts";
import type { OpenApplication } from "./open-application.ts";

/** `packages` are the bundled files of packages. */
export async function besideWarnings(
  open: OpenApplication,
  packages: ReadonlySet<string>,
): Promise<readonly Problem[]> {
  const { application, parse } = open;
  const { root, modules, cut } = application;
  const warnings: Problem[] = [];
  const starts = new Map<Problem, string>();
  const loaded = [...application.serverModules].map((module) => module.file);
  const files = new Set([...loaded, ...[...packages].filter((file) => !isInstalled(file))]);
  // Iterating a set includes what is added meanwhile.
  for (const file of files) {
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const code = readFileSync(file, "utf8");
    const beside = filesBeside({ code, file, isCommonJs: isCommonJs(file) }, root, parse);
    warnings.push(...beside.warnings);
    for (const { file: target, isCode, started } of beside.found) {
      if (started !== undefined) starts.set(started, target);
      if (!isCode && !isCommonJs(target)) continue;
      files.add(target);
      if (isCode) for (const imported of await reachedBy(target, open)) files.add(imported);
    }
  }
  for (const [problem, started] of starts) {
    const face = (await reachedBy(started, open)).find((file) => cut.has(file));
    if (face !== undefined)
      warnings.push(importsProcedures(problem, modules.byFile(face)?.name ?? face));
  }
  return warnings;
}

/** A file, and those that it imports: only of a module with procedures not what that imports. */
async function reachedBy(
  start: string,
  { application: { cut, modules }, forNode, parse }: OpenApplication,
): Promise<readonly string[]> {
  const reached = new Set([start]);
  for (const file of reached) {
    if (cut.has(file) || !/\.[cm]?[jt]sx?$/.test(file)) continue;
    for (const specifier of importedByCode(file, readFileSync(file, "utf8"), parse)) {
      const imported =
        (await modules.resolve(specifier, file))?.file ?? (await forNode(specifier, file)).file;
      if (imported !== undefined && isAbsolute(imported) && !isInstalled(imported))
        reached.add(imported.replace(/[?#].*$/, ""));
    }
  }
  return [...reached];
}
