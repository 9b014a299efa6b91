// Reads an application before anything is bundled: procedures, segments, splits, and every mistake.

import { existsSync } from "node:fs";
import { relative } from "node:path";

import picomatch from "picomatch";

import type { Problem } from "../../src/base/problem.ts";
import { segmentFileEnding } from "../../src/base/manifest.ts";
import { type SegmentFile, parseSegment } from "../../src/runtime/segment.ts";
import type { Parse } from "../../src/split/write/split-module.ts";
import { isInside, isListed, slashed } from "../files/sources.ts";
import type { Application } from "./cut/application.ts";
import {
  type ApplicationCache,
  type Opened,
  createApplicationCache,
} from "./read/application-cache.ts";
import { browserSegmentsOf } from "./cut/browser-segments.ts";
import { addBrowser, splitForServer } from "./cut/cut.ts";
import { configuredModules } from "./read/configured-modules.ts";
import type { FileMemory } from "./read/file-memory.ts";
import { hideExports } from "./cut/hidden-exports.ts";
import { proceduresOf } from "./cut/linked-forms.ts";
import { linkedModules } from "./rules/links.ts";
import type { Modules, ResolveImport, SourceModule } from "./read/modules.ts";
import { pageOnlyCalls } from "./rules/page-only-calls.ts";
import { readPages } from "./read/pages.ts";
import { privateImports } from "./rules/private-imports.ts";
import { uniqueProblems } from "./read/unique-problems.ts";
import { isRoute } from "./cut/application-procedure.ts";
import { checkRoutes } from "./rules/check-routes.ts";
import { resolveEntries } from "./cut/segment-entries.ts";
import { startedByFaces } from "./cut/started-faces.ts";
import { thenables } from "./rules/thenables.ts";

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
  /** Vite's folder of files that are served as they are, absolute. */
  readonly publicDir?: string | undefined;
  /** Vite's folder in the output for built files. */
  readonly assetsDir?: string | undefined;
  /** In development: nodes, and the segments that each holds. */
  readonly nodes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** For tests of the application: nothing is published, and faces export everything. */
  readonly forTests?: boolean | undefined;
  /** What is wrong with Vite's configuration. */
  readonly configProblems?: readonly Problem[] | undefined;
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
  const cache = input.cache ?? createApplicationCache();
  return await cache.run(input, async (opened) => await read(input, opened));
}

async function read(input: ReadOptions, { files, modules, memory }: Opened): Promise<Application> {
  const { root, source } = input;
  const problems: Problem[] = [
    ...(input.configProblems ?? []),
    ...modules.problems,
    ...sourceFolderProblems(root, source),
  ];
  const warnings: Problem[] = [];
  const sources = [...modules.ids].map((id) => modules.get(id)?.file ?? id);
  problems.push(...((await input.tsconfigProblems?.(sources)) ?? []));
  const segments = readSegments(files, root, memory, warnings);
  const named = await resolveEntries(segments, { modules, memory }, problems, warnings);
  const routes = named.filter(isRoute);

  const serverCut = splitForServer(named, { modules, memory });
  const globbed = globbedModules(input, modules, warnings);
  const entries = [...input.inputs.flatMap((file) => modules.byFile(file) ?? []), ...globbed];
  const pages = await readPages({
    root,
    source,
    bases: input.bases,
    pages: pagesOf(files, input),
    entries,
    modules,
    memory,
    visible(module) {
      const cut = serverCut.get(module.file);
      return cut === undefined
        ? modules.describe(module)
        : modules.describePart(module, cut.all.shared);
    },
  });
  const pageModules = pages.reached;
  problems.push(...pages.problems);
  if (input.browserSegments === undefined) warnings.push(...unreachedStarts(modules, pageModules));
  const segmentNames = segments.map((segment) => segment.name);
  const browserSegments = browserSegmentsOf(input.browserSegments, pages, segmentNames, problems);

  const browserModules = [...new Set([...pages.modules, ...globbed])];
  const { cut: hiding, trimmed } = await hideExports({
    cut: addBrowser(serverCut, browserSegments),
    modules,
    browserSegments,
    pageModules,
    browserModules,
    scripts: pages.scripts,
    forTests: input.forTests === true,
    memory,
    parse: input.parse,
  });
  const isSeen = [...pageModules].some((module) => hiding.has(module.file));
  const startsByItself = !pages.starts && isSeen;
  // In tests there is no page to start.
  const cut =
    pages.starts || isSeen || input.forTests === true ? hiding : startedByFaces(hiding, memory);
  for (const { parts } of cut.values())
    for (const part of Object.values(parts)) {
      problems.push(...part.problems);
      warnings.push(...part.warnings);
    }

  const configured = configuredModules(root, files, { modules, memory });
  const cutModules = [...cut.values()].map(({ module }) => module);
  const serverModules = await closure([...cutModules, ...configured.modules], modules);
  for (const module of [...pageModules, ...serverModules])
    problems.push(...modules.describe(module).problems);
  const hasClasses = (module: SourceModule): boolean => modules.describe(module).classes.length > 0;
  const serverEntries = [...serverModules].filter(
    (module) => configured.modules.includes(module) || hasClasses(module),
  );
  const pageModulesWithClasses = [...pageModules].filter(hasClasses);
  const namedModules = segments.flatMap((segment) =>
    segment.entries.flatMap(({ module }) => modules.find(module) ?? []),
  );
  // Others import these by name at run time.
  const dynamic = [...serverEntries, ...browserModules, ...pageModulesWithClasses];
  const linked = linkedModules(
    { withProcedures: [...namedModules, ...cutModules], others: dynamic },
    { root, modules, memory },
  );
  problems.push(...linked.problems);
  problems.push(...(await thenables([...serverModules, ...dynamic], modules)));
  const served = new Set([...configured.segments, ...Object.values(input.nodes ?? {}).flat()]);
  const among = new Set([...serverModules, ...pageModules, ...browserModules]);
  const checked = { input, cut, modules, browserSegments, served, scripts: pages.scripts, among };
  await checkRoutes(routes, checked, { problems, warnings });
  const calls = { procedures: named, cut, modules, browserSegments, served, pages: pageModules };
  const canBeSplit = problems.length === 0;
  if (canBeSplit) warnings.push(...(await privateImports(calls)));
  return {
    root,
    source,
    modules,
    segments,
    procedures: await proceduresOf(named, modules),
    routes,
    browserSegments,
    pages: pages.pages,
    entries,
    started: pages.started,
    startsByItself,
    cut,
    trimmed,
    browserModules,
    pageModules,
    serverModules,
    serverEntries,
    pageClasses: pageModulesWithClasses.filter((module) => !serverModules.has(module)),
    imports: await importsOf([...serverModules, ...pageModules], { modules, memory }),
    behindLinks: linked.sources,
    pageOnlyCalls: canBeSplit
      ? await pageOnlyCalls({ ...calls, configured: configured.modules })
      : [],
    problems: uniqueProblems(problems),
    warnings: uniqueProblems(warnings),
  };
}

