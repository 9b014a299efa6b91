// The modules of one node in development: each node has its own instances of the current sources.

import type { DevEnvironment } from "vite";

import { parsePartId } from "../compile/read/module-ids.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import type { Log, ModuleNamespace } from "../../src/base/ports.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { StopCallbacks } from "../../src/runtime/stop-callbacks.ts";
import { createStops, whileLoading } from "../host/stops.ts";
import { createModuleRunner } from "../local/module-runner.ts";
import { runFailure } from "./problems.ts";

export interface LiveModulesOptions {
  /** The application folder. */
  readonly root: string;
  readonly vite: typeof import("vite/module-runner");
  readonly environment: DevEnvironment;
  /** The current manifest, which each change replaces. */
  readonly manifest: () => ServerManifest;
  readonly runtime: () => Promise<ModuleNamespace>;
  /** Resolves when the calls have ended that run now, or after a while. */
  readonly callsEnded: () => Promise<void>;
  readonly log: Log;
}

export interface LiveModules extends ServerModules {
  /**
   * Makes the next import reload the modules with these ids and all their importers. Returns the
   * ids of all of them. Running code keeps its instances.
   */
  invalidate(ids: ReadonlySet<string>): ReadonlySet<string>;
  close(): Promise<void>;
}

export function createLiveModules({
  root,
  manifest,
  callsEnded,
  log,
  ...parts
}: LiveModulesOptions): LiveModules {
  /** By the id of a module: its callbacks of `onStop`, in the order in which modules ran. */
  const stops = new Map<string, StopCallbacks>();
  let onRun: Parameters<NonNullable<ServerModules["onRun"]>>[0] | undefined;
  const runner = createModuleRunner({
    ...parts,
    hasSourceMaps: true,
    async evaluate(module, exports, run) {
      const previous = stops.get(module.id);
      if (previous?.isEmpty === false) {
        await callsEnded();
        await previous.run(log);
      }
      const own = createStops();
      stops.delete(module.id);
      stops.set(module.id, own);
      await whileLoading(own, run);
      // It was invalidated while it ran, so it will run again.
      if (module.exports !== exports) return;
      const { file, part } = parsePartId(module.id);
      if (part === undefined || part === "shared") await onRun?.(file, exports);
    },
  });
  return {
    manifest: async () => manifest(),
    onRun: (listener) => void (onRun = listener),
    async import(file) {
      try {
        return await runner.import<ModuleNamespace>(file);
      } catch (error) {
        throw runFailure(error, file, { root, manifest: manifest() });
      }
    },
    invalidate(ids) {
      const { evaluatedModules } = runner;
      const found = new Set<string>();
      for (const id of ids) if (evaluatedModules.getModuleById(id) !== undefined) found.add(id);
      // The loop also visits the ids that it adds.
      for (const id of found)
        for (const importer of evaluatedModules.getModuleById(id)?.importers ?? [])
          found.add(importer);
      for (const id of found) {
        const module = evaluatedModules.getModuleById(id);
        if (module !== undefined) evaluatedModules.invalidateModule(module);
      }
      return found;
    },
    async close() {
      for (const callbacks of [...stops.values()].toReversed()) await callbacks.run(log);
      stops.clear();
      await runner.close();
    },
  };
}
