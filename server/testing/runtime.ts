// Gives application modules the runtime that the test kit uses, so that both share its error
// classes.

import type { Plugin } from "vite";

import { graphId } from "../compile/read/module-ids.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import { localGraphCode } from "../compile/plugin/graph-code.ts";
import type { ModuleRunnerOptions } from "../local/module-runner.ts";

const graphModule = "\0seamline:test-graph";

export const runtimePlugin: Plugin = {
  name: "seamline-testing",
  enforce: "pre",
  resolveId: {
    order: "pre",
    handler: (source) =>
      source === graphId || source === "seamline" || source === "seamline/client"
        ? graphModule
        : undefined,
  },
  load: {
    order: "pre",
    handler: (id) => (id === graphModule ? localGraphCode : undefined),
  },
};

/** Fills a module's exports from `own` if it imports the module. Otherwise runs the module. */
export function evaluateWith(
  own: ((file: string) => Promise<ModuleNamespace | undefined>) | undefined,
): ModuleRunnerOptions["evaluate"] {
  return async (module, exports, run) => {
    const namespace = module.id === module.file ? await own?.(module.file) : undefined;
    if (namespace === undefined) return await run();
    for (const name of Object.keys(namespace))
      Object.defineProperty(exports, name, {
        enumerable: true,
        configurable: true,
        get: () => namespace[name],
      });
  };
}
