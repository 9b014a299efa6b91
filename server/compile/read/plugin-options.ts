// The options of the Vite plugin, checked like configuration keys, as a configuration in JavaScript
// has no types.

import { type Problem, Problems, nearest } from "../../../src/base/problem.ts";
import { type BuildKey, buildKeys } from "../../config/build-settings.ts";
import { parseConfig } from "../../config/config.ts";
import type { RepositoryInput } from "../../config/config-types.ts";

/** Options of the Vite plugin: some keys of configurations, and two of its own. Paths are relative to the application folder. */
export interface SeamlineOptions extends Pick<RepositoryInput, BuildKey | "nodes"> {
  /** The application folder [Vite's root]. */
  readonly root?: string | undefined;
  /**
   * Under Vitest nothing is split, so unit tests call functions themselves; "split" changes that.
   */
  readonly test?: "split" | undefined;
}

// Options that configuration files have as well.
const shared: readonly string[] = [...buildKeys, "nodes"];
const names: readonly string[] = ["root", ...shared, "test"];
const file = "seamline() of the Vite configuration";

/** Throws {@link Problems} with every mistake in `options`. */
export function refuseWrongOptions(options: SeamlineOptions): void {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const problems: Problem[] = [];
  for (const path of Object.keys(values).filter((name) => !names.includes(name))) {
    const near = nearest(path, names);
    const hint = near === undefined ? `Known here: ${names.join(", ")}` : `Did you mean '${near}'?`;
    problems.push({ file, path, message: "unknown option", hint });
  }
  const { root, test } = values;
  if (root !== undefined && typeof root !== "string")
    problems.push({ file, path: "root", message: "expected the path of a folder" });
  if (test !== undefined && test !== "split")
    problems.push({ file, path: "test", message: "expected 'split' or no value" });
  const configured = shared
    .filter((name) => values[name] !== undefined)
    .map((name) => [name, values[name]]);
  try {
    parseConfig(
      { mode: "standalone", url: "http://127.0.0.1:0", ...Object.fromEntries(configured) },
      file,
      { root: "/", env: {} },
    );
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    problems.push(...error.problems);
  }
  if (problems.length > 0) throw new Problems(problems);
}
