// Everything that is known of an application before anything is bundled: procedures, segments, splits, and every mistake.

import { existsSync } from "node:fs";
import { relative } from "node:path";

import picomatch from "picomatch";

import { type Problem, formatProblem } from "../../src/problem.ts";
import { type SegmentFile, parseSegment, segmentFileEnding } from "../../src/segment.ts";
import type { Parse, Part } from "../../src/split/split-module.ts";
import { isInside, isListed, slashed } from "../sources.ts";
import { type ApplicationCache, type Opened, createApplicationCache } from "./application-cache.ts";
import { clientSegments } from "./clients.ts";
import { type CutModule, addBrowser, splitForServer } from "./cut.ts";
import { configuredModules } from "./configured-modules.ts";
import { keepBack } from "./kept-back.ts";
import type { KeptReadings } from "./kept-readings.ts";
import { linkedModules } from "./links.ts";
import type { Modules, ResolveImport, SourceModule } from "./modules.ts";
import { type PageOnlyCall, pageOnlyCalls } from "./page-only-calls.ts";
import { type PageEntry, readPages } from "./pages.ts";
import { privateImports } from "./private-imports.ts";
import { type Procedure, findProcedures } from "./procedures.ts";
import { thenables } from "./thenables.ts";

export interface Application {
  readonly root: string;
  readonly source: string;
  readonly modules: Modules;
  readonly segments: readonly SegmentFile[];
  readonly procedures: readonly Procedure[];
  /** Segments that browsers may load. */
  readonly clients: readonly string[];
  readonly pages: readonly PageEntry[];
  /** Modules that are entries of the browser's by themselves, as Vite's configuration or `clientModules` names them. */
  readonly entries: readonly SourceModule[];
  /** Segment → the file that starts it in browsers. */
  readonly started: ReadonlyMap<string, string>;
  /** Modules that pages reach by value; behind a module that segments cut, what its shared part imports. */
  readonly reached: ReadonlySet<SourceModule>;
  /** Pages call procedures and nothing of theirs calls `startClient`: they are given a module that does (start-page.ts). */
  readonly startsByItself: boolean;
  /** By file. */
  readonly cut: ReadonlyMap<string, CutModule>;
  /** By file: modules that pass on what browsers can't call, without it, as browsers get them. */
  readonly trimmed: ReadonlyMap<string, Part>;
  /** Modules that browsers get besides what the pages reach: named by `client.import`, or by `clientModules`. */
  readonly clientModules: readonly SourceModule[];
  /** Modules that pages reach by value. */
  readonly pageModules: ReadonlySet<SourceModule>;
  /** Modules that a node may need: reached from procedures by value or by type, and configured ones. */
  readonly serverModules: ReadonlySet<SourceModule>;
  /** Those among them that have to be there even if nothing imports them by value. */
  readonly serverEntries: readonly SourceModule[];
  /** Modules with classes that only pages import: nodes rebuild their instances too, if they can load the modules. */
  readonly pageClasses: readonly SourceModule[];
  /** Module id → ids of the modules that it imports, by value or by type. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** What modules with procedures that are links lead to; for each there is a problem. */
  readonly behindLinks: ReadonlySet<string>;
  /** Calls of servers that nobody can answer: mistakes for a check, warnings for a build and in development. */
  readonly pageOnlyCalls: readonly PageOnlyCall[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface ApplicationInput {
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
  readonly clients?: readonly string[] | undefined;
  readonly clientModules?: readonly string[] | undefined;
  /** In development: nodes, and the segments that each holds. */
  readonly layout?: Readonly<Record<string, readonly string[]>> | undefined;
  /** For tests of the application: nothing of it is public, and faces name all that there is. */
  readonly forTests?: boolean | undefined;
  readonly parse: Parse;
  readonly resolveImport: ResolveImport;
  /** What is wrong with the tsconfig.json of these files. */
  readonly tsconfigProblems?:
    | ((files: Iterable<string>) => Promise<readonly Problem[]>)
    | undefined;
  /** What an earlier reading left: then only what changed since is read. */
  readonly cache?: ApplicationCache | undefined;
  /** What earlier processes left. */
  readonly kept?: KeptReadings | undefined;
}

/** Reads and checks an application. Never throws for what its files say: look at `problems`. */
export async function readApplication(input: ApplicationInput): Promise<Application> {
  const cache = input.cache ?? createApplicationCache();
  return await cache.run(input, async (opened) => await read(input, opened));
}

async function read(
  input: ApplicationInput,
  { files, modules, memory }: Opened,
): Promise<Application> {
  const { root, source } = input;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  problems.push(...modules.problems);
  if (!existsSync(source))
    problems.push({
      file: slashed(relative(root, source)),
      message: "there is no such folder, but modules are looked for in it",
      hint: `Make it, or name another: "source" of seamline.json or of the Vite plugin, --source of seamline build. Where there is no application yet, seamline init makes one.`,
    });
  else if (source !== root && !isListed(root, source))
    problems.push({
      file: slashed(relative(root, source)),
      message:
        "the source folder leads here, and only what lies in the application folder is read, but for node_modules and dot folders",
      hint: "Move the sources into the application folder, or start in a folder that holds both.",
    });

  problems.push(
    ...((await input.tsconfigProblems?.(
      [...modules.ids].map((id) => modules.get(id)?.file ?? id),
    )) ?? []),
  );

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
        "there is no such file, so no function is a procedure, and pages get all that they import",
      hint: `Write one, NAME${segmentFileEnding}: { "./shop/quote": { "quote": { "access": "public" } } }`,
    });
  const procedures = await findProcedures(segments, { modules, memory }, problems, warnings);

