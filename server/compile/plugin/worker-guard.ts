// Bundles of workers: Vite builds them separately, and nothing in them is split.

import { relative } from "node:path";

import type { Plugin } from "vite";

import type { Problem } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import type { ApplicationReader } from "../application-reader.ts";
import { inWorker } from "../rules/leaks.ts";
import type { Findings } from "../write/findings.ts";
import { clientAddress } from "../write/page-base.ts";

/**
 * A worker is a node like a page, so it loads the same runtime from the same URL; a bundled copy
 * would be a second one, and never started.
 */
export function workerGuard(reader: ApplicationReader, findings: Findings): Plugin {
  return {
    name: "seamline:worker",
    enforce: "pre",
    resolveId: {
      order: "pre",
      handler(source, importer) {
        if (source !== "seamline" && source !== "seamline/client") return undefined;
        // Classic scripts, Vite's default for workers, have no imports.
        if (this.environment.getTopLevelConfig().worker.format !== "es")
          throw findings.fail([noModule(importer ?? source, source, reader)]);
        return { id: clientAddress(this.environment), external: "absolute" };
      },
    },
    async load(id) {
      const application = await reader.application(this.environment);
      const file = id.replace(/\?.*$/, "");
      if (reader.isSplit(file, application)) throw findings.fail([inWorker(file, reader)]);
    },
  };
}

function noModule(
  importer: string,
  source: string,
  { root }: Pick<ApplicationReader, "root">,
): Problem {
  return {
    file: slashed(relative(root, importer.replace(/\?.*$/, ""))),
    message: `a worker imports "${source}", but Vite builds workers as classic scripts, which can't import the runtime`,
    hint: 'Set worker: { format: "es" } in the Vite configuration, and start it with new Worker(url, { type: "module" })',
  };
}
