// Starts a server's node: binds its module graph, and loads its segments' bodies and classes.

import { createLocalNode, type LocalNode } from "../../runtime/dispatch.ts";
import { Checks } from "../../runtime/checks.ts";
import { Guards, guardsIn } from "../../runtime/guards.ts";
import {
  defaultServerSegments,
  entryOf,
  guardParts,
  type ClassRecord,
  type ServerManifest,
} from "../../base/manifest.ts";
import type { Host, ModuleNamespace } from "../../base/ports.ts";
import type { Remote } from "../../types/outgoing-call.ts";
import type { Classes } from "../../codec/classes.ts";
import { RouteRegistry, type RouteRegistryParts } from "../../runtime/routes.ts";
import type { Graph } from "../../runtime/seam.ts";
import { loadClass, namedClasses, type ServerModules } from "./application.ts";

/** A node with its routes, and the guards that callers from outside must pass first. */
export interface ServerNode extends LocalNode {
  readonly routes: RouteRegistry;
  readonly guards: Guards;
  readonly checks: Checks;
}

export interface NodeModules {
  readonly modules: ServerModules;
  /** If left out, all segments except those that only browsers load. */
  readonly segments: readonly string[] | undefined;
}

export function createServerNode(
  host: Host,
  modules: ServerModules,
  remote: Remote | undefined,
  onReplacedRoute?: RouteRegistryParts["onReplaced"],
): ServerNode {
  const parts = { loader: modules, carrier: host.carrier, clock: host.clock };
  const routes = new RouteRegistry({ loader: modules, onReplaced: onReplacedRoute });
  const routeOf = (fqn: string) => routes.functionOf(fqn);
  const guards = new Guards(modules);
  const checks = new Checks(modules, host);
  return { ...createLocalNode({ ...parts, remote, routeOf }), routes, guards, checks };
}

/** Loads the segments into `node`, and returns their names. */
export async function loadSegments(
  host: Host,
  node: ServerNode,
  classes: Classes,
  options: NodeModules,
): Promise<readonly string[]> {
  const { manifest, segments } = await bound(node, options);
  await Promise.all([loadAround(node, manifest, segments), node.load(manifest, segments)]);
  await loadClassesOf(host, classes, options.modules, manifest, segments, () => true);
  return segments;
}

/**
 * The same, for a node that others may call before the bodies of its procedures are loaded. Resolves once
 * they may, with what tells when all is loaded.
 */
export async function loadSegmentsBehind(
  host: Host,
  node: ServerNode,
  classes: Classes,
  options: NodeModules,
): Promise<{ readonly loaded: Promise<void> }> {
  const { manifest, segments } = await bound(node, options);
  const { modules } = options;
  const around = loadAround(node, manifest, segments);
  const { known, loaded } = node.loadBehind(manifest, segments);
  const all = loaded.then(() =>
    loadClassesOf(host, classes, modules, manifest, segments, () => true),
  );
  // An earlier step may fail first, and then it has no listener.
  all.catch(() => {});
  await Promise.all([
    around,
    known,
    // Until a class's module has run, a message that names the class loads it.
    loadClassesOf(host, classes, modules, manifest, [], () => true),
  ]);
  return { loaded: all };
}

/** Binds the graph of modules to the node. */
async function bound(
  node: ServerNode,
  { modules, segments: named }: NodeModules,
): Promise<{ readonly manifest: ServerManifest; readonly segments: readonly string[] }> {
  const manifest = await modules.manifest();
  const segments =
    named ?? defaultServerSegments(Object.keys(manifest.segments), manifest.browserSegments);
  const graph = (await modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  return { manifest, segments };
}

/**
 * Loads all but the procedures. Has to be called before these are loaded: then seams know which of them
 * are routes.
 */
async function loadAround(
  { routes, guards, checks }: ServerNode,
  manifest: ServerManifest,
  segments: readonly string[],
): Promise<void> {
  await Promise.all([
    routes.load(manifest, segments),
    guards.load(manifest, segments),
    checks.load(manifest, segments),
  ]);
}

/**
 * Registers a class as soon as its module has run again: bodies go live one by one, so a procedure
 * may return instances of the new class before all modules have run.
 */
export function registerAsTheyRun(classes: Classes, modules: ServerModules): void {
  modules.onRun?.(async (file, exports) => {
    const manifest = await modules.manifest();
    for (const record of manifest.classes) {
      if (entryOf(manifest.modules, record.module)?.file !== file) continue;
      const value = exports[record.export];
      // Loading the node's classes reports anything else.
      if (typeof value === "function") classes.register(record, value);
    }
  });
}

/** Switches to another manifest: loads new classes, and reloads those of modules in `fresh`. */
export async function followClasses(
  host: Host,
  classes: Classes,
  { modules, segments }: { modules: ServerModules; segments: readonly string[] },
  fresh: ReadonlySet<string>,
): Promise<void> {
  const manifest = await modules.manifest();
  const isNew = ({ key, module }: ClassRecord): boolean =>
    classes.get(key) === undefined || fresh.has(entryOf(manifest.modules, module)?.file ?? "");
  await loadClassesOf(host, classes, modules, manifest, segments, isNew);
}

async function loadClassesOf(
  host: Host,
  classes: Classes,
  modules: ServerModules,
  manifest: ServerManifest,
  segments: readonly string[],
  isNeeded: (record: ClassRecord) => boolean,
): Promise<void> {
  const load = async (record: ClassRecord): Promise<void> =>
    await loadClass(classes, record, manifest, modules, host);
  const here = reachedModules(manifest, segments);
  await Promise.all(
    manifest.classes.filter((record) => here.has(record.module) && isNeeded(record)).map(load),
  );
  const others = manifest.classes.filter((record) => !here.has(record.module));
  classes.load = namedClasses(others, load);
  classes.loadByName = async (names) => {
    const isNamed = ({ key, page }: ClassRecord): boolean =>
      page !== true && names.has(key.slice(key.lastIndexOf("/") + 1));
    await classes.load?.(new Set(others.filter(isNamed).map(({ key }) => key)));
  };
}

/**
 * Modules that the segments' procedures and guards import, by value or type: a call may have their instances.
 */
function reachedModules(manifest: ServerManifest, segments: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const open = segments.flatMap((name) => [
    ...(entryOf(manifest.segments, name) ?? []).map(
      (entry) => manifest.procedures[entry.procedure]?.module ?? "",
    ),
    ...(entryOf(manifest.routes ?? {}, name) ?? []).map((entry) => entry.module),
  ]);
  // Callers get the errors of guards.
  for (const guard of guardsIn(manifest, segments)) open.push(guardParts(guard).module);
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    open.push(...(entryOf(manifest.imports, module) ?? []));
  }
  return reached;
}