  const server = splitForServer(procedures, { modules, memory, parse: input.parse });

  const globbed = (input.clientModules ?? []).flatMap((glob) => {
    const found = matching(glob, modules, source);
    if (found.length === 0)
      warnings.push({
        file: "clientModules",
        message: `"${glob}" matches no module of the source folder`,
      });
    return found;
  });
  const entries = [
    ...input.inputs.map((file) => modules.byFile(file)).filter((one) => one !== undefined),
    ...globbed,
  ];
  const pages = await readPages({
    root,
    source,
    bases: input.bases,
    pages: pagesOf(files, input),
    entries,
    modules,
    memory,
    visible: (module) => {
      const cut = server.get(module.file);
      return cut === undefined
        ? modules.describe(module)
        : modules.describePart(module, cut.all.shared);
    },
  });
  problems.push(...pages.problems);
  const names = segments.map((segment) => segment.name);
  if (input.clients === undefined) warnings.push(...unreachedStarts(modules, pages.reached));
  const clients = clientSegments(input.clients, pages, names, problems);

  const clientModules = [...new Set([...pages.modules, ...globbed])];
  const { cut, trimmed } = await keepBack({
    cut: addBrowser(server, clients),
    modules,
    clients,
    pageModules: pages.reached,
    clientModules,
    scripts: pages.scripts,
    forTests: input.forTests === true,
    memory,
    parse: input.parse,
  });
  for (const { parts } of cut.values())
    for (const part of Object.values(parts)) {
      problems.push(...part.problems);
      warnings.push(...part.warnings);
    }

