// Modules that configuration files name as middleware or health checks. A path inside the source
// folder means the built module, so the build has to make one.

import { relative, resolve } from "node:path";

import { readJson } from "../../../src/base/json.ts";
import { segmentFileEnding } from "../../../src/base/manifest.ts";
import { slashed } from "../../files/sources.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** Modules and segments that the configurations of an application name. */
export interface Configured {
  readonly modules: readonly SourceModule[];
  /** Segments that they have servers load, in production or in development. */
  readonly segments: ReadonlySet<string>;
}

/**
 * A configuration is a `.json` file with a `mode`, in the application folder or one folder below.
 * Its mistakes are reported by the start, which knows which file to use.
 */
export function configuredModules(files: readonly string[], modules: Modules): Configured {
  const { root, memory } = modules;
  const found = new Set<SourceModule>();
  const segments = new Set<string>();
  for (const file of files.filter(
    (path) => path.endsWith(".json") && !path.endsWith(segmentFileEnding),
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
  const { middleware, healthChecks, segments, nodes } = json as Readonly<Record<string, unknown>>;
  return {
    paths: textsIn([middleware, Object.values(healthChecks ?? {})]),
    segments: textsIn([segments, Object.values(nodes ?? {})]),
  };
}

function textsIn(values: readonly unknown[]): readonly string[] {
  return values.flat(2).filter((value): value is string => typeof value === "string");
}
