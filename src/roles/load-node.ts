// Brings a server's node to life: its graph of modules is bound, its segments' bodies and their classes are loaded.

import { createLocalNode, type LocalNode, type Remote } from "../dispatch.ts";
import { NodeNotAvailable } from "../errors.ts";
import { procedureKey } from "../fqn.ts";
import {
  entryOf,
  type ClassRecord,
  type ProcedureRecord,
  type ServerManifest,
} from "../manifest.ts";
import {
  type Clock,
  type Host,
  type ModuleLoader,
  type ModuleNamespace,
  ModulesUnavailable,
} from "../ports.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import { Classes } from "../serializer/classes.ts";
import type { Graph } from "../seam.ts";

/** Modules of a server's build. */
export interface ServerModules extends ModuleLoader {
  manifest(): Promise<ServerManifest>;
  /**
   * Where modules are run again when their sources change: tells of each that has run, before what imports it runs. A module that is split
   * is told of by its shared part already. Waits for the listener.
   */
  onRun?(listener: (file: string, exports: ModuleNamespace) => Promise<void>): void;
}

export interface NodeModules {
  readonly modules: ServerModules;
  /** All but those that only browsers load, when left out (decisions §5). */
  readonly segments: readonly string[] | undefined;
}

export function createServerNode(
  host: Host,
  modules: ServerModules,
  remote: Remote | undefined,
): LocalNode {
  return createLocalNode({ loader: modules, carrier: host.carrier, clock: host.clock, remote });
}

/** Loads what `options` name into `node`, and returns the segments. */
export async function loadSegments(
  host: Host,
  node: LocalNode,
  classes: Classes,
  options: NodeModules,
): Promise<readonly string[]> {
  const manifest = await options.modules.manifest();
  const segments =
    options.segments ??
    Object.keys(manifest.segments).filter((name) => !manifest.clients.includes(name));
  const graph = (await options.modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  await node.load(manifest, segments);
  await loadClassesOf(host, classes, options.modules, manifest, segments, () => true);
  return segments;
}

/**
 * Registers a class as soon as its module has run again: bodies become live one by one, and the first that makes instances of the new class may
 * be called long before the last one is there.
 */
export function registerAsTheyRun(classes: Classes, modules: ServerModules): void {
  modules.onRun?.(async (file, exports) => {
    const manifest = await modules.manifest();
    for (const record of manifest.classes) {
      if (entryOf(manifest.modules, record.module)?.file !== file) continue;
      const found = exports[record.export];
      // What is no class is told of when the node loads all that it needs.
      if (typeof found === "function") classes.register(record, found);
    }
  });
}

/** Goes by another manifest: loads the classes that it brings, and those in modules among `fresh`, whose constructors are others now. */
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
  wanted: (record: ClassRecord) => boolean,
): Promise<void> {
  const load = async (record: ClassRecord): Promise<void> =>
    await loadClass(classes, record, manifest, modules, host);
  const here = reached(manifest, segments);
  await Promise.all(
    manifest.classes.filter((record) => here.has(record.module) && wanted(record)).map(load),
  );
  classes.load = namedClasses(
    manifest.classes.filter((record) => !here.has(record.module)),
    load,
  );
}

/**
 * The application's other classes, which are in every segment as well (§1.4): loaded when a message first names one. What a message names
 * is looked up among what the build recorded, and never a path. `undefined` where there are none.
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
    const named: Promise<void>[] = [];
    for (const key of keys) {
      const record = byKey.get(key);
      if (record === undefined) continue;
      const loaded =
        loading.get(key) ??
        load(record).catch((cause: unknown) => {
          loading.delete(key);
          throw unavailable({ cause });
        });
      loading.set(key, loaded);
      named.push(loaded);
    }
    await Promise.all(named);
  };
}

/** What a service without procedures knows of the application's, so that its middleware sees real values (decisions §5, gateway). */
export interface Application {
  /** Empty until a value needs one of them. */
  readonly classes: Classes;
  /** The manifest's record, by which the values of a GET have types. */
  procedure(fqn: string, version: string): Promise<ProcedureRecord | undefined>;
  /** Whether a segment declares the procedure safe: pages of other origins may call it. */
  isSafe(fqn: string, version: string): Promise<boolean>;
}

/**
 * Fetches the manifest, and loads every class that may travel, once each, when a call first needs them; those of pages when a message brings
 * one.
 */
export function applicationOf(modules: ServerModules, host: Host): Application {
  const { clock } = host;
  const classes = new Classes();
  const manifest = once(clock, async () => {
    const found = await modules.manifest();
    const safe = Object.values(found.segments).flatMap((entries) =>
      entries.filter((one) => one.safe === true),
    );
    return {
      ...found,
      byKey: new Map(
        found.procedures.map((record) => [procedureKey(record.fqn, record.version), record]),
      ),
      safe: new Set(safe.map((entry) => found.procedures[entry.procedure])),
    };
  });
  const begin = once(clock, async () => {
    const found = await manifest();
    const load = async (record: ClassRecord): Promise<void> =>
      await loadClass(classes, record, found, modules, host);
    await Promise.all(found.classes.filter((record) => record.page !== true).map(load));
    classes.load = namedClasses(
      found.classes.filter((record) => record.page === true),
      load,
    );
  });
  classes.load = async (keys) => {
    await begin();
    await classes.load?.(keys);
  };
  const recordIn = (
    { byKey }: Awaited<ReturnType<typeof manifest>>,
    fqn: string,
    version: string,
  ) => byKey.get(procedureKey(fqn, version));
  return {
    classes,
    procedure: async (fqn, version) => recordIn(await manifest(), fqn, version),
    async isSafe(fqn, version) {
      const found = await manifest();
      const record = recordIn(found, fqn, version);
      return record !== undefined && found.safe.has(record);
    },
  };
}

const unavailable = (options?: ErrorOptions): Error =>
  new NodeNotAvailable(
    "The application's modules, by which arguments and results are read here, can't be had now",
    options,
  );

/** How long a call waits for the application, in ms: its middleware may not even look. Past that, no call waits until it has come. */
const mostWait = 1000;

/** What failed is tried again at the next call: a repository that was away comes back. */
function once<T>(clock: Clock, act: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const acted = act();
    void acted.then(
      () => (answer = acted),
      () => (answer = undefined),
    );
    return new Promise((resolve, reject) => {
      const cancel = clock.after(mostWait, () => reject(unavailable()));
      void acted.then(resolve, (cause: unknown) => reject(unavailable({ cause }))).finally(cancel);
    });
  };
  return () => (answer ??= begin());
}

/** Modules that the segments' procedures import, by value or by type: an instance of their classes may come in. */
function reached(manifest: ServerManifest, segments: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = segments.flatMap((name) =>
    (entryOf(manifest.segments, name) ?? []).map(
      (entry) => manifest.procedures[entry.procedure]?.module ?? "",
    ),
  );
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    open.push(...(entryOf(manifest.imports, module) ?? []));
  }
  return found;
}

/** Registers a class, so that its instances can travel (§2.3). If its module throws, the log says so, and its instances are refused. */
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
    // It may be there in a moment: that says nothing about the class.
    if (error instanceof ModulesUnavailable) throw error;
    // Only its type is imported here, or it is for pages: it may need a page, or a package that this machine doesn't have.
    log.error(`class '${record.key}' can't be loaded, so its instances are refused`, error);
  }
}
