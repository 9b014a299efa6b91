// Wraps the modules of a node or page, so that a test can fake every procedure and see its callers.

import { entryOf, type ProcedureRecord } from "../../../src/base/manifest.ts";
import type { ModuleNamespace } from "../../../src/base/ports.ts";
import { type FakeProcedure, standIn } from "../../../src/roles/application/fake-modules.ts";
import type { ServerModules } from "../../../src/roles/application/application.ts";
import type { ProcedureFunction } from "../../../src/runtime/procedure-function.ts";
import type { Graph } from "../../../src/runtime/seam.ts";
import { waiting } from "../../../src/runtime/stream.ts";
import type { CallRecorder } from "./calls.ts";
import type { FakeRegistry } from "./fakes.ts";
import { adopted, type RealmClasses } from "./realm.ts";

export interface Instruments {
  readonly where: string;
  readonly segments: readonly string[];
  readonly fakes: FakeRegistry;
  readonly recorder: CallRecorder;
  /** The classes of this graph, and those of the test, which fakes use. */
  readonly classes: { readonly here: RealmClasses; readonly test: RealmClasses };
}

export function instrumented(modules: ServerModules, instruments: Instruments): ServerModules {
  const { where, segments, fakes, recorder, classes } = instruments;

  /** Runs a fake in the realm of the test, so that `toBeInstanceOf` holds on both sides. */
  const translatedStream = (fake: FakeProcedure): FakeProcedure =>
    async function* (this: never, ...args: never[]) {
      const { here, test } = classes;
      const translatedArgs = (await adopted(args, here, test)) as never[];
      try {
        // `standIn` describes the value if it isn't a list of items.
        for await (const item of (await fake.apply(this, translatedArgs)) as AsyncIterable<unknown>)
          yield await adopted(item, test, here);
      } catch (thrown) {
        throw await adopted(thrown, test, here);
      }
    } as never;
  const translated = (fake: FakeProcedure): FakeProcedure =>
    async function (...args) {
      const translatedArgs = (await adopted(args, classes.here, classes.test)) as typeof args;
      try {
        return await adopted(await fake.apply(this, translatedArgs), classes.test, classes.here);
      } catch (thrown) {
        throw await adopted(thrown, classes.test, classes.here);
      }
    };

  const wrap = (record: ProcedureRecord, graph: Graph, body: Body): ProcedureFunction => {
    const { fqn, version } = record;
    const isStream = record.stream === true;
    return function (this: unknown, ...args) {
      const fake = fakes.take(record);
      const run =
        fake === undefined
          ? body.procedure(record)
          : standIn(record, graph, (isStream ? translatedStream : translated)(fake));
      const call = { fqn, version, where, args, faked: fake !== undefined };
      return isStream
        ? (recorder.recordStream(call, run, this) as never)
        : recorder.record(call, run, this);
    };
  };

  return {
    manifest: modules.manifest,
    async import(file) {
      const manifest = await modules.manifest();
      const held = new Set(
        segments.flatMap((name) =>
          (entryOf(manifest.segments, name) ?? []).map((entry) => entry.procedure),
        ),
      );
      const all = manifest.procedures.filter(
        (record) => entryOf(manifest.modules, record.module)?.body === file,
      );
      if (all.length === 0) return await modules.import(file);
      const graph = (await modules.import(manifest.graph)) as ModuleNamespace & Graph;
      const body = new Body(async () => await modules.import(file));
      const needed = all.filter((record) => held.has(manifest.procedures.indexOf(record)));
      // A body whose procedures are all faked isn't loaded: it may need what the test lacks, such
      // as a database.
      if (!needed.every((record) => fakes.has(record))) await body.load();
      const routes = segments
        .flatMap((name) => entryOf(manifest.routes ?? {}, name) ?? [])
        .filter(({ module }) => entryOf(manifest.modules, module)?.body === file);
      const whole = routes.length === 0 ? {} : await modules.import(file);
      return Object.fromEntries([
        ...all.map((record) => [record.export, wrap(record, graph, body)] as const),
        // Routes aren't called by procedures, so there is nothing to fake or to record.
        ...routes.map((route) => [route.export, whole[route.export]] as const),
      ]);
    },
  };
}

/** The code of procedures, loaded on first use. */
class Body {
  readonly #import: () => Promise<ModuleNamespace>;
  #loading: Promise<ModuleNamespace> | undefined;
  #loaded: ModuleNamespace | undefined;

  constructor(load: () => Promise<ModuleNamespace>) {
    this.#import = load;
  }

  async load(): Promise<ModuleNamespace> {
    this.#loaded = await (this.#loading ??= this.#import());
    return this.#loaded;
  }

  /** The function itself once it is loaded, because it must then run synchronously. */
  procedure(record: ProcedureRecord): ProcedureFunction {
    const { export: name } = record;
    const found = this.#loaded?.[name] as ProcedureFunction | undefined;
    if (found !== undefined) return found;
    const load = async (): Promise<ModuleNamespace> => await this.load();
    return waiting(record, async function (this: unknown, ...args) {
      return await ((await load())[name] as ProcedureFunction).apply(this, args);
    });
  }
}
