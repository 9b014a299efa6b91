// The result of `seamline inspect`: places and importers of procedures, and the modules that browsers
// receive.

import type { Access, ExtraMembers, Parameter } from "../../src/base/manifest.ts";
import type { SegmentFileEntry } from "../../src/runtime/segment.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import { declarationOf, exportNames } from "../compile/read/export-declarations.ts";
import { uniqueProblems } from "../compile/read/unique-problems.ts";
import {
  type BrowserGraph,
  browserGraph,
  type BrowserModule,
} from "../compile/rules/browser-graph.ts";
import type { BuildOptions } from "../vite/build.ts";
import { type BrowserSizes, type SizedModule, builtSizes } from "../compile/write/built-sizes.ts";
import { findings } from "./check.ts";
import { placeOfImport } from "../compile/read/import-problem.ts";
import { parsePartId } from "../compile/read/module-ids.ts";
import type { Modules } from "../compile/read/modules.ts";
import { type OpenApplication, openApplication } from "./open-application.ts";
import type {
  ApplicationProcedure,
  ApplicationRoute,
} from "../compile/cut/application-procedure.ts";

import type { TypesReading } from "../types/reading.ts";
import { type UncheckedArgument, uncheckedArguments } from "./unchecked.ts";

/**
 * The output of `seamline inspect --json`. Files are relative to the application folder, lines and columns
 * count from 1.
 */
export interface Inspection {
  readonly segments: readonly InspectedSegment[];
  readonly procedures: readonly InspectedProcedure[];
  readonly routes: readonly InspectedRoute[];
  readonly browser: InspectedBrowser;
  readonly warnings: readonly Problem[];
}

export interface InspectedSegment {
  readonly name: string;
  readonly file: string;
  /** Whether browsers may load it. */
  readonly browsers: boolean;
  /** How many procedures it has. */
  readonly procedures: number;
  readonly access: Readonly<Record<Access, number>>;
}

export interface InspectedProcedure {
  readonly fqn: string;
  readonly version: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly export: string;
  /** As it is written: `(sku: string, quantity: number = 1): Promise<Money>`. */
  readonly signature: string;
  /** As the manifest has them. */
  readonly parameters: readonly Parameter[];
  /** It returns an async iterator, whose items travel one by one. */
  readonly stream?: true;
  readonly segments: readonly {
    readonly name: string;
    readonly access: Access;
    readonly safe?: true;
    readonly idempotent?: true;
    readonly resume?: true;
    readonly timeoutMs?: number;
    readonly validate?: boolean;
    readonly extra?: ExtraMembers;
    /** The guard of callers from outside: `auth#signedIn`. False if the entry says that there is none. */
    readonly guard?: string | false;
  }[];
  /** Arguments that aren't checked where callers from outside send them. */
  readonly unchecked: readonly UncheckedArgument[];
  /** Modules that import it, with the lines of their imports. */
  readonly importers: readonly { readonly file: string; readonly line?: number }[];
}

export interface InspectedRoute {
  readonly name: string;
  /** `*` for any. */
  readonly method: string;
  readonly path: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly export: string;
  readonly segments: readonly {
    readonly name: string;
    readonly access: Access;
    readonly crossSite?: true;
    readonly bodyBytes?: number;
    readonly guard?: string | false;
  }[];
}

export interface InspectedBrowser {
  /** `built`: the bundler's output per module before minification; `source`: the module's text. */
  readonly sizes: "built" | "source";
  /** Whether the sizes are from a build, or why not. */
  readonly build: "fresh" | "stale" | "none";
  readonly modules: readonly InspectedModule[];
  /** The built files; empty without a fresh build. */
  readonly files: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly gzip: number;
  }[];
}

/** A module that browsers receive. */
export interface InspectedModule extends SizedModule {
  /**
   * The modules and pages through which browsers receive it. The first of each leads to a page, or
   * to another start, by a shortest way.
   */
  readonly importers: readonly {
    readonly name: string;
    readonly part?: "face" | "shared" | "body";
    /** Of the import, if there is a statement. */
    readonly line?: number;
  }[];
}

