// Modules that configuration files name as middleware or health checks: a path inside the source folder means its built
// module (decisions §6), so the build has to make one.

import { relative, resolve } from "node:path";

import { readJson } from "../../src/json.ts";
import { segmentFileEnding } from "../../src/segment.ts";
import { slashed } from "../sources.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** What the configurations of an application say of its build. */
export interface Configured {
  readonly modules: readonly SourceModule[];
  /** Segments that they have servers load, in production or in development. */
  readonly segments: ReadonlySet<string>;
}

/**
 * Chosen: a configuration is a `.json` file with a `mode`, in the application folder or one folder below. What is wrong in it is
 * for the start to tell, which knows the file that it was given.
 */
export function configuredModules(
  root: string,
  files: readonly string[],
  { modules, memory }: { modules: Modules; memory: FileMemory },
): Configured {
  const found = new Set<SourceModule>();
  const segments = new Set<string>();
  for (const file of files.filter(
    (one) => one.endsWith(".json") && !one.endsWith(segmentFileEnding),
  )) {
    const name = slashed(relative(root, file));
    if (name.split("/").length > 2) continue;
    const named = memory.of(file, "configured", () => namedIn(memory.text(file), name));
    for (const path of named.paths) {
      const module = modules.at(resolve(root, path));
      if (module !== undefined) found.add(module);
    }
    for (const segment of named.segments) segments.add(segment);
  }
  return { modules: [...found], segments };
}

interface Named {
  readonly paths: readonly string[];
  readonly segments: readonly string[];
}

function namedIn(text: string, file: string): Named {
  const read = readJson(text, file);
  // Some other tool's file: JSON with comments, for one.
  if ("broken" in read) return { paths: [], segments: [] };
  const json = read.value;
  if (
    typeof json !== "object" ||
    json === null ||
    typeof (json as { mode?: unknown }).mode !== "string"
  )
    return { paths: [], segments: [] };
  const { middleware, healthChecks, segments, layout } = json as Readonly<Record<string, unknown>>;
  return {
    paths: textsIn([middleware, Object.values(healthChecks ?? {})]),
    segments: textsIn([segments, Object.values(layout ?? {})]),
  };
}

function textsIn(values: readonly unknown[]): readonly string[] {
  return values.flat(2).filter((one): one is string => typeof one === "string");
}