function sourceFolderProblems(root: string, source: string): readonly Problem[] {
  const file = slashed(relative(root, source));
  if (!existsSync(source))
    return [
      {
        file,
        message: "the source folder doesn't exist",
        hint: `Create it, or name another one: "source" in seamline.json or in the Vite plugin, --source for seamline build. If there is no application yet, seamline init creates one.`,
      },
    ];
  if (source === root || isListed(root, source)) return [];
  return [
    {
      file,
      message:
        "the source folder is here, but only files in the application folder are read, without node_modules and dot folders",
      hint: "Move the sources into the application folder, or start in a folder that holds both.",
    },
  ];
}

function readSegments(
  files: readonly string[],
  root: string,
  memory: FileMemory,
  warnings: Problem[],
): readonly SegmentFile[] {
  const segments = files
    .filter((file) => file.endsWith(segmentFileEnding))
    .map((file) =>
      memory.of(file, "segment", () =>
        parseSegment(memory.text(file), slashed(relative(root, file))),
      ),
    );
  if (segments.length === 0)
    warnings.push({
      file: `*${segmentFileEnding}`,
      message:
        "there is no such file, so no function is a procedure, and pages get everything that they import",
      hint: `Write one, NAME${segmentFileEnding}: { "./shop/quote": { "quote": { "access": "public" } } }`,
    });
  return segments;
}

/** The modules that the `browserModules` globs match. */
function globbedModules(
  { browserModules = [], source }: ReadOptions,
  modules: Modules,
  warnings: Problem[],
): readonly SourceModule[] {
  return browserModules.flatMap((glob) => {
    const matches = picomatch(glob.replace(/^\.\//, ""));
    const found = [...modules.ids]
      .map((id) => modules.get(id) as SourceModule)
      .filter(({ id, file }) => matches(id) || matches(slashed(relative(source, file))));
    if (found.length === 0)
      warnings.push({
        file: "browserModules",
        message: `"${glob}" matches no module of the source folder`,
      });
    return found;
  });
}

/**
 * A `startClient` counts only if a page reaches it: a forgotten module or a test that names a
 * segment must not publish its code. This warning says why the segment is missing.
 */
function unreachedStarts(modules: Modules, reached: ReadonlySet<SourceModule>): readonly Problem[] {
  return [...modules.ids]
    .map((id) => modules.get(id) as SourceModule)
    .filter((module) => !reached.has(module) && !/\.(?:test|spec)$/.test(module.id))
    .filter(
      (module) =>
        modules.text(module.file).includes("startClient") &&
        modules.describe(module).startClientCalls.length > 0,
    )
    .map((module) => ({
      file: module.name,
      message:
        "startClient is called here, but no page loads this module, so browsers don't get the segments that it names",
      hint: 'Load it from a page, or list the segments in "browserSegments".',
    }));
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
  // Iterating a set includes what is added meanwhile.
  for (const module of reached)
    for (const edge of await modules.importsOf(module)) reached.add(edge.module);
  return reached;
}

async function importsOf(
  all: readonly SourceModule[],
  { modules, memory }: Pick<Opened, "modules" | "memory">,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const imports: [string, readonly string[]][] = [];
  for (const module of [...new Set(all)].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const edges = await modules.importsOf(module);
    const ids = memory.ofObject(edges, () =>
      [...new Set(edges.map((edge) => edge.module.id))].filter((id) => id !== module.id).sort(),
    );
    if (ids.length > 0) imports.push([module.id, ids]);
  }
  return Object.fromEntries(imports);
}
