// The modules of a place, with every procedure where a test can put a fake in its stead and see who called it.

import { entryOf, type ProcedureRecord } from "../../src/manifest.ts";
import type { ModuleNamespace } from "../../src/ports.ts";
import { type FakeProcedure, standIn } from "../../src/roles/fake-modules.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import type { Graph, Procedure } from "../../src/seam.ts";
import type { CallRecorder } from "./calls.ts";
import type { FakeRegistry } from "./fakes.ts";
import { adopted, type RealmClasses } from "./realm.ts";

export interface Instruments {
  readonly where: string;
  readonly segments: readonly string[];
  readonly fakes: FakeRegistry;
  readonly recorder: CallRecorder;
  /** Of this place, and of the test, in which fakes are written. */
  readonly classes: { readonly here: RealmClasses; readonly test: RealmClasses };
}

export function instrumented(modules: ServerModules, instruments: Instruments): ServerModules {
  const { where, segments, fakes, recorder, classes } = instruments;

  /** In the realm of the test, whatever the place: `toBeInstanceOf` holds on both sides. */
  const translated = (fake: FakeProcedure): FakeProcedure =>
    async function (...args) {
      const given = (await adopted(args, classes.here, classes.test)) as typeof args;
      try {
        return await adopted(await fake.apply(this, given), classes.test, classes.here);
      } catch (thrown) {
        throw await adopted(thrown, classes.test, classes.here);
      }
    };

  const entrance = (record: ProcedureRecord, graph: Graph, body: Body): Procedure => {
    const { fqn, version } = record;
    return function (this: unknown, ...args) {
      const fake = fakes.take(record);
      const run =
        fake === undefined
          ? body.procedure(record.export)
          : standIn(record, graph, translated(fake));
      return recorder.record({ fqn, version, where, args, faked: fake !== undefined }, run, this);
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
      // Where all of it is faked it is left alone: a test fakes what it can't have, a database for one.
      if (!needed.every((record) => fakes.has(record))) await body.load();
      return Object.fromEntries(
        all.map((record) => [record.export, entrance(record, graph, body)]),
      );
    },
  };
}

/** The code of procedures, loaded when it is first wanted. */
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

  /** As it stands there, if it has been loaded: it has to run in the moment in which it is called. */
  procedure(name: string): Procedure {
    const found = this.#loaded?.[name] as Procedure | undefined;
    if (found !== undefined) return found;
    const load = async (): Promise<ModuleNamespace> => await this.load();
    return async function (this: unknown, ...args) {
      return await ((await load())[name] as Procedure).apply(this, args);
    };
  }
}
