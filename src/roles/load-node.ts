// Brings a server's node to life: its graph of modules is bound, its segments' bodies and their classes are loaded.

import { createLocalNode, type LocalNode, type Remote } from "../dispatch.ts";
import { NodeNotAvailable } from "../errors.ts";
import { procedureKey } from "../fqn.ts";
import type { ProcedureRecord, ServerManifest } from "../manifest.ts";
import type { Clock, Host, ModuleLoader, ModuleNamespace } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Graph } from "../seam.ts";

/** Modules of a server's build. */
export interface ServerModules extends ModuleLoader {
  manifest(): Promise<ServerManifest>;
}

export interface NodeModules {
  readonly modules: ServerModules;
  /** All but those that only browsers load, when left out (decisions §5). */
  readonly segments: readonly string[] | undefined;
}

export function createServerNode(host: Host, modules: ServerModules, remote: Remote | undefined): LocalNode {
  return createLocalNode({ loader: modules, carrier: host.carrier, clock: host.clock, remote });
}

/** Loads what `options` name into `node`, and returns the segments. */
export async function loadSegments(node: LocalNode, classes: Classes, options: NodeModules): Promise<readonly string[]> {
  const manifest = await options.modules.manifest();
  const segments = options.segments ?? Object.keys(manifest.segments).filter((name) => !manifest.clients.includes(name));
  const graph = (await options.modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  await node.load(manifest, segments);
  await loadClasses(classes, manifest, options.modules, reached(manifest, segments));
  return segments;
}

/** What a service without procedures knows of the application's, so that its middleware sees real values (decisions §5, gateway). */
export interface Application {
  /** Empty until a value needs one of them. */
  readonly classes: Classes;
  /** The manifest's record, by which the values of a GET have types. */
  procedure(fqn: string, version: string): Promise<ProcedureRecord | undefined>;
}

/** Fetches the manifest, and loads every class that may travel, once each, when a call first needs them. */
export function applicationOf(modules: ServerModules, clock: Clock): Application {
  const classes = new Classes();
  const manifest = once(clock, async () => {
    const found = await modules.manifest();
    return { ...found, byKey: new Map(found.procedures.map((record) => [procedureKey(record.fqn, record.version), record])) };
  });
  classes.load = once(clock, async () => {
    const found = await manifest();
    await loadClasses(classes, found, modules, new Set(found.classes.map((record) => record.module)));
    classes.load = undefined;
  });
  return { classes, procedure: async (fqn, version) => (await manifest()).byKey.get(procedureKey(fqn, version)) };
}

/** How long a call waits for the application, in ms: its middleware may not even look. Past that, no call waits until it has come. */
const mostWait = 1000;

/** What failed is tried again at the next call: a repository that was away comes back. */
function once<T>(clock: Clock, act: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  const away = (options?: ErrorOptions): Error =>
    new NodeNotAvailable("The application's modules, by which arguments and results are read here, can't be had now", options);
  const begin = (): Promise<T> => {
    const acted = act();
    void acted.then(
      () => (answer = acted),
      () => (answer = undefined),
    );
    return new Promise((resolve, reject) => {
      const cancel = clock.after(mostWait, () => reject(away()));
      void acted.then(resolve, (cause: unknown) => reject(away({ cause }))).finally(cancel);
    });
  };
  return () => (answer ??= begin());
}

/** Modules that the segments' procedures import, by value or by type: an instance of their classes may come in. */
function reached(manifest: ServerManifest, segments: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = segments.flatMap((name) =>
    (manifest.segments[name] ?? []).map((entry) => manifest.procedures[entry.procedure]?.module ?? ""),
  );
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    open.push(...(manifest.imports[module] ?? []));
  }
  return found;
}

/** Registers the classes of `modules`, so that their instances can travel (§2.3). */
async function loadClasses(classes: Classes, manifest: ServerManifest, loader: ModuleLoader, modules: ReadonlySet<string>): Promise<void> {
  await Promise.all(
    manifest.classes.map(async (record) => {
      const file = modules.has(record.module) ? manifest.modules[record.module]?.file : undefined;
      if (file === undefined) return;
      classes.register(record, (await loader.import(file))[record.export]);
    }),
  );
}
