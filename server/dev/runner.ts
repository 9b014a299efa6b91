// The modules of one node in development: an instance of each for every node, of the sources as they are now.

import type { CustomPayload, DevEnvironment, HotPayload } from "vite";
import type { EvaluatedModuleNode, ModuleRunner, ModuleRunnerContext } from "vite/module-runner";

import type { ServerManifest } from "../../src/manifest.ts";
import type { ModuleNamespace } from "../../src/ports.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import { commonJs } from "./common-js.ts";
import { partOfId, runtimeId } from "./ids.ts";
import { runFailure } from "./problem-of.ts";

type RunnerModule = typeof import("vite/module-runner");

export interface RunnerOptions {
  /** The application folder. */
  readonly root: string;
  readonly vite: RunnerModule;
  readonly environment: DevEnvironment;
  /** Given anew after each change. */
  readonly manifest: () => ServerManifest;
  /** What `seamline` is: the very package that runs the nodes. */
  readonly runtime: () => Promise<ModuleNamespace>;
}

export interface NodeModules extends ServerModules {
  /**
   * Has modules read again when they are next asked for: those with these ids, and all that import them. Gives the ids of all. What runs
   * keeps what it has.
   */
  outdate(ids: ReadonlySet<string>): ReadonlySet<string>;
  close(): Promise<void>;
}

/** Modules of a node of its own, in whatever state the sources are when they are first asked for. */
export function createNodeModules({
  root,
  vite,
  environment,
  manifest,
  runtime,
}: RunnerOptions): NodeModules {
  let heard: Parameters<NonNullable<ServerModules["onRun"]>>[0] | undefined;
  const runner: ModuleRunner = new vite.ModuleRunner(
    {
      transport: { invoke: async (data) => await answer(data) },
      // What is outdated is settled here, for all nodes alike: Vite's own messages suppose one runner for an environment.
      hmr: false,
      // Node's own reading of source maps is on for the whole process, and not for one node.
      sourcemapInterceptor: false,
    },
    new (class extends vite.ESModulesEvaluator {
      override async runInlinedModule(
        context: ModuleRunnerContext,
        code: string,
        module?: EvaluatedModuleNode,
      ): Promise<void> {
        await super.runInlinedModule(context, code);
        const exports = context[vite.ssrModuleExportsKey] as ModuleNamespace;
        // One that became outdated while it ran is followed by another of its kind.
        if (module === undefined || module.exports !== exports) return;
        const { file, part } = partOfId(module.id);
        if (part === undefined || part === "shared") await heard?.(file, exports);
      }
      override async runExternalModule(file: string): Promise<unknown> {
        return file === runtimeId ? await runtime() : await super.runExternalModule(file);
      }
    })(),
  );

  const answer = async (message: HotPayload): Promise<{ result: unknown } | { error: unknown }> => {
    try {
      const { name, data } = (message as CustomPayload).data as { name: string; data: unknown[] };
      return {
        result:
          name === "getBuiltins"
            ? builtinsOf(environment)
            : await fetch(...(data as Parameters<DevEnvironment["fetchModule"]>)),
      };
    } catch (error) {
      return { error };
    }
  };

  const fetch: DevEnvironment["fetchModule"] = async (id, importer, options) => {
    if (id.endsWith(runtimeId)) return { externalize: runtimeId, type: "module" };
    // What this runner has it keeps until it is told: Vite's word would be that of whichever runner asked first.
    if (options?.cached === true) return { cache: true };
    const found = await environment.fetchModule(id, importer, options);
    if (!("invalidate" in found)) return found;
    return commonJs(found) ?? { ...found, invalidate: false };
  };

  return {
    manifest: async () => manifest(),
    onRun: (listener) => void (heard = listener),
    async import(file) {
      try {
        return await runner.import<ModuleNamespace>(file);
      } catch (error) {
        throw runFailure(error, file, { root, manifest: manifest() });
      }
    },
    outdate(ids) {
      const { evaluatedModules } = runner;
      const found = new Set<string>();
      for (const id of ids) if (evaluatedModules.getModuleById(id) !== undefined) found.add(id);
      // A set hands out what is added while it is walked.
      for (const id of found) {
        const module = evaluatedModules.getModuleById(id);
        if (module === undefined) continue;
        for (const importer of module.importers) found.add(importer);
      }
      for (const id of found) {
        const module = evaluatedModules.getModuleById(id);
        if (module !== undefined) evaluatedModules.invalidateModule(module);
      }
      return found;
    },
    close: async () => await runner.close(),
  };
}

function builtinsOf(environment: DevEnvironment): unknown {
  return environment.config.resolve.builtins.map((one) =>
    typeof one === "string"
      ? { type: "string", value: one }
      : { type: "RegExp", source: one.source, flags: one.flags },
  );
}
