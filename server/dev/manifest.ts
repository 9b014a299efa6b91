// The two manifests of an application without a build. They name modules by id, since Vite serves
// them on demand.

import type { Manifest, ModuleRecord, ServerManifest } from "../../src/base/manifest.ts";
import type { Application } from "../compile/cut/application.ts";
import { browserCode } from "../compile/cut/browser-code.ts";
import { classRecords } from "../compile/cut/classes.ts";
import { builtModules, hasChecks } from "../compile/write/argument-types.ts";
import { markedForPages, namedIn, routesIn } from "../compile/write/manifest-writer.ts";
import { emptyId, graphId, partId } from "../compile/read/module-ids.ts";
import type { SourceModule } from "../compile/read/modules.ts";

/** For nodes. */
export async function serverManifest(
  application: Application,
  revision: string,
  { base }: { readonly base: string },
): Promise<ServerManifest> {
  const among = builtModules(application);
  const { records } = await classRecords(among, application);
  return {
    format: 1,
    revision,
    sources: revision,
    outside: {},
    browserSegments: application.browserSegments,
    // Vite serves them itself.
    pages: {},
    base,
    graph: graphId,
    // The host reads them itself.
    ...(application.procedures.some(hasChecks) && { types: emptyId }),
    imports: application.imports,
    modules: modulesOf(among, (file, part) =>
      part === undefined ? file : application.cut.has(file) ? partId.body(file) : undefined,
    ),
    ...namedIn(
      application,
      application.segments.map(({ name }) => name),
      "server",
    ),
    classes: records.map((record) => markedForPages(record, application)),
    files: {},
    ...routesIn(application),
  };
}

/** For pages. `address` returns the path at which pages request a module. */
export async function browserManifest(
  application: Application,
  revision: string,
  address: (id: string) => string,
): Promise<Manifest> {
  const among = [...new Set((await browserCode(application)).map(({ module }) => module))];
  const { records } = await classRecords(byId(among), application);
  const body = (file: string): string | undefined =>
    application.cut.get(file)?.parts.browser.body === undefined
      ? undefined
      : address(partId.body(file));
  return {
    format: 1,
    revision,
    modules: modulesOf(among, (file, part) => (part === undefined ? address(file) : body(file))),
    ...namedIn(application, application.browserSegments, "browser"),
    classes: records,
    files: {},
  };
}

function modulesOf(
  modules: readonly SourceModule[],
  fileOf: (file: string, part?: "body") => string | undefined,
): Readonly<Record<string, ModuleRecord>> {
  return Object.fromEntries(
    byId(modules).map(({ id, file }) => {
      const body = fileOf(file, "body");
      return [id, { file: fileOf(file) ?? file, ...(body !== undefined && { body }) }];
    }),
  );
}

function byId(modules: readonly SourceModule[]): readonly SourceModule[] {
  return [...modules].sort((a, b) => (a.id < b.id ? -1 : 1));
}