  const configured = configuredModules(root, files, { modules, memory });
  const serverModules = await closure(
    [...[...cut.values()].map((one) => one.module), ...configured.modules],
    modules,
  );
  for (const module of [...pages.reached, ...serverModules])
    problems.push(...modules.describe(module).problems);
  const hasClasses = (module: SourceModule): boolean => modules.describe(module).classes.length > 0;
  const serverEntries = [...serverModules].filter(
    (one) => configured.modules.includes(one) || hasClasses(one),
  );
  const pageClasses = [...pages.reached].filter(
    (one) => !serverModules.has(one) && hasClasses(one),
  );
  const named = segments.flatMap(({ entries: all }) =>
    all.flatMap(({ module }) => modules.find(module) ?? []),
  );
  const dynamic = [...serverEntries, ...clientModules, ...[...pages.reached].filter(hasClasses)];
  const linked = linkedModules(
    { withProcedures: [...named, ...[...cut.values()].map((one) => one.module)], others: dynamic },
    { root, modules, memory },
  );
  problems.push(...linked.problems);
  problems.push(...(await thenables([...serverModules, ...dynamic], modules)));
  const imports = await importsOf([...serverModules, ...pages.reached], { modules, memory });
  const served = new Set([...configured.segments, ...Object.values(input.layout ?? {}).flat()]);
  const calls = { procedures, cut, modules, clients, served, pages: pages.reached };
  if (problems.length === 0) warnings.push(...(await privateImports(calls)));
  const pageOnly =
    problems.length === 0 ? await pageOnlyCalls({ ...calls, configured: configured.modules }) : [];
  return {
    root,
    source,
    modules,
    segments,
    procedures,
    clients,
    pages: pages.pages,
    entries,
    started: pages.started,
    startsByItself: !pages.starts && [...pages.reached].some((module) => cut.has(module.file)),
    reached: pages.reached,
    cut,
    trimmed,
    clientModules,
    pageModules: pages.reached,
    serverModules,
    serverEntries,
    pageClasses,
    imports,
    behindLinks: linked.sources,
    pageOnlyCalls: pageOnly,
    problems: unique(problems),
    warnings: unique(warnings),
  };
}

/**
 * Chosen: a `startClient` counts where a page reaches it. A forgotten module or a test that names a segment must not hand its code to the
 * public; but whoever means it should hear why the segment isn't there.
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
        "startClient is called here, but no page loads this module: the segments that it names are not for browsers",
      hint: 'Load it from a page, or list the segments in "clients".',
    }));
}

/** One problem may be seen from several places: it is told once. */
export function unique(problems: readonly Problem[]): readonly Problem[] {
  const files = new Map(
    [...new Set(problems.map((problem) => problem.file))].map((file, at) => [file, at]),
  );
  // Imports are looked up at the same time, so what is found first changes from build to build.
  const place = (one: Problem, other: Problem): number =>
    (files.get(one.file) ?? 0) - (files.get(other.file) ?? 0) ||
    (one.line ?? 0) - (other.line ?? 0) ||
    (one.column ?? 0) - (other.column ?? 0);
  return [
    ...new Map(problems.map((problem) => [formatProblem(problem), problem])).values(),
  ].toSorted(place);
}

// Pages that are served as they are count too: they are the application's own, and start clients like any other.
function pagesOf(files: readonly string[], input: ApplicationInput): readonly string[] {
  const plain = files.filter(
    (file) =>
      file.endsWith(".html") &&
      (isInside(input.source, file) || !slashed(relative(input.root, file)).includes("/")),
  );
  return [...new Set([...input.pages, ...plain])];
}

function matching(glob: string, modules: Modules, source: string): readonly SourceModule[] {
  const matches = picomatch(glob.replace(/^\.\//, ""));
  return [...modules.ids]
    .map((id) => modules.get(id) as SourceModule)
    .filter((module) => matches(module.id) || matches(slashed(relative(source, module.file))));
}

async function closure(
  start: readonly SourceModule[],
  modules: Modules,
): Promise<ReadonlySet<SourceModule>> {
  const reached = new Set<SourceModule>(start);
  // A set hands out what is added while it is walked.
  for (const module of reached)
    for (const edge of await modules.importsOf(module)) reached.add(edge.module);
  return reached;
}

async function importsOf(
  all: readonly SourceModule[],
  { modules, memory }: Pick<Opened, "modules" | "memory">,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const imports: [string, readonly string[]][] = [];
  for (const module of [...new Set(all)].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    const edges = await modules.importsOf(module);
    const ids = memory.ofObject(edges, () =>
      [...new Set(edges.map((edge) => edge.module.id))].filter((id) => id !== module.id).sort(),
    );
    if (ids.length > 0) imports.push([module.id, ids]);
  }
  return Object.fromEntries(imports);
}
