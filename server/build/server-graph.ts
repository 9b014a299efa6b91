// What nodes get, as a graph: the application's modules, and the packages that become a part of the build. For a check, which builds nothing.

import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute, relative } from "node:path";

import type { Problem } from "../../src/problem.ts";
import { parseProblems } from "../../src/split/mark.ts";
import { isInside, slashed } from "../sources.ts";
import { valueImports } from "./browser-graph.ts";
import type { OpenApplication } from "./open-application.ts";
import { importedByCode } from "./package-imports.ts";
import { isInstalled } from "./package-of.ts";
import { unresolvedImport } from "./resolve.ts";

export interface ServerImports {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Files of packages that become a part of the build. */
  readonly packages: ReadonlySet<string>;
}

/** Imports on nodes that lead nowhere or to what can't be built, and packages that can't be read. */
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
    // What was installed may ask for what it can do without; and plugins may know names that Vite's own resolver doesn't.
    if (isInstalled(importer) || (!/^\.{1,2}\//.test(specifier) && open.hasOtherResolvers)) return;
    const unresolved = unresolvedImport(specifier, importer, root, false);
    (unresolved.isWarning ? warnings : problems).push(unresolved.problem);
  };
  for (const module of application.serverModules)
    for (const specifier of new Set(valueImports(modules.describe(module))))
      if ((await modules.resolve(specifier, module.file)) === undefined)
        await follow(specifier, module.file);
  // A set hands out what is added while it is walked.
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
