// Vite's module runner with the runtime of the test kit: each runner is a graph of modules of its own.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { HotPayload, Plugin, RunnableDevEnvironment } from "vite";
import type { ModuleEvaluator, ModuleRunner } from "vite/module-runner";

import type { ModuleNamespace } from "../../src/ports.ts";
import { graphId } from "../build/cut.ts";
import { commonJs } from "../dev/common-js.ts";
import * as core from "../main.ts";

const placeId = "\0seamline:place";
// An address that no package has, so that no resolver takes it for one: the evaluator knows what is meant.
const coreAddress = "data:text/javascript,seamline";

/** Gives each graph the runtime that the test kit itself runs on, so that both have the same classes of errors. */
export const runtimePlugin: Plugin = {
  name: "seamline-testing",
  enforce: "pre",
  resolveId: {
    order: "pre",
    handler: (source) =>
      source === graphId || source === "seamline" || source === "seamline/client"
        ? placeId
        : undefined,
  },
  load: {
    order: "pre",
    handler: (id) =>
      id === placeId
        ? `export * from "${coreAddress}";
import { createGraph } from "${coreAddress}";
const graph = createGraph();
export const { seam, traced, context, runProcedure, bind } = graph;
`
        : undefined,
  },
};

export type Runner = typeof import("vite/module-runner");

/** The module runner of the application's own Vite. */
export async function loadRunner(root: string): Promise<Runner> {
  const require = createRequire(join(root, "package.json"));
  let file: string;
  try {
    file = require.resolve("vite/module-runner");
  } catch {
    // As with Vite itself: a workspace may keep it beside Seamline only.
    return await import("vite/module-runner");
  }
  return (await import(pathToFileURL(file).href)) as Runner;
}

function createEvaluator(
  { ESModulesEvaluator, ssrModuleExportsKey }: Runner,
  own: ((file: string) => Promise<ModuleNamespace | undefined>) | undefined,
): ModuleEvaluator {
  const plain = new ESModulesEvaluator();
  return {
    startOffset: plain.startOffset,
    async runInlinedModule(context, code, module) {
      const namespace = module.id === module.file ? await own?.(module.file) : undefined;
      if (namespace === undefined) return await plain.runInlinedModule(context, code);
      const exports = context[ssrModuleExportsKey] as object;
      for (const name of Object.keys(namespace))
        Object.defineProperty(exports, name, {
          enumerable: true,
          configurable: true,
          get: () => namespace[name],
        });
      return undefined;
    },
    runExternalModule: async (file: string) =>
      file === coreAddress ? core : await plain.runExternalModule(file),
  };
}

/** A new graph. `own` may give a module in place of the one that would be run. */
export function createRunner(
  runtime: Runner,
  environment: RunnableDevEnvironment,
  own: ((file: string) => Promise<ModuleNamespace | undefined>) | undefined,
): ModuleRunner {
  return new runtime.ModuleRunner(
    {
      // Vite's own way counts listeners, and never lets one go.
      transport: { invoke: async (message) => await answered(environment, message) },
      hmr: false,
      createImportMeta: runtime.createNodeImportMeta,
    },
    createEvaluator(runtime, own),
  );
}

/** What a runner asks of the environment whose modules it runs. */
async function answered(
  environment: RunnableDevEnvironment,
  { data }: HotPayload & { data?: unknown },
): Promise<Answered> {
  try {
    const asked = data as { name: string; data: Parameters<RunnableDevEnvironment["fetchModule"]> };
    if (asked.name === "fetchModule") {
      const found = await environment.fetchModule(...asked.data);
      return { result: ("invalidate" in found ? commonJs(found) : undefined) ?? found };
    }
    const { builtins } = environment.config.resolve;
    const named = (one: string | RegExp): object =>
      typeof one === "string"
        ? { type: "string", value: one }
        : { type: "RegExp", source: one.source, flags: one.flags };
    return { result: builtins.map(named) };
  } catch (error) {
    return { error };
  }
}

type Answered = { readonly result: unknown } | { readonly error: unknown };
