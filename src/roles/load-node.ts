// Starts a server's node: binds its module graph, and loads its segments' bodies and classes.

import { createLocalNode, type LocalNode } from "../runtime/dispatch.ts";
import { NodeNotAvailable } from "../base/errors.ts";
import { procedureKey } from "../base/fqn.ts";
import {
  defaultServerSegments,
  entryOf,
  type ClassRecord,
  type ProcedureRecord,
  type ServerManifest,
} from "../base/manifest.ts";
import {
  type Clock,
  type Host,
  type ModuleLoader,
  type ModuleNamespace,
  ModulesUnavailable,
} from "../base/ports.ts";
import type { SendCall } from "../types/outgoing-call.ts";
import type { ClassTable } from "../codec/class-table.ts";
import { Classes } from "../codec/classes.ts";
import { RouteRegistry } from "../runtime/routes.ts";
import type { Graph } from "../runtime/seam.ts";

/** The modules of a server's build. */
export interface ServerModules extends ModuleLoader {
  manifest(): Promise<ServerManifest>;
  /**
   * Only where modules run again when their sources change. Calls and awaits `listener` after each
   * module has run, before its importers run. For a split module, that is after its shared part.
   */
  onRun?(listener: (file: string, exports: ModuleNamespace) => Promise<void>): void;
}

/** A node with its routes. */
export interface ServerNode extends LocalNode {
  readonly routes: RouteRegistry;
}

export interface NodeModules {
  readonly modules: ServerModules;
  /** All but those that only browsers load, if left out. */
  readonly segments: readonly string[] | undefined;
}

export function createServerNode(
  host: Host,
  modules: ServerModules,
  remote: SendCall | undefined,
): ServerNode {
  const parts = { loader: modules, carrier: host.carrier, clock: host.clock };
  const routes = new RouteRegistry(parts);
  const routeOf = (fqn: string) => routes.functionOf(fqn);
  return { ...createLocalNode({ ...parts, remote, routeOf }), routes };
}

