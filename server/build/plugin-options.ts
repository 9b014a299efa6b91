// Options of the Vite plugin are checked as the keys of a configuration that they are: who writes JavaScript has no types that would.

import { type Problem, Problems, nearest } from "../../src/problem.ts";
import { parseConfig } from "../config.ts";

/** Options of the Vite plugin. Paths are relative to the application folder. */
export interface SeamlineOptions {
  /** The application folder [Vite's root]. */
  readonly root?: string | undefined;
  /** Module paths of segment files start here [./src]. */
  readonly source?: string | undefined;
  /** The page, looked up in the source folder and then in the application folder [index.html]. */
  readonly index?: string | undefined;
  /** Segments that browsers may load [those that the application's pages start]. */
  readonly clients?: readonly string[] | undefined;
  /** Globs, relative to `source`, of further modules that browsers may import. */
  readonly clientModules?: readonly string[] | undefined;
  /** In development: nodes, and the segments that each holds [a node for each segment that is not for browsers alone]. */
  readonly layout?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Under Vitest nothing is split, so that unit tests call their functions; with "split" it is. */
  readonly test?: "split" | undefined;
}

// What a configuration says of an application, and the plugin as well.
const shared = ["source", "index", "clients", "clientModules", "layout"] as const;
const names: readonly string[] = [
  "root",
  ...shared,
  "test",
] satisfies readonly (keyof SeamlineOptions)[];
const file = "seamline() of the Vite configuration";

/** Throws {@link Problems} with all that is wrong in `options`. */
export function refuseWrongOptions(options: SeamlineOptions): void {
  const given: Readonly<Record<string, unknown>> = { ...options };
  const problems: Problem[] = [];
  for (const path of Object.keys(given).filter((name) => !names.includes(name))) {
    const near = nearest(path, names);
    const hint = near === undefined ? `Known here: ${names.join(", ")}` : `Did you mean '${near}'?`;
    problems.push({ file, path, message: "unknown option", hint });
  }
  const { root, test } = given;
  if (root !== undefined && typeof root !== "string")
    problems.push({ file, path: "root", message: "expected the path of a folder" });
  if (test !== undefined && test !== "split")
    problems.push({ file, path: "test", message: "expected 'split', or that it is left out" });
  const said = shared
    .filter((name) => given[name] !== undefined)
    .map((name) => [name, given[name]]);
  try {
    parseConfig(
      { mode: "standalone", url: "http://127.0.0.1:0", ...Object.fromEntries(said) },
      file,
      { root: "/", env: {} },
    );
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    problems.push(...error.problems);
  }
  if (problems.length > 0) throw new Problems(problems);
}
