// The modules of one node in development: each node has its own instances of the current sources.

import type { DevEnvironment } from "vite";

import { parsePartId } from "../../build/modules/module-ids.ts";
import type { ServerManifest } from "../../../src/base/manifest.ts";
import type { ModuleNamespace } from "../../../src/base/ports.ts";
import type { ServerModules } from "../../../src/roles/application.ts";
import { createModuleRunner } from "../../local/module-runner.ts";
import { runFailure } from "./problem-of.ts";

export interface LiveModulesOptions {
  /** The application folder. */
  readonly root: string;
  readonly vite: typeof import("vite/module-runner");
  readonly environment: DevEnvironment;
  /** The current manifest, which each change replaces. */
  readonly manifest: () => ServerManifest;
  readonly runtime: () => Promise<ModuleNamespace>;
}

export interface LiveModules extends ServerModules {
  /**
   * Makes the next import reload the modules with these ids and all their importers. Returns the
   * ids of all of them. Running code keeps its instances.
   */
  invalidate(ids: ReadonlySet<string>): ReadonlySet<string>;
  close(): Promise<void>;
}

export function createLiveModules({ root, manifest, ...parts }: LiveModulesOptions): LiveModules {
  let onRun: Parameters<NonNullable<ServerModules["onRun"]>>[0] | undefined;
  const runner = createModuleRunner({
    ...parts,
    hasSourceMaps: true,
    async evaluate(module, exports, run) {
      await run();
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
      // The loop also visits what it adds.
      for (const id of found)
        for (const importer of evaluatedModules.getModuleById(id)?.importers ?? [])
          found.add(importer);
      for (const id of found) {
        const module = evaluatedModules.getModuleById(id);
        if (module !== undefined) evaluatedModules.invalidateModule(module);
      }
      return found;
    },
    close: async () => await runner.close(),
  };
}
