// Writes the two manifests of a build: one of everything for nodes, and one for browsers.

import { createHash, hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { isCallable } from "../../../src/base/access.ts";
import { manifestFiles } from "../../files/sources.ts";
import type {
  ClassRecord,
  FileRecord,
  Manifest,
  ModuleRecord,
  RouteEntry,
  SegmentEntry,
  ServerManifest,
} from "../../../src/base/manifest.ts";
import { writeStored } from "../../../src/codec/stored-manifest.ts";
import type { Application } from "../cut/application.ts";
import type { Contract } from "../../contract/contract.ts";
import { sizesOf } from "./built-sizes.ts";
import type { Side } from "../cut/cut.ts";
import { graphModuleId } from "../read/module-ids.ts";
import type { ApplicationProcedure } from "../cut/application-procedure.ts";
import { needsCodec } from "./page-values.ts";
import { signPage } from "./sign-page.ts";
import type { Written } from "./written.ts";

/** Writes both manifests into `folder`, and the revision into the built pages. */
export async function writeManifests(options: {
  application: Application;
  written: Readonly<Record<Side, Written>>;
  classes: readonly ClassRecord[];
  contract: Contract;
  /** The output file with the types of parameters. */
  types: string | undefined;
  /** The manifest's fields about files that the build read, and about its pages. */
  read: Pick<
    ServerManifest,
    "sources" | "outside" | "pages" | "singlePage" | "assetsFolder" | "base"
  >;
  folder: string;
}): Promise<ServerManifest> {
  const { application, written } = options;
  const graph = written.server.parts.get(graphModuleId)?.face;
  if (graph === undefined)
    throw new Error(
      "The server's build has no module of the graph: does another plugin remove it from the bundle?",
    );
  const server = sideManifest(options, "server");
  const browser = sideManifest(options, "browser");
  const files = recordsOf(
    written.browser,
    [...written.browser.files.keys()].filter((file) => !isPage(file)),
  );
  // The revision covers all that a node or browser could load, and nothing that differs between
  // builds of the same sources.
  const revision = createHash("sha256")
    .update(
      JSON.stringify([
        server,
        browser,
        files,
        application.browserSegments,
        options.read.base,
        ...Object.values(routesIn(application)),
      ]),
    )
    .digest("hex")
    .slice(0, 16);
  const manifest: ServerManifest = {
    format: 1,
    revision,
    ...options.read,
    browserSegments: application.browserSegments,
    graph,
    ...(options.types !== undefined && { types: options.types }),
    ...server,
    imports: application.imports,
    ...routesIn(application),
  };
  await mkdir(options.folder, { recursive: true });
  await writeFile(join(options.folder, manifestFiles.server), writeStored(manifest));
  const forBrowsers = JSON.stringify({ format: 1, revision, ...browser } satisfies Manifest);
  await writeFile(join(options.folder, manifestFiles.browser), forBrowsers);
  const { root, cut } = application;
  const modules = sizesOf(written.browser, root, (file) => cut.has(file));
  await writeFile(
    join(options.folder, manifestFiles.sizes),
    JSON.stringify({ modules, files: Object.keys(files) }, null, 1),
  );
  for (const page of [...written.browser.files.keys()].filter(isPage))
    await signPage(join(written.browser.folder, page), {
      revision,
      manifest: forBrowsers,
      base: options.read.base ?? "/",
      codec: needsCodec(application, options.contract, browser.classes),
    });
  return manifest;
}

type Body = Omit<Manifest, "format" | "revision">;

function sideManifest(
  {
    application,
    written,
    classes,
  }: {
    application: Application;
    written: Readonly<Record<Side, Written>>;
    classes: readonly ClassRecord[];
  },
  side: Side,
): Body {
  const mine = written[side];
  const segments = application.segments
    .map((segment) => segment.name)
    .filter((name) => side === "server" || application.browserSegments.includes(name));
  const named = new Map<string, ModuleRecord>();
  for (const [file, parts] of [...mine.parts].sort(byKey)) {
    const module = application.modules.byFile(file);
    if (module !== undefined && parts.face !== undefined)
      named.set(module.id, {
        file: parts.face,
        ...(parts.body !== undefined && { body: parts.body }),
      });
  }
  const start = [...named.values()].flatMap(({ file, body }) =>
    body === undefined ? [file] : [file, body],
  );
  const loadable = side === "server" ? [...mine.files.keys()] : reachable(start, mine);
  const mineOnly = classes.filter((record) => named.has(record.module));
  return {
    ...namedIn(application, segments, side),
    classes:
      side === "server" ? mineOnly.map((record) => markedForPages(record, application)) : mineOnly,
    modules: Object.fromEntries(named),
    files: recordsOf(mine, loadable, side),
  };
}

/** The record for nodes, which marks classes that only pages import. */
export function markedForPages(
  record: ClassRecord,
  { modules, serverModules }: Pick<Application, "modules" | "serverModules">,
): ClassRecord {
  const module = modules.get(record.module);
  return module === undefined || serverModules.has(module) ? record : { ...record, page: true };
}

/**
 * The procedures and entries of these segments, for manifests of builds and of development.
 */
export function namedIn(
  application: Application,
  segments: readonly string[],
  side: Side,
): Pick<Manifest, "procedures" | "segments"> {
  const procedures = application.procedures.filter((procedure) =>
    procedure.entries.some(({ segment }) => segments.includes(segment.name)),
  );
  return {
    procedures: procedures.map(({ fqn, version, module, export: name, parameters, stream }) => ({
      fqn,
      version,
      module: module.id,
      export: name,
      parameters,
      ...(stream && { stream }),
    })),
    segments: Object.fromEntries(
      [...segments].sort().map((name) => [name, entriesOf(name, procedures, side)]),
    ),
  };
}

/** The routes of all segments, for the manifests of nodes: pages know nothing of them. */
export function routesIn({
  routes,
  segments,
}: Pick<Application, "routes" | "segments">): Pick<ServerManifest, "routes"> {
  if (routes.length === 0) return {};
  const bySegment = segments.map(({ name }): [string, readonly RouteEntry[]] => [
    name,
    routes.flatMap(({ fqn, module, export: exported, entries, route }) => {
      const named = entries.find((entry) => entry.segment.name === name);
      if (named === undefined) return [];
      const { access, crossSite, bodyBytes, guard } = named.entry;
      const entry = { name: fqn, ...route, module: module.id, export: exported, access };
      return [
        {
          ...entry,
          ...(crossSite && { crossSite }),
          ...(bodyBytes && { bodyBytes }),
          ...(guard !== undefined && { guard }),
        },
      ];
    }),
  ]);
  return {
    routes: Object.fromEntries(bySegment.sort(byKey).filter(([, entries]) => entries.length > 0)),
  };
}

function entriesOf(
  segment: string,
  procedures: readonly ApplicationProcedure[],
  side: Side,
): readonly SegmentEntry[] {
  return procedures.flatMap((procedure, index) => {
    const named = procedure.entries.find((entry) => entry.segment.name === segment);
    if (named === undefined) return [];
    const { access, safe, idempotent, resume, timeoutMs, guard, validate, extra } = named.entry;
    return [
      {
        procedure: index,
        access,
        ...(safe && { safe }),
        ...(idempotent && { idempotent }),
        ...(resume && { resume }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(side === "server" && {
          ...(guard !== undefined && { guard }),
          ...(validate === false && isCallable(access) && { validate }),
          ...(extra !== undefined && extra !== "drop" && { extra }),
        }),
      },
    ];
  });
}

function reachable(start: readonly string[], { files }: Written): readonly string[] {
  const reached = new Set(start);
  for (const file of reached) {
    const { imports, dynamicImports } = files.get(file) ?? { imports: [], dynamicImports: [] };
    for (const name of [...imports, ...dynamicImports]) reached.add(name);
  }
  return [...reached];
}

function recordsOf(
  { folder, files }: Written,
  names: readonly string[],
  side?: Side,
): Readonly<Record<string, FileRecord>> {
  const records: [string, FileRecord][] = [];
  for (const name of [...names].sort()) {
    // Synchronously: a build has thousands of small files, and nothing else to do meanwhile.
    const content = readFileSync(join(folder, name));
    const { imports, dynamicImports } = files.get(name) ?? { imports: [], dynamicImports: [] };
    const record: FileRecord = {
      integrity: `sha256-${hash("sha256", content, "base64")}`,
      size: content.length,
      // A browser preloads these, and loads dynamic imports later.
      imports: side === "server" ? [...new Set([...imports, ...dynamicImports])] : imports,
    };
    records.push([name, record]);
  }
  return Object.fromEntries(records);
}

function isPage(file: string): boolean {
  return file.endsWith(".html");
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
