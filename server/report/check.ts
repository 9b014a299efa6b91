// `seamline check`: finds everything that can be found without building.

import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "../../src/base/ports.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import { buildSettings } from "../config/build-settings.ts";
import { listFiles, realPath } from "../files/sources.ts";
import { uniqueProblems } from "../compile/read/unique-problems.ts";
import { type BrowserGraph, browserGraph, nodeProblems } from "../compile/rules/browser-graph.ts";
import { type BuildOptions, buildApplication } from "../vite/build.ts";
import { classRecords } from "../compile/cut/classes.ts";
import {
  type ConfigurationFile,
  configurationProblems,
  findConfigurations,
} from "./configuration-files.ts";
import { folderProblem } from "../compile/rules/folder-name.ts";
import { isLeft, uncompiled } from "../compile/rules/future-syntax.ts";
import { type OpenApplication, openApplication } from "./open-application.ts";
import { missingExports } from "../compile/rules/missing-exports.ts";
import { clashProblems, contractOf } from "../compile/write/contract.ts";
import { type Compared, compareWith, type EarlierBuild } from "./earlier-build.ts";
import { writeModuleTypes } from "../compile/write/module-types.ts";
import { unresolvedImport } from "../compile/rules/unresolved-imports.ts";
import { serverImports } from "./server-graph.ts";
import { besideWarnings } from "./beside-warnings.ts";
import { uncheckedArguments } from "./unchecked.ts";
import { splitState } from "../compile/rules/split-state.ts";

export interface CheckOptions {
  /** The application folder. */
  readonly root: string;
  /** A configuration to check in addition to those that are found. */
  readonly config?: string | undefined;
  /** Runs a build too, and discards its output. */
  readonly build?: boolean | undefined;
  /** A build whose callers have to get on with this application. */
  readonly against?: EarlierBuild | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export interface Checked {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly modules: number;
  readonly procedures: number;
  readonly routes: number;
  /** Procedures with arguments of callers from outside that aren't checked. */
  readonly unchecked: number;
  /** The changes since an earlier build, if there is one to compare with. */
  readonly changes?: Compared["counts"];
  readonly segments: readonly string[];
  readonly configurations: readonly string[];
}

/** Checks every segment file, configuration and module of an application. */
export async function checkApplication(options: CheckOptions): Promise<Checked> {
  const { env, config } = options;
  const root = realPath(options.root);
  const problem = folderProblem(root);
  if (problem !== undefined)
    return {
      problems: [problem],
      warnings: [],
      modules: 0,
      procedures: 0,
      routes: 0,
      unchecked: 0,
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
  const problems: Problem[] = configurations.flatMap((configuration) => configuration.problems);
  const warnings: Problem[] = configurations.flatMap((configuration) => configuration.warnings);
  const counted = {
    modules: 0,
    procedures: 0,
    routes: 0,
    unchecked: 0,
    segments: [] as readonly string[],
  };
  let changes: Compared["counts"] | undefined;
  for (const settings of settingsOf(configurations, { ...options, root })) {
    const open = await openApplication(settings);
    const { application } = open;
    problems.push(...application.problems);
    warnings.push(...application.warnings);
    problems.push(
      ...configurations.flatMap((configuration) =>
        configurationProblems(configuration, application),
      ),
    );
    counted.modules = [...application.modules.ids].length;
    counted.procedures = application.procedures.length;
    counted.routes = application.routes.length;
    counted.segments = application.segments.map((segment) => segment.file);
    // The parts of a wrongly split module would lead to wrong findings.
    if (application.problems.length > 0) continue;
    // The TypeScript compiler, which usually runs next, reads them.
    await writeModuleTypes(application);
    const [types, found] = await Promise.all([
      open.readTypes(options.against && { contract: true }),
      findings(open, { served: servedBy(configurations) }),
    ]);
    if (settings.openapi)
      problems.push(...clashProblems(application, contractOf(application, types)));
    problems.push(...found.problems, ...(types?.problems ?? []));
    warnings.push(...found.warnings, ...(types?.notes ?? []));
    counted.unchecked = application.procedures.filter(
      (procedure) => uncheckedArguments(procedure, types).length > 0,
    ).length;
    // Types that can't be read say nothing about callers.
    if (options.against !== undefined && problems.length === 0) {
      const contract = contractOf(application, types);
      const compared = compareWith(options.against, application, contract);
      problems.push(...compared.problems);
      warnings.push(...compared.warnings);
      changes = compared.counts;
    }
    if (options.build === true && problems.length === 0)
      await dryBuild(settings, problems, warnings);
  }
  return {
    problems: uniqueProblems(problems),
    warnings: uniqueProblems(warnings),
    ...counted,
    ...(changes !== undefined && { changes }),
    configurations: configurations.map((configuration) => configuration.file),
  };
}

/** Segments that configured servers load, even those with a missing segment file. */
function servedBy(configurations: readonly ConfigurationFile[]): ReadonlySet<string> {
  return new Set(
    configurations.flatMap(({ config }) =>
      config !== undefined && "segments" in config ? (config.segments ?? []) : [],
    ),
  );
}

/**
 * Mistakes in imports between modules, in pages and on nodes. The application must be free of
 * problems.
 */
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
    ...(await missingExports(application)),
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
  warnings.push(...onNodes.warnings, ...(await besideWarnings(open, onNodes.packages)));
  const loaded = [...new Set([...application.serverModules, ...application.pageModules])].sort(
    (a, b) => (a.file < b.file ? -1 : 1),
  );
  const inPages = [...browser.modules.values()]
    .filter((module) => module.kind === "code")
    .map((module) => module.id);
  const files = new Set([...loaded.map((module) => module.file), ...onNodes.packages, ...inPages]);
  for (const problem of await uncompiledIn(open, files))
    (open.hasOtherTransforms ? warnings : problems).push(problem);
  warnings.push(
    ...(await classRecords(loaded, application)).warnings,
    ...(await splitState(application)),
  );
  return { problems, warnings };
}

/** Decorators and `accessor` fields that Vite's compiler doesn't compile. */
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

/** The distinct build settings that configurations give; the defaults if none does. */
function settingsOf(
  configurations: readonly ConfigurationFile[],
  { root, log }: CheckOptions,
): readonly BuildOptions[] {
  const settings = new Map<string, BuildOptions>();
  // One service that wants them is enough: it runs what is built.
  const guards = configurations.find(({ config }) => config?.guards !== undefined)?.config?.guards;
  const validate = configurations.find(({ config }) => config?.validate === false)?.config
    ?.validate;
  const isServed = configurations.some(
    ({ config }) => config !== undefined && "openapi" in config && config.openapi !== undefined,
  );
  const openapi = isServed || undefined;
  for (const { config } of configurations) {
    if (config === undefined || !("source" in config)) continue;
    const own = { ...buildSettings(config, root), guards, validate, openapi, revisions: undefined };
    settings.set(JSON.stringify(own), { ...own, log });
  }
  return settings.size > 0 ? [...settings.values()] : [{ root, guards, validate, log }];
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