/** Loads the segments into `node`, and returns their names. */
export async function loadSegments(
  host: Host,
  node: ServerNode,
  classes: Classes,
  options: NodeModules,
): Promise<readonly string[]> {
  const manifest = await options.modules.manifest();
  const segments =
    options.segments ??
    defaultServerSegments(Object.keys(manifest.segments), manifest.browserSegments);
  const graph = (await options.modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  // Routes first: then seams know which of them are routes.
  await Promise.all([node.routes.load(manifest, segments), node.load(manifest, segments)]);
  await loadClassesOf(host, classes, options.modules, manifest, segments, () => true);
  return segments;
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

/** Switches to another manifest: loads new classes, and again those of modules in `fresh`. */
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
 * Loads the application's other classes when a message first names one. Looks names up among the
 * classes that the build recorded, never as paths. `undefined` if there are none.
 */
function namedClasses(
  records: readonly ClassRecord[],
  load: (record: ClassRecord) => Promise<void>,
): ClassTable["load"] {
  const byKey = new Map(
    records.filter((record) => record.clash === undefined).map((record) => [record.key, record]),
  );
  if (byKey.size === 0) return undefined;
  const loading = new Map<string, Promise<void>>();
  return async (keys = new Set()) => {
    const loads: Promise<void>[] = [];
    for (const key of keys) {
      const record = byKey.get(key);
      if (record === undefined) continue;
      const pending =
        loading.get(key) ??
        load(record).catch((cause: unknown) => {
          loading.delete(key);
          throw unavailable({ cause });
        });
      loading.set(key, pending);
      loads.push(pending);
    }
    await Promise.all(loads);
  };
}

/** What a gateway or proxy knows about the application, so that its middleware sees real values. */
export interface Application {
  /** Empty until a value needs a class. */
  readonly classes: Classes;
  /** The manifest's record, which gives the values of a GET their types. */
  procedure(fqn: string, version: string): Promise<ProcedureRecord | undefined>;
  /** Whether a segment declares the procedure safe: pages of other origins may call it. */
  isSafe(fqn: string, version: string): Promise<boolean>;
}

/**
 * Fetches the manifest, and loads all classes that may travel when a call first needs them. Loads
 * those of pages only if a message has an instance.
 */
export function applicationOf(modules: ServerModules, host: Host): Application {
  const { clock } = host;
  const classes = new Classes();
  const manifest = once(clock, async () => {
    const loaded = await modules.manifest();
    const safe = Object.values(loaded.segments).flatMap((entries) =>
      entries.filter((entry) => entry.safe === true),
    );
    return {
      ...loaded,
      byKey: new Map(
        loaded.procedures.map((record) => [procedureKey(record.fqn, record.version), record]),
      ),
      safe: new Set(safe.map((entry) => loaded.procedures[entry.procedure])),
    };
  });
  const loadAll = once(clock, async () => {
    const loaded = await manifest();
    const load = async (record: ClassRecord): Promise<void> =>
      await loadClass(classes, record, loaded, modules, host);
    await Promise.all(loaded.classes.filter((record) => record.page !== true).map(load));
    classes.load = namedClasses(
      loaded.classes.filter((record) => record.page === true),
      load,
    );
  });
  classes.load = async (keys) => {
    await loadAll();
    await classes.load?.(keys);
  };
  classes.loadByName = loadAll;
  const recordIn = (
    { byKey }: Awaited<ReturnType<typeof manifest>>,
    fqn: string,
    version: string,
  ) => byKey.get(procedureKey(fqn, version));
  return {
    classes,
    procedure: async (fqn, version) => recordIn(await manifest(), fqn, version),
    async isSafe(fqn, version) {
      const loaded = await manifest();
      const record = recordIn(loaded, fqn, version);
      return record !== undefined && loaded.safe.has(record);
    },
  };
}

const unavailable = (options?: ErrorOptions): Error =>
  new NodeNotAvailable(
    "Can't load the application's modules, which decode arguments and results",
    options,
  );

/**
 * How long a call waits for the application, as its middleware may not need it. After that, calls
 * fail at once until it has arrived.
 */
const loadTimeoutMs = 1000;

/** Runs `act` once. If it fails, the next call tries again: the repository may be back. */
function once<T>(clock: Clock, act: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  const start = (): Promise<T> => {
    const running = act();
    void running.then(
      () => (current = running),
      () => (current = undefined),
    );
    return new Promise((resolve, reject) => {
      const cancel = clock.after(loadTimeoutMs, () => reject(unavailable()));
      void running
        .then(resolve, (cause: unknown) => reject(unavailable({ cause })))
        .finally(cancel);
    });
  };
  return () => (current ??= start());
}

/**
 * Modules that the segments' procedures import, by value or type: a call may have their instances.
 */
function reachedModules(manifest: ServerManifest, segments: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const open = segments.flatMap((name) => [
    ...(entryOf(manifest.segments, name) ?? []).map(
      (entry) => manifest.procedures[entry.procedure]?.module ?? "",
    ),
    ...(entryOf(manifest.routes ?? {}, name) ?? []).map((entry) => entry.module),
  ]);
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    open.push(...(entryOf(manifest.imports, module) ?? []));
  }
  return reached;
}

/**
 * Registers a class, so that its instances can travel. If its module throws, logs and refuses them.
 */
async function loadClass(
  classes: Classes,
  record: ClassRecord,
  manifest: ServerManifest,
  loader: ModuleLoader,
  { log }: Pick<Host, "log">,
): Promise<void> {
  const file = entryOf(manifest.modules, record.module)?.file;
  if (file === undefined) return;
  try {
    classes.register(record, (await loader.import(file))[record.export]);
  } catch (error) {
    // Only fetching failed, which says nothing about the class.
    if (error instanceof ModulesUnavailable) throw error;
    // Not fatal: this service may only import its type, and the module may need a page, or a
    // package that isn't installed here.
    log.error(`class '${record.key}' can't be loaded, so its instances are refused`, error);
  }
}
