// What `seamline inspect` knows of an application: where its procedures are, who imports them, what browsers receive.

import type { Access, Parameter } from "../../src/manifest.ts";
import { type Problem, Problems } from "../../src/problem.ts";
import { unique } from "./application.ts";
import { type BrowserGraph, browserGraph } from "./browser-graph.ts";
import type { BuildOptions } from "./build.ts";
import { type BrowserSizes, type SizedModule, builtSizes } from "./built-sizes.ts";
import { findings } from "./check.ts";
import { placeOfImport } from "./import-problem.ts";
import { type OpenApplication, openApplication } from "./open-application.ts";
import type { Procedure } from "./procedures.ts";

/** What `seamline inspect --json` prints. Files are relative to the application folder, lines and columns count from 1. */
export interface Inspection {
  readonly segments: readonly InspectedSegment[];
  readonly procedures: readonly InspectedProcedure[];
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
  readonly segments: readonly {
    readonly name: string;
    readonly access: Access;
    readonly safe?: true;
    readonly idempotent?: true;
  }[];
  /** Modules that import it, with the lines of their imports. */
  readonly importers: readonly { readonly file: string; readonly line?: number }[];
}

export interface InspectedBrowser {
  /** `built`: what the bundler made of each module, before it was minified; `source`: the module's own text. */
  readonly sizes: "built" | "source";
  /** What the sizes were taken from, or why there is no build to take them from. */
  readonly build: "fresh" | "stale" | "none";
  readonly modules: readonly SizedModule[];
  /** The built files; empty where there is no fresh build. */
  readonly files: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly gzip: number;
  }[];
}

/** An application together with what browsers get of it. */
export interface Inspected {
  readonly open: OpenApplication;
  readonly graph: BrowserGraph;
  readonly inspection: Inspection;
}

/** Reads an application. Throws {@link Problems} where it can't be cut. */
export async function inspectApplication(options: BuildOptions): Promise<Inspected> {
  const open = await openApplication(options);
  const { application } = open;
  if (application.problems.length > 0) throw new Problems(application.problems);
  const graph = await browserGraph(open);
  const found = await findings(open, { graph });
  const importers = await importersOf(open);
  const sizes = await builtSizes(application.root, application.source, open.output);
  return {
    open,
    graph,
    inspection: {
      segments: application.segments
        .map(({ name, file }) => ({
          name,
          file,
          browsers: application.clients.includes(name),
          ...countsOf(application.procedures, name),
        }))
        .sort((one, other) => (one.name < other.name ? -1 : 1)),
      procedures: application.procedures.map((one) =>
        inspected(one, open, importers.get(one) ?? []),
      ),
      browser: browserOf(graph, sizes),
      // A build would stop at these; whoever looks at an application wants to see it all the same.
      warnings: unique([...found.problems, ...application.warnings, ...found.warnings]),
    },
  };
}

function countsOf(
  procedures: readonly Procedure[],
  segment: string,
): Pick<InspectedSegment, "procedures" | "access"> {
  const access = { public: 0, protected: 0, private: 0 };
  for (const one of procedures)
    for (const { entry, segment: of } of one.entries)
      if (of.name === segment) access[entry.access]++;
  return { procedures: access.public + access.protected + access.private, access };
}

function inspected(
  procedure: Procedure,
  { application: { modules } }: OpenApplication,
  importers: InspectedProcedure["importers"],
): InspectedProcedure {
  const { fqn, version, module, export: name, parameters, entries } = procedure;
  const declared = modules.describe(module).exports.find((one) => one.name === name);
  return {
    fqn,
    version,
    file: module.name,
    line: declared?.line ?? 1,
    column: declared?.column ?? 1,
    export: name,
    signature: declared?.signature ?? "()",
    parameters,
    segments: entries.map(({ segment, entry: { access, safe, idempotent } }) => ({
      name: segment.name,
      access,
      ...(safe && { safe }),
      ...(idempotent && { idempotent }),
    })),
    importers,
  };
}

/** Who imports a procedure by its name, or the module that declares it as a whole. Tests are no part of the application. */
async function importersOf({
  application: { modules, procedures },
}: OpenApplication): Promise<ReadonlyMap<Procedure, InspectedProcedure["importers"]>> {
  const byExport = new Map(procedures.map((one) => [`${one.module.id}#${one.export}`, one]));
  const found = new Map<Procedure, { file: string; line?: number }[]>();
  for (const id of modules.ids) {
    const module = modules.get(id);
    if (module === undefined || /\.(?:test|spec)$/.test(id)) continue;
    for (const { specifier, typeOnly, names, dynamic } of modules.describe(module).imports) {
      const target = typeOnly ? undefined : await modules.resolve(specifier, module.file);
      if (target === undefined) continue;
      const isWhole = dynamic === true || names.some((one) => one.imported === "*");
      const wanted = isWhole ? await modules.exportNames(target) : names.map((one) => one.imported);
      for (const name of wanted) {
        const declared = await modules.declaration(target, name);
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

function browserOf(graph: BrowserGraph, sizes: BrowserSizes): InspectedBrowser {
  if (sizes.build === "fresh")
    return { sizes: "built", build: "fresh", modules: sizes.modules, files: sizes.files };
  const sources = [...graph.modules.values()].filter((one) =>
    ["source", "code", "asset"].includes(one.kind),
  );
  const modules = sources
    .map(({ name, package: of, part, size }) => ({
      name,
      ...(of !== undefined && { package: of }),
      ...(part !== undefined && { part }),
      bytes: size(),
    }))
    .sort((one, other) => other.bytes - one.bytes);
  return { sizes: "source", build: sizes.build, modules, files: [] };
}
