// `seamline check`: all that can be said against an application without building it.

import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "../../src/ports.ts";
import { type Problem, Problems } from "../../src/problem.ts";
import { listFiles, realPath } from "../sources.ts";
import { unique } from "./application.ts";
import { type BrowserGraph, browserGraph, nodeProblems } from "./browser-graph.ts";
import { type BuildOptions, buildApplication } from "./build.ts";
import { classRecords } from "./classes.ts";
import {
  type ConfigurationFile,
  configurationProblems,
  findConfigurations,
} from "./configuration-files.ts";
import { folderProblem } from "./folder-name.ts";
import { isLeft, uncompiled } from "./future-syntax.ts";
import { type OpenApplication, openApplication } from "./open-application.ts";
import { missingExports } from "./missing-exports.ts";
import { writeModuleTypes } from "./module-types.ts";
import { unresolvedImport } from "./resolve.ts";
import { serverImports } from "./server-graph.ts";
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
  if (unfit !== undefined)
    return {
      problems: [unfit],
      warnings: [],
      modules: 0,
      procedures: 0,
      segments: [],
      configurations: [],
    };
  const files = await listFiles(root);
  const configurations = await findConfigurations({
    root,
    files,
    named: config === undefined ? [] : [config],
    env,
  });
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
    const found = await findings(open, { served: servedBy(configurations) });
    problems.push(...found.problems);
    warnings.push(...found.warnings);
    if (options.build === true && problems.length === 0)
      await dryBuild(settings, problems, warnings);
  }
  return {
    problems: unique(problems),
    warnings: unique(warnings),
    ...counted,
    configurations: configurations.map((one) => one.file),
  };
}

/** Segments that configurations have servers load: those too that were named, wherever they lie. */
function servedBy(configurations: readonly ConfigurationFile[]): ReadonlySet<string> {
  return new Set(
    configurations.flatMap(({ config }) =>
      config !== undefined && "segments" in config ? (config.segments ?? []) : [],
    ),
  );
}

/** What is wrong where modules meet each other, Node and the browser; for an application that can be cut. */
export async function findings(
  open: OpenApplication,
  { graph, served }: { readonly graph?: BrowserGraph; readonly served?: ReadonlySet<string> } = {},
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }> {
  const { application } = open;
  const { root } = application;
  const browser = graph ?? (await browserGraph(open));
  const problems = [
    ...browser.leaks,
    ...nodeProblems(browser, root),
    ...(await missingExports(open)),
  ];
  const warnings: Problem[] = [];
  for (const { problem, segments, isShared } of application.pageOnlyCalls)
    if (!segments.some((name) => served?.has(name) === true))
      (isShared ? warnings : problems).push(problem);
  for (const { specifier, importer } of browser.unresolved)
    if (/^\.{1,2}\//.test(specifier) || !open.hasOtherResolvers)
      problems.push(unresolvedImport(specifier, importer, root, true).problem);
  const onNodes = await serverImports(open);
  problems.push(...onNodes.problems);
  warnings.push(...onNodes.warnings);
  const loaded = [...new Set([...application.serverModules, ...application.reached])].sort(
    (one, other) => (one.file < other.file ? -1 : 1),
  );
  const inPages = [...browser.modules.values()]
    .filter((one) => one.kind === "code")
    .map((one) => one.id);
  const files = new Set([...loaded.map((module) => module.file), ...onNodes.packages, ...inPages]);
  for (const problem of await uncompiledIn(open, files))
    (open.hasOtherTransforms ? warnings : problems).push(problem);
  warnings.push(
    ...(await classRecords(loaded, application.modules)).warnings,
    ...(await splitState(application)),
  );
  return { problems, warnings };
}

/** Decorators and `accessor` fields that Vite's compiler leaves as they are. */
async function uncompiledIn(
  { application, compile, parse }: OpenApplication,
  files: Iterable<string>,
): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  for (const file of files) {
    const problem = uncompiled(file, application, parse);
    if (problem !== undefined && isLeft(await compile(file, application.modules.text(file)), parse))
      found.push(problem);
  }
  return found;
}

/** One reading for each way in which configurations would have the application built; the defaults where none says. */
function settingsOf(
  configurations: readonly ConfigurationFile[],
  { root, log }: CheckOptions,
): readonly BuildOptions[] {
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

async function dryBuild(
  settings: BuildOptions,
  problems: Problem[],
  warnings: Problem[],
): Promise<void> {
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
