// Reads an application before anything is bundled: procedures, segments, splits, and every mistake.

import { relative } from "node:path";

import picomatch from "picomatch";

import { isChecked } from "../../src/base/access.ts";
import { segmentFileEnding } from "../../src/base/manifest.ts";
import type { Problem } from "../../src/base/problem.ts";
import {
  type SegmentFileEntry,
  type SegmentFile,
  parseSegment,
} from "../../src/runtime/segment.ts";
import type { Parse } from "../../src/split/write/split-module.ts";
import { isInside, slashed } from "../files/sources.ts";
import { isRoute } from "./cut/application-procedure.ts";
import { type Application, type ApplicationGraph, splitModules } from "./cut/application.ts";
import { addBrowser, importedParts, splitForServer } from "./cut/cut.ts";
import { hideExports } from "./cut/hidden-exports.ts";
import { resolveEntries } from "./cut/segment-entries.ts";
import { startedByFaces } from "./cut/started-faces.ts";
import { ApplicationCache, type Opened } from "./read/application-cache.ts";
import { configuredModules } from "./read/configured-modules.ts";
import type { Modules, ResolveImport, SourceModule } from "./read/modules.ts";
import { readPages } from "./read/pages.ts";
import { uniqueProblems } from "./read/unique-problems.ts";
import { pageOnlyCalls } from "./rules/page-only-calls.ts";
import { applyRules } from "./rules/rules.ts";

export interface ReadOptions {
  readonly root: string;
  /** Absolute. */
  readonly source: string;
  /** Absolute folders that hold no source: the output. */
  readonly except: readonly string[];
  /** Pages that are built, absolute. */
  readonly pages: readonly string[];
  /** Script files that are entries by themselves, absolute. */
  readonly inputs: readonly string[];
  /** Where root-absolute addresses in pages start, absolute. */
  readonly bases: readonly string[];
  readonly browserSegments?: readonly string[] | undefined;
  readonly browserModules?: readonly string[] | undefined;
  /** Every public entry of a segment file has to say what its guard is, or that it has none. */
  readonly guards?: "required" | undefined;
  /** Whether arguments of callers from outside are checked by types where no entry says so [true]. */
  readonly validate?: boolean | undefined;
  /** Vite's folder of files that are served as they are, absolute. */
  readonly publicDir?: string | undefined;
  /** Vite's folder in the output for built files. */
  readonly assetsDir?: string | undefined;
  /** In development: nodes, and the segments that each holds. */
  readonly nodes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** For tests of the application: nothing is published, and faces export everything. */
  readonly forTests?: boolean | undefined;
  /** Problems of Vite's configuration. */
  readonly configProblems?: readonly Problem[] | undefined;
  /** Called before modules are read if an entry of a segment file has arguments checked by types. */
  readonly onChecked?: (() => void) | undefined;
  readonly parse: Parse;
  readonly resolveImport: ResolveImport;
  /** Checks the tsconfig.json of these files. */
  readonly tsconfigProblems?:
    | ((files: Iterable<string>) => Promise<readonly Problem[]>)
    | undefined;
  /** The cache of earlier readings; then only changed files are read. */
  readonly cache?: ApplicationCache | undefined;
}

/** Reads and checks an application. Mistakes in its files don't throw: look at `problems`. */
export async function readApplication(input: ReadOptions): Promise<Application> {
  const cache = input.cache ?? new ApplicationCache();
  return await cache.run(input, async (opened) => await read(input, opened));
}

async function read(input: ReadOptions, { files, modules }: Opened): Promise<Application> {
  const graph = await cutApplication(input, files, modules);
  const sources = [...modules.all].map(({ file }) => file);
  const tsconfig = (await input.tsconfigProblems?.(sources)) ?? [];
  const around = [...(input.configProblems ?? []), ...tsconfig];
  const { problems, warnings } = await applyRules(graph, around);
  return {
    ...graph,
    imports: await importsOf([...graph.serverModules, ...graph.pageModules], modules),
    behindLinks: new Set(
      [...splitModules(graph)]
        .filter((module) => modules.realPath(module) !== module.file)
        .map((module) => modules.realPath(module)),
    ),
    pageOnlyCalls: problems.length === 0 ? await pageOnlyCalls(graph) : [],
    problems: uniqueProblems(problems),
    warnings: uniqueProblems(warnings),
  };
}

