// The two manifests of an application that nothing has built: modules by their ids, as Vite serves each of them when it is asked for.

import type { Manifest, ModuleRecord, ServerManifest } from "../../src/manifest.ts";
import type { ModuleDescription } from "../../src/split/describe.ts";
import type { Application } from "../build/application.ts";
import { classRecords } from "../build/classes.ts";
import { graphId, partId } from "../build/cut.ts";
import { namedIn } from "../build/manifest-writer.ts";
import type { SourceModule } from "../build/modules.ts";

/** What nodes go by. */
export async function serverManifest(application: Application, revision: string): Promise<ServerManifest> {
  const among = [...new Set([...application.serverModules, ...[...application.cut.values()].map((one) => one.module)])];
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
    modules: modulesOf(among, (file, part) => (part === undefined ? file : application.cut.has(file) ? partId.body(file) : undefined)),
    ...namedIn(
      application,
      application.segments.map((one) => one.name),
    ),
    classes: records,
    files: {},
  };
}

/** What pages go by. `address` gives the path of a module as the page is to ask for it. */
export async function browserManifest(application: Application, revision: string, address: (id: string) => string): Promise<Manifest> {
  const among = await reachable(application);
  const { records } = await classRecords(byId(among), application.modules);
  const body = (file: string): string | undefined =>
    application.cut.get(file)?.parts.browser.body === undefined ? undefined : address(partId.body(file));
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
  const found: Record<string, ModuleRecord> = {};
  for (const { id, file } of byId(modules)) {
    const body = fileOf(file, "body");
    found[id] = { file: fileOf(file) ?? file, ...(body !== undefined && { body }) };
  }
  return found;
}

/** What browsers get, by value imports: of a split module what its face passes on, its shared part, and what its body for browsers holds. */
async function reachable({ cut, pageModules, clientModules, modules }: Application): Promise<readonly SourceModule[]> {
  const held = [...cut.values()].filter((one) => one.parts.browser.body !== undefined).map((one) => one.module);
  const reached = new Set<SourceModule>([...pageModules, ...clientModules, ...held]);
  // A set hands out what is added while it is walked.
  for (const module of reached) {
    const parts = cut.get(module.file)?.parts.browser;
    const whole = modules.describe(module);
    const described = [parts?.shared, parts?.body].map((part) => modules.describePart(module, part));
    const texts = parts === undefined ? [whole] : [passedOn(whole), ...described];
    for (const text of texts) for (const edge of await modules.importsOf(module, text)) if (!edge.typeOnly) reached.add(edge.module);
  }
  return [...reached];
}

const faces = new WeakMap<ModuleDescription, ModuleDescription>();

/** What a face has of the imports of its module; the same object as long as nothing in the module changes. */
function passedOn(whole: ModuleDescription): ModuleDescription {
  const known = faces.get(whole) ?? { ...whole, imports: [] };
  faces.set(whole, known);
  return known;
}

function byId(modules: readonly SourceModule[]): readonly SourceModule[] {
  return [...modules].sort((one, other) => (one.id < other.id ? -1 : 1));
}
