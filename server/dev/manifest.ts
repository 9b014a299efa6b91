// The two manifests of an application that nothing has built: modules by their ids, as Vite serves each of them when it is asked for.

import type { Manifest, ModuleRecord, ServerManifest } from "../../src/manifest.ts";
import type { Application } from "../build/application.ts";
import { browserCode } from "../build/browser-code.ts";
import { classRecords } from "../build/classes.ts";
import { graphId, partId } from "../build/cut.ts";
import { markedForPages, namedIn } from "../build/manifest-writer.ts";
import type { SourceModule } from "../build/modules.ts";

/** What nodes go by. */
export async function serverManifest(
  application: Application,
  revision: string,
): Promise<ServerManifest> {
  const { serverModules, cut, pageClasses } = application;
  const among = [
    ...new Set([...serverModules, ...[...cut.values()].map((one) => one.module), ...pageClasses]),
  ];
  const { records } = await classRecords(byId(among), application.modules);
  return {
    format: 1,
    revision,
    sources: revision,
    outside: {},
    clients: application.clients,
    // Vite serves them itself.
    pages: {},
    graph: graphId,
    imports: application.imports,
    modules: modulesOf(among, (file, part) =>
      part === undefined ? file : application.cut.has(file) ? partId.body(file) : undefined,
    ),
    ...namedIn(
      application,
      application.segments.map((one) => one.name),
    ),
    classes: records.map((record) => markedForPages(record, application)),
    files: {},
  };
}

/** What pages go by. `address` gives the path of a module as the page is to ask for it. */
export async function browserManifest(
  application: Application,
  revision: string,
  address: (id: string) => string,
): Promise<Manifest> {
  const among = [...new Set((await browserCode(application)).map((one) => one.module))];
  const { records } = await classRecords(byId(among), application.modules);
  const body = (file: string): string | undefined =>
    application.cut.get(file)?.parts.browser.body === undefined
      ? undefined
      : address(partId.body(file));
  return {
    format: 1,
    revision,
    modules: modulesOf(among, (file, part) => (part === undefined ? address(file) : body(file))),
    ...namedIn(application, application.clients),
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
  return [...modules].sort((one, other) => (one.id < other.id ? -1 : 1));
}