/** Reads an application. Throws {@link Problems} if it can't be split. */
export async function inspectApplication(options: BuildOptions): Promise<Inspection> {
  const open = await openApplication(options);
  const { application } = open;
  if (application.problems.length > 0) throw new Problems(application.problems);
  const graph = await browserGraph(open);
  const [types, found] = await Promise.all([open.readTypes(), findings(open, { graph })]);
  const importers = await importersOf(open);
  const sizes = await builtSizes(application.root, application.source, open.output);
  return {
    segments: application.segments
      .map(({ name, file }) => ({
        name,
        file,
        browsers: application.browserSegments.includes(name),
        ...countsOf(application.procedures, name),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    procedures: application.procedures.map((procedure) =>
      inspected(procedure, open, { importers: importers.get(procedure) ?? [], types }),
    ),
    routes: application.routes.map((route) => inspectedRoute(route, open)),
    browser: browserOf(graph, sizes, application.modules),
    // A build would stop at problems, but an inspection is useful all the same.
    warnings: uniqueProblems([
      ...found.problems,
      ...(types?.problems ?? []),
      ...application.warnings,
      ...found.warnings,
      ...(types?.notes ?? []),
    ]),
  };
}

function countsOf(
  procedures: readonly ApplicationProcedure[],
  segment: string,
): Pick<InspectedSegment, "procedures" | "access"> {
  const access = { public: 0, protected: 0, private: 0 };
  for (const procedure of procedures)
    for (const { entry, segment: named } of procedure.entries)
      if (named.name === segment) access[entry.access]++;
  return { procedures: access.public + access.protected + access.private, access };
}

function inspected(
  procedure: ApplicationProcedure,
  { application: { modules } }: OpenApplication,
  {
    importers,
    types,
  }: Pick<InspectedProcedure, "importers"> & { readonly types: TypesReading | undefined },
): InspectedProcedure {
  const { fqn, version, module, export: name, parameters, stream, entries } = procedure;
  const declared = modules.describe(module).exports.find((candidate) => candidate.name === name);
  return {
    fqn,
    version,
    file: module.name,
    line: declared?.line ?? 1,
    column: declared?.column ?? 1,
    export: name,
    signature: declared?.signature ?? "()",
    parameters,
    ...(stream && { stream }),
    segments: entries.map(({ segment, entry }) => ({
      name: segment.name,
      access: entry.access,
      ...(entry.safe && { safe: true }),
      ...(entry.idempotent && { idempotent: true }),
      ...(entry.resume && { resume: true }),
      ...(entry.timeoutMs !== undefined && { timeoutMs: entry.timeoutMs }),
      ...(entry.validate !== undefined && { validate: entry.validate }),
      ...(entry.extra !== undefined && { extra: entry.extra }),
      ...guardIn(entry),
    })),
    unchecked: uncheckedArguments(procedure, types),
    importers,
  };
}

function inspectedRoute(
  { fqn, route, module, export: name, entries }: ApplicationRoute,
  { application: { modules } }: OpenApplication,
): InspectedRoute {
  const declared = modules.describe(module).exports.find((candidate) => candidate.name === name);
  return {
    name: fqn,
    ...route,
    file: module.name,
    line: declared?.line ?? 1,
    column: declared?.column ?? 1,
    export: name,
    segments: entries.map(({ segment, entry }) => ({
      name: segment.name,
      access: entry.access,
      ...(entry.crossSite && { crossSite: true }),
      ...(entry.bodyBytes !== undefined && { bodyBytes: entry.bodyBytes }),
      ...guardIn(entry),
    })),
  };
}

function guardIn({ guard, unguarded }: SegmentFileEntry): { readonly guard?: string | false } {
  if (unguarded) return { guard: false };
  return guard === undefined ? {} : { guard };
}

/** The modules that import a procedure by name or as part of a namespace. Tests don't count. */
async function importersOf({
  application: { modules, procedures },
}: OpenApplication): Promise<ReadonlyMap<ApplicationProcedure, InspectedProcedure["importers"]>> {
  const byExport = new Map(
    procedures.map((procedure) => [`${procedure.module.id}#${procedure.export}`, procedure]),
  );
  const found = new Map<ApplicationProcedure, { file: string; line?: number }[]>();
  for (const id of modules.ids) {
    const module = modules.get(id);
    if (module === undefined || /\.(?:test|spec)$/.test(id)) continue;
    for (const { specifier, typeOnly, names, dynamic } of modules.describe(module).imports) {
      const target = typeOnly ? undefined : await modules.resolve(specifier, module.file);
      if (target === undefined) continue;
      const isWhole = dynamic === true || names.some((binding) => binding.imported === "*");
      const imported = isWhole
        ? await exportNames(modules, target)
        : names.map((binding) => binding.imported);
      for (const name of imported) {
        const declared = await declarationOf(modules, target, name);
        const procedure =
          "missing" in declared
            ? undefined
            : byExport.get(`${declared.module.id}#${declared.export.name}`);
        if (procedure === undefined) continue;
        const place = placeOfImport(modules.text(module.file), specifier);
        found.set(procedure, [
          ...(found.get(procedure) ?? []),
          { file: module.name, ...(place !== undefined && { line: place.line }) },
        ]);
      }
    }
  }
  return found;
}

function browserOf(graph: BrowserGraph, sizes: BrowserSizes, sources: Modules): InspectedBrowser {
  const keyOf = ({ name, part }: { name: string; part?: string }): string => `${name} ${part}`;
  const found = new Map([...graph.modules.values()].map((module) => [keyOf(module), module]));
  const inspectedModule = (module: SizedModule): InspectedModule => ({
    ...module,
    importers: (found.get(keyOf(module))?.importers ?? []).map((importer) =>
      inspectedImporter(importer, sources),
    ),
  });
  if (sizes.build === "fresh")
    return {
      sizes: "built",
      build: "fresh",
      modules: sizes.modules.map(inspectedModule),
      files: sizes.files,
    };
  const modules = [...graph.modules.values()]
    .filter(({ kind }) => ["source", "code", "asset"].includes(kind))
    .map(({ name, package: of, part, size }) => ({
      name,
      ...(of !== undefined && { package: of }),
      ...(part !== undefined && { part }),
      bytes: size(),
    }))
    .sort((a, b) => b.bytes - a.bytes)
    .map(inspectedModule);
  return { sizes: "source", build: sizes.build, modules, files: [] };
}

function inspectedImporter(
  { from, specifier }: BrowserModule["importers"][number],
  sources: Modules,
): InspectedModule["importers"][number] {
  const { name, part, module } = from;
  // An import between the parts of a module is in no source.
  const isWritten = specifier !== undefined && parsePartId(specifier).part === undefined;
  const place =
    module !== undefined && isWritten
      ? placeOfImport(sources.text(module.file), specifier)
      : undefined;
  return {
    name,
    ...(part !== undefined && { part }),
    ...(place !== undefined && { line: place.line }),
  };
}
