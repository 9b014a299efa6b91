// The application whose calls a service runs or passes on: its manifest and classes.

import { NodeNotAvailable } from "../../base/errors.ts";
import { procedureKey } from "../../base/fqn.ts";
import {
  entryOf,
  type ClassRecord,
  type ProcedureRecord,
  type ServerManifest,
} from "../../base/manifest.ts";
import {
  type Clock,
  type Host,
  type ModuleLoader,
  type ModuleNamespace,
  ModulesUnavailable,
} from "../../base/ports.ts";
import type { ClassTable } from "../../codec/class-table.ts";
import { Classes } from "../../codec/classes.ts";
import { patienceMs } from "../common/times.ts";

/** The modules of a server's build. */
export interface ServerModules extends ModuleLoader {
  manifest(): Promise<ServerManifest>;
  /**
   * Only where modules run again when their sources change. Calls and awaits `listener` after each
   * module has run, before its importers run. For a split module, that is after its shared part.
   */
  onRun?(listener: (file: string, exports: ModuleNamespace) => Promise<void>): void;
}

/**
 * Loads the application's other classes when a message first names one. Looks names up among the
 * classes that the build recorded, never as paths. `undefined` if there are none.
 */
export function namedClasses(
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

/** A gateway's or proxy's view of the application, so that its middleware sees real values. */
export interface Application {
  /** Empty until a value needs a class. */
  readonly classes: Classes;
  /** The manifest's record, which gives the values of a GET their types. */
  procedure(fqn: string, version: string): Promise<ProcedureRecord | undefined>;
  /** Whether a segment declares the procedure safe: pages of other origins may call it. */
  isSafe(fqn: string, version: string): Promise<boolean>;
}

/**
 * Fetches the manifest, and loads all classes that may travel when a call first needs them. Classes of pages are
 * only loaded if a message has an instance.
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
      const cancel = clock.after(patienceMs.application, () => reject(unavailable()));
      void running
        .then(resolve, (cause: unknown) => reject(unavailable({ cause })))
        .finally(cancel);
    });
  };
  return () => (current ??= start());
}

/**
 * Registers a class, so that its instances can travel. If its module throws, logs and refuses them.
 */
export async function loadClass(
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