/** Reads an application and cuts its modules. */
async function cutApplication(
  input: ReadOptions,
  files: readonly string[],
  modules: Modules,
): Promise<ApplicationGraph> {
  const { root, source } = input;
  const segments = readSegments(files, modules);
  if (segments.some(({ entries }) => entries.some((entry) => isCheckedIn(entry, input))))
    input.onChecked?.();
  const { functions, named, guards, problems } = await resolveEntries(
    segments,
    modules,
    input.validate,
  );

  const serverCut = splitForServer(named, modules);
  const globs = (input.browserModules ?? []).map((glob) => ({
    glob,
    matches: modulesOfGlob(glob, modules),
  }));
  const globbed = globs.flatMap(({ matches }) => matches);
  const entries = [...input.inputs.flatMap((file) => modules.byFile(file) ?? []), ...globbed];
  const pages = await readPages({
    root,
    bases: input.bases,
    pages: pagesOf(files, input),
    entries,
    modules,
    visible(module) {
      const cut = serverCut.get(module.file);
      return cut === undefined ? [modules.outline(module)] : importedParts(cut.splits.all);
    },
  });
  const pageModules = pages.reached;
  const browserSegments = segments
    .map(({ name }) => name)
    .filter((name) => input.browserSegments?.includes(name) ?? pages.started.has(name))
    .sort();
  const browserModules = [...new Set([...pages.modules, ...globbed])];
  const { cut: hiding, trimmed } = await hideExports({
    cut: addBrowser(serverCut, browserSegments),
    modules,
    browserSegments,
    pageModules,
    browserModules,
    scripts: pages.scripts,
    forTests: input.forTests === true,
    parse: input.parse,
  });
  const isSeen = [...pageModules].some((module) => hiding.has(module.file));
  // In tests there is no page to start.
  const cut =
    pages.starts || isSeen || input.forTests === true ? hiding : startedByFaces(hiding, modules);

  const configured = configuredModules(files, modules);
  const cutModules = [...cut.values()].map(({ module }) => module);
  const guardModules = new Set([...guards.values()].map(({ module }) => module));
  const serverModules = await closure(
    [...cutModules, ...configured.modules, ...guardModules],
    modules,
  );
  const hasClasses = (module: SourceModule): boolean => modules.outline(module).classes.length > 0;
  return {
    root,
    source,
    outputs: input.except,
    modules,
    segments,
    functions,
    entryProblems: problems,
    named,
    guards,
    guardsRequired: input.guards === "required",
    procedures: named.filter((each) => !isRoute(each)),
    routes: named.filter(isRoute),
    browserSegments,
    configuredSegments: input.browserSegments,
    served: new Set([...configured.segments, ...Object.values(input.nodes ?? {}).flat()]),
    demands: pages,
    builtPages: input.pages,
    publicDir: input.publicDir,
    assetsDir: input.assetsDir ?? "",
    entries,
    startsByItself: !pages.starts && isSeen,
    cut,
    trimmed,
    browserModules,
    unmatchedGlobs: globs.flatMap(({ glob, matches }) => (matches.length === 0 ? [glob] : [])),
    pageModules,
    configured: configured.modules,
    serverModules,
    serverEntries: [...serverModules].filter(
      (module) =>
        configured.modules.includes(module) || guardModules.has(module) || hasClasses(module),
    ),
    pageClasses: [...pageModules].filter(
      (module) => hasClasses(module) && !serverModules.has(module),
    ),
  };
}

function isCheckedIn(entry: SegmentFileEntry, { validate }: ReadOptions): boolean {
  return entry.route === undefined && isChecked({ validate, ...entry });
}

function readSegments(files: readonly string[], { root, memory }: Modules): readonly SegmentFile[] {
  return files
    .filter((file) => file.endsWith(segmentFileEnding))
    .map((file) =>
      memory.of(file, "segment", () =>
        parseSegment(memory.text(file), slashed(relative(root, file))),
      ),
    );
}

/** Globs count from the source folder, with or without extension. */
function modulesOfGlob(glob: string, { all, source }: Modules): readonly SourceModule[] {
  const matches = picomatch(glob.replace(/^\.\//, ""));
  return [...all].filter(({ id, file }) => matches(id) || matches(slashed(relative(source, file))));
}

// Pages that are served unbuilt count too: they start clients like any other.
function pagesOf(files: readonly string[], input: ReadOptions): readonly string[] {
  const plain = files.filter(
    (file) =>
      file.endsWith(".html") &&
      (isInside(input.source, file) || !slashed(relative(input.root, file)).includes("/")),
  );
  return [...new Set([...input.pages, ...plain])];
}

async function closure(
  start: readonly SourceModule[],
  modules: Modules,
): Promise<ReadonlySet<SourceModule>> {
  const reached = new Set<SourceModule>(start);
  // Iterating a set includes items that are added meanwhile.
  for (const module of reached) {
    const found = modules.importsOf(module);
    for (const edge of found instanceof Promise ? await found : found) reached.add(edge.module);
  }
  return reached;
}

async function importsOf(
  all: readonly SourceModule[],
  modules: Modules,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const imports: [string, readonly string[]][] = [];
  for (const module of [...new Set(all)].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const found = modules.importsOf(module);
    const edges = found instanceof Promise ? await found : found;
    const ids = modules.memory.ofObject(edges, () =>
      [...new Set(edges.map((edge) => edge.module.id))].filter((id) => id !== module.id).sort(),
    );
    if (ids.length > 0) imports.push([module.id, ids]);
  }
  return Object.fromEntries(imports);
}
