// The manifest of an application that nobody built: its modules are named by their files, for a module runner to load.

import type { ServerManifest } from "../../src/manifest.ts";
import type { Application } from "../build/application.ts";
import { classRecords } from "../build/classes.ts";
import { type Side, graphId, partId } from "../build/cut.ts";
import { entriesOf } from "../build/manifest-writer.ts";
import type { SourceModule } from "../build/modules.ts";

/** What a place of one side loads; `page` holds only the segments that browsers may load. */
export async function sourceManifest(application: Application, side: Side): Promise<ServerManifest> {
  const names = application.segments.map((one) => one.name).filter((name) => side === "server" || application.clients.includes(name));
  const { modules } = application;
  const all = [...modules.ids].toSorted().flatMap((id) => modules.get(id) ?? []);
  const sent = side === "server" ? application.serverModules : await ofBrowsers(application);
  const { records } = await classRecords(
    all.filter((module) => sent.has(module)),
    modules,
  );
  return {
    format: 1,
    revision: "sources",
    sources: "sources",
    clients: application.clients,
    graph: graphId,
    procedures: application.procedures.map(({ fqn, version, module, export: name, parameters }) => ({
      fqn,
      version,
      module: module.id,
      export: name,
      parameters,
    })),
    segments: Object.fromEntries(names.toSorted().map((name) => [name, entriesOf(name, application.procedures)])),
    classes: records,
    modules: Object.fromEntries(
      all.map(({ id, file }) => [
        id,
        { file, ...(application.cut.get(file)?.parts[side].body === undefined ? {} : { body: partId.body(file) }) },
      ]),
    ),
    files: {},
    imports: application.imports,
  };
}

/** Modules that browsers have: of the pages, and of what procedures import that browsers may load. */
async function ofBrowsers({ pageModules, cut, modules }: Application): Promise<ReadonlySet<SourceModule>> {
  const bodies = [...cut.values()].filter(({ parts }) => parts.browser.body !== undefined).map(({ module }) => module);
  const reached = new Set([...pageModules, ...bodies]);
  // A set hands out what is added while it is walked.
  for (const module of reached) for (const edge of await modules.importsOf(module)) if (!edge.typeOnly) reached.add(edge.module);
  return reached;
}
