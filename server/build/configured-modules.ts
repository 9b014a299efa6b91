// Modules that configuration files name as middleware or health checks: a path inside the source folder means its built
// module (decisions §6), so the build has to make one.

import { relative, resolve } from "node:path";

import { readJson } from "../../src/json.ts";
import { segmentFileEnding } from "../../src/segment.ts";
import { slashed } from "../sources.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";

/**
 * Chosen: a configuration is a `.json` file with a `mode`, in the application folder or one folder below. What is wrong in it is
 * for the start to tell, which knows the file that it was given.
 */
export function configuredModules(
  root: string,
  files: readonly string[],
  { modules, memory }: { modules: Modules; memory: FileMemory },
): readonly SourceModule[] {
  const found = new Set<SourceModule>();
  for (const file of files.filter((one) => one.endsWith(".json") && !one.endsWith(segmentFileEnding))) {
    const name = slashed(relative(root, file));
    if (name.split("/").length > 2) continue;
    for (const path of memory.of(file, "configured", () => pathsIn(memory.text(file), name))) {
      const module = modules.at(resolve(root, path));
      if (module !== undefined) found.add(module);
    }
  }
  return [...found];
}

function pathsIn(text: string, file: string): readonly string[] {
  const read = readJson(text, file);
  // Some other tool's file: JSON with comments, for one.
  if ("broken" in read) return [];
  const json = read.value;
  if (typeof json !== "object" || json === null || typeof (json as { mode?: unknown }).mode !== "string") return [];
  const { middleware, healthChecks } = json as { middleware?: unknown; healthChecks?: unknown };
  const named = [...(Array.isArray(middleware) ? middleware : []), ...Object.values(healthChecks ?? {})] as unknown[];
  return named.filter((one): one is string => typeof one === "string");
}
