// Follows the imports of the modules that nodes load, for a check: the application's modules and the bundled
// packages.

import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute, relative } from "node:path";

import type { Problem } from "../../src/base/problem.ts";
import { parseProblems } from "../../src/split/read/code-frame.ts";
import { isInside, slashed } from "../files/sources.ts";
import { valueImports } from "../compile/read/described-imports.ts";
import type { OpenApplication } from "./open-application.ts";
import { importedByCode } from "../compile/read/package-imports.ts";
import { isInstalled } from "../compile/read/package-of.ts";
import { unresolvedImport } from "../compile/rules/unresolved-imports.ts";

export interface ServerImports {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Bundled files of packages. */
  readonly packages: ReadonlySet<string>;
}

/** Imports on nodes that can't be resolved or bundled, and packages that can't be parsed. */
export async function serverImports(open: OpenApplication): Promise<ServerImports> {
  const { application, parse } = open;
  const { root, source, modules } = application;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const packages = new Set<string>();
  const follow = async (specifier: string, importer: string): Promise<void> => {
    if (isBuiltin(specifier) || /^(?:\/svc\/|seamline(?:\/|$)|[a-z]+:|\0)/.test(specifier)) return;
    const { file, problem } = await open.forNode(specifier, importer);
    if (problem !== undefined) problems.push(problem);
    if (file !== undefined) {
      if (isAbsolute(file) && !isInside(source, file)) packages.add(file.replace(/[?#].*$/, ""));
      return;
    }
    // Installed packages may have optional imports, and plugins may resolve more than Vite itself.
    if (isInstalled(importer) || (!/^\.{1,2}\//.test(specifier) && open.hasOtherResolvers)) return;
    const unresolved = unresolvedImport(specifier, importer, root, false);
    (unresolved.isWarning ? warnings : problems).push(unresolved.problem);
  };
  for (const module of application.serverModules) {
    const others: string[] = [];
    for (const specifier of new Set(valueImports(modules.outline(module))))
      if ((await modules.resolve(specifier, module.file)) === undefined) others.push(specifier);
    const kept = new Set(others.length === 0 ? [] : modules.valueImportsOf(module));
    for (const specifier of others.filter((other) => kept.has(other)))
      await follow(specifier, module.file);
  }
  // Iterating a set includes what is added meanwhile.
  for (const file of packages) {
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const text = readFileSync(file, "utf8");
    const { errors } = parse(file, text);
    if (!isInstalled(file))
      problems.push(
        ...parseProblems({ file: slashed(relative(root, file)), source: text }, errors),
      );
    for (const specifier of importedByCode(file, text, parse)) await follow(specifier, file);
  }
  problems.push(
    ...(await open.tsconfigProblems([...packages].filter((file) => !isInstalled(file)))),
  );
  return { problems, warnings, packages };
}
