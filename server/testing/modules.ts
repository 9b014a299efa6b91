// The modules of a test cluster: each node, the page and the test have their own graph and classes.

import { procedureNotFound } from "../../src/base/fqn.ts";
import { entryOf, type ProcedureRecord } from "../../src/base/manifest.ts";
import type { Log, ModuleNamespace } from "../../src/base/ports.ts";
import { nearest } from "../../src/base/problem.ts";
import { fakeModules } from "../../src/roles/application/fake-modules.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { StopCallbacks } from "../../src/runtime/stop-callbacks.ts";
import type { Side } from "../compile/cut/cut.ts";
import { createStops, whileLoading } from "../host/stops.ts";
import type { OwnImporter, TestApplication } from "./application.ts";
import type { CallRecorder } from "./fakes/calls.ts";
import type { FakeRegistry } from "./fakes/fakes.ts";
import { instrumented } from "./fakes/instrumented.ts";
import { RealmClasses } from "./fakes/realm.ts";
import type { TestClock } from "./test-clock.ts";

export interface ModuleGraph {
  readonly modules: ServerModules;
  readonly classes: RealmClasses;
}

export interface ClusterModulesOptions {
  readonly application: TestApplication;
  readonly clock: TestClock;
  readonly log: Log;
  readonly recorder: CallRecorder;
  readonly fakes: FakeRegistry;
  readonly own: OwnImporter | undefined;
}

export class ClusterModules {
  readonly #options: ClusterModulesOptions;
  /** The modules' `onStop` callbacks, in the order in which their services were made. */
  readonly #stops = new Map<ServerModules, StopCallbacks>();
  #test: ModuleGraph | undefined;

  constructor(options: ClusterModulesOptions) {
    this.#options = options;
  }

  /** The modules of the test, with the classes that the test imports itself. */
  ofTest(): ModuleGraph {
    return (this.#test ??= this.#graph("server", this.#options.own));
  }

  /** The modules of a gateway. */
  ofServer(): ServerModules {
    return this.#modules("server");
  }

  ofNode(name: string, segments: readonly string[]): ServerModules {
    const graph = this.#graph("server");
    const { modules } = this.#instrumented(graph, name, segments);
    this.#stops.set(modules, this.#stops.get(graph.modules)!);
    this.#stops.delete(graph.modules);
    return modules;
  }

  /** Runs what the modules of a service, or of all that are left, passed to `onStop`. */
  async stop(modules?: ServerModules): Promise<void> {
    const ending = modules === undefined ? [...this.#stops.keys()].toReversed() : [modules];
    for (const key of ending) {
      const stops = this.#stops.get(key);
      this.#stops.delete(key);
      await stops?.run(this.#options.log);
    }
  }

  /** The service ended like in a power cut. */
  forget(modules: ServerModules): void {
    this.#stops.delete(modules);
  }

  /**
   * The modules of the page. It shares the test's classes, so that the test can check its values.
   */
  ofPage(segments: readonly string[]): ModuleGraph {
    return this.#instrumented(this.#graph("browser", this.#options.own), "page", segments);
  }

  /** Modules with only the fakes of these procedures, which no node holds. */
  ofFakes(records: readonly ProcedureRecord[]): ServerModules {
    const { application, fakes, recorder } = this.#options;
    return fakeModules({
      manifest: application.manifests.server,
      guarded: true,
      fakeOf: (record) =>
        !records.includes(record)
          ? undefined
          : async function (...args) {
              const { fqn, version } = record;
              const fake = fakes.take(record);
              if (fake === undefined) throw procedureNotFound(fqn, version);
              const call = { fqn, version, where: "fakes", args, faked: true };
              return await recorder.record(call, fake as never, this);
            },
      import: this.ofTest().modules.import,
    });
  }

  /** A module by its path in the source folder. */
  async import(path: string, modules: ServerModules): Promise<ModuleNamespace> {
    const sources = this.#options.application.read.modules;
    const module = sources.find(path);
    if (module === undefined) {
      const meant = nearest(
        path,
        [...sources.ids].map((id) => `./${id}`),
      );
      throw new Error(
        `'${path}' is not a module of the source folder${meant === undefined ? "" : `; did you mean '${meant}'?`}`,
      );
    }
    const manifest = await modules.manifest();
    return await modules.import(entryOf(manifest.modules, module.id)?.file ?? module.file);
  }

  #instrumented(
    { modules, classes }: ModuleGraph,
    where: string,
    segments: readonly string[],
  ): ModuleGraph {
    const { fakes, recorder } = this.#options;
    const test = this.ofTest().classes;
    const parts = { where, segments, fakes, recorder, classes: { here: classes, test } };
    return { modules: instrumented(modules, parts), classes };
  }

  #graph(side: Side, own?: OwnImporter): ModuleGraph {
    const { application, log } = this.#options;
    const modules = this.#modules(side, own);
    return { modules, classes: new RealmClasses(modules, application.manifests[side], log) };
  }

  #modules(side: Side, own?: OwnImporter): ServerModules {
    const { application, clock } = this.#options;
    const modules = application.modules(side, own);
    const stops = createStops();
    const tracked: ServerModules = {
      ...modules,
      // Makes the stopped clock wait for loading modules.
      import: async (file) =>
        await clock.track(whileLoading(stops, async () => await modules.import(file))),
    };
    // In a page nothing calls them.
    if (side === "server") this.#stops.set(tracked, stops);
    return tracked;
  }
}
