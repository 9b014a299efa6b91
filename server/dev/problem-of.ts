// Turns an error thrown while a module was loaded into a problem with file and line.

import type { ServerManifest } from "../../src/base/manifest.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import { bundlerProblems } from "../compile/write/problems.ts";
import { type LoadedModule, loadFailure, purposeOf } from "../modules/load-failure.ts";
import { parsePartId } from "../compile/modules/module-ids.ts";

/** Why modules can't be loaded, as problems. */
export function loadProblems(thrown: unknown, module: LoadedModule): readonly Problem[] {
  if (thrown instanceof Problems) return thrown.problems;
  const { problems, id, loc } = (thrown ?? {}) as {
    problems?: readonly Problem[];
    id?: string;
    loc?: object;
  };
  // A message between runner and server carries the fields of an error, but not its class.
  if (Array.isArray(problems)) return problems;
  if (id !== undefined || loc !== undefined) return bundlerProblems(thrown, module.root);
  return loadFailure(thrown, module).problems;
}

/** Wraps what a module threw while a runner loaded it; `id` is the module's. */
export function runFailure(
  thrown: unknown,
  id: string,
  { root, manifest }: { readonly root: string; readonly manifest: ServerManifest },
): Problems {
  const module = { root, file: parsePartId(id).file, purpose: purposeOf(id, manifest) };
  const failure = Object.assign(new Problems(loadProblems(thrown, module)), { cause: thrown });
  // The stack of the cause is the one that helps.
  failure.stack = failure.message;
  return failure;
}

/**
 * The file that was removed after it was listed and before it was read: one more change, not a
 * failure. Rethrows other errors.
 */
export function goneFile(thrown: unknown): string {
  const { code, path } = thrown as NodeJS.ErrnoException;
  if (code !== "ENOENT" || path === undefined) throw thrown;
  return path;
}
