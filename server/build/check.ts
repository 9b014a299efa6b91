// `seamline check`: all that can be said against an application without building it.

import { rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";

import type { Log } from "../../src/ports.ts";
import { type Problem, Problems } from "../../src/problem.ts";
import { listFiles, realPath } from "../sources.ts";
import { unique } from "./application.ts";
import { type BrowserGraph, browserGraph, nodeProblems, valueImports } from "./browser-graph.ts";
import { type BuildOptions, buildApplication } from "./build.ts";
import { classRecords } from "./classes.ts";
import { type ConfigurationFile, configurationProblems, findConfigurations } from "./configuration-files.ts";
import { folderProblem } from "./folder-name.ts";
import { importProblem } from "./import-problem.ts";
import { type OpenApplication, openApplication } from "./open-application.ts";
import { missingExports } from "./missing-exports.ts";
import { writeModuleTypes } from "./module-types.ts";
import { splitState } from "./split-state.ts";

export interface CheckOptions {
  /** The application folder. */
  readonly root: string;
  /** A configuration to look at besides those that are found. */
  readonly config?: string | undefined;
  /** Runs a build as well, whose output is thrown away. */
  readonly build?: boolean | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export interface Checked {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly modules: number;
  readonly procedures: number;
  readonly segments: readonly string[];
  readonly configurations: readonly string[];
}

/** Looks at every segment file, configuration and module of an application. */
export async function checkApplication(options: CheckOptions): Promise<Checked> {
  const { env, config } = options;
  const root = realPath(options.root);
  const unfit = folderProblem(root);
  if (unfit !== undefined) return { problems: [unfit], warnings: [], modules: 0, procedures: 0, segments: [], configurations: [] };
  const files = await listFiles(root);
  const configurations = await findConfigurations({ root, files, named: config === undefined ? [] : [config], env });
  const problems: Problem[] = configurations.flatMap((one) => one.problems);
  const warnings: Problem[] = configurations.flatMap((one) => one.warnings);
  const counted = { modules: 0, procedures: 0, segments: [] as readonly string[] };
  for (const settings of settingsOf(configurations, { ...options, root })) {
    const open = await openApplication(settings);
    const { application } = open;
    problems.push(...application.problems);
    warnings.push(...application.warnings);
    problems.push(...configurations.flatMap((one) => configurationProblems(one, application)));
    counted.modules = [...application.modules.ids].length;
    counted.procedures = application.procedures.length;
    counted.segments = application.segments.map((one) => one.file);
    // What is cut wrong would be followed to where it doesn't go.
    if (application.problems.length > 0) continue;
    // The compiler, which comes after this in most lists of checks, reads them.
    await writeModuleTypes(application);
    const found = await findings(open);
    problems.push(...found.problems);
    warnings.push(...found.warnings);
    if (options.build === true && problems.length === 0) await dryBuild(settings, problems, warnings);
  }
  return {
    problems: unique(problems),
    warnings: unique(warnings),
    ...counted,
    configurations: configurations.map((one) => one.file),
  };
}

/** What is wrong where modules meet each other, Node and the browser; for an application that can be cut. */
export async function findings(
  open: OpenApplication,
  graph?: BrowserGraph,
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }> {
  const { application, parse } = open;
  const { root } = application;
  const browser = graph ?? (await browserGraph(open));
  const problems = [...browser.leaks, ...nodeProblems(browser, root), ...(await missingExports(open))];
  const warnings: Problem[] = [];
  const tell = (side: "browser" | "server", specifier: string, importer: string): void => {
    const isOwn = /^\.{1,2}\//.test(specifier);
    if (!isOwn && open.hasOtherResolvers) return;
    const message = isOwn ? `"${specifier}" is no file` : `the package "${specifier}" is not installed here`;
    const hint = isOwn ? "Look at its name and its folder." : "Install it, or take the import out.";
    (isOwn || side === "browser" ? problems : warnings).push(importProblem(importer, specifier, root, message, hint));
  };
  for (const { specifier, importer } of browser.unresolved) tell("browser", specifier, importer);
  for (const { file, specifier } of await unresolvedOnNodes(open)) tell("server", specifier, file);
  const withClasses = [...new Set([...application.serverModules, ...application.reached])].sort((one, other) =>
    one.file < other.file ? -1 : 1,
  );
  warnings.push(...(await classRecords(withClasses, application.modules)).warnings, ...(await splitState(application, parse)));
  return { problems, warnings };
}

async function unresolvedOnNodes({ application, resolve: find }: OpenApplication): Promise<readonly { file: string; specifier: string }[]> {
  const { modules, serverModules } = application;
  const found: { file: string; specifier: string }[] = [];
  for (const module of serverModules)
    for (const specifier of new Set(valueImports(modules.describe(module)))) {
      if (isBuiltin(specifier) || /^(?:\/svc\/|seamline(?:\/|$)|[a-z]+:|\0)/.test(specifier)) continue;
      if ((await modules.resolve(specifier, module.file)) !== undefined) continue;
      if ((await find("server", specifier, module.file)) === undefined) found.push({ file: module.file, specifier });
    }
  return found;
}

/** One reading for each way in which configurations would have the application built; the defaults where none says. */
function settingsOf(configurations: readonly ConfigurationFile[], { root, log }: CheckOptions): readonly BuildOptions[] {
  const settings = new Map<string, BuildOptions>();
  for (const { config } of configurations) {
    if (config === undefined || !("source" in config)) continue;
    const { source, output, index, clients, clientModules } = config;
    settings.set(JSON.stringify([source, output, index, clients, clientModules]), {
      root,
      source,
      output,
      index,
      clients,
      clientModules,
      log,
    });
  }
  return settings.size > 0 ? [...settings.values()] : [{ root, log }];
}

async function dryBuild(settings: BuildOptions, problems: Problem[], warnings: Problem[]): Promise<void> {
  const output = join(settings.root, "node_modules/.cache/seamline", `check-${process.pid}`);
  const silent: Log = { ...settings.log, info: () => {}, warn: () => {} };
  try {
    const built = await buildApplication({ ...settings, output, log: silent });
    warnings.push(...built.warnings);
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    problems.push(...error.problems);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
