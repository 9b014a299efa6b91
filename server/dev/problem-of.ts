// What a module threw while it was loaded, as a problem with its place: the same form as a mistake in the source.

import type { ServerManifest } from "../../src/manifest.ts";
import { type Problem, Problems } from "../../src/problem.ts";
import { bundlerProblems } from "../build/problems.ts";
import { type LoadedModule, loadFailure, purposeOf } from "../load-failure.ts";
import { partOfId } from "./ids.ts";

/** What can't be loaded, as problems. */
export function loadProblems(thrown: unknown, module: LoadedModule): readonly Problem[] {
  if (thrown instanceof Problems) return thrown.problems;
  const { problems, id, loc } = (thrown ?? {}) as {
    problems?: readonly Problem[];
    id?: string;
    loc?: object;
  };
  // A message between runner and server carries what an error holds, but not its class.
  if (Array.isArray(problems)) return problems;
  if (id !== undefined || loc !== undefined) return bundlerProblems(thrown, module.root);
  return loadFailure(thrown, module).problems;
}

/** The error in the place of what a module threw that a runner was to load; `id` is the module's. */
export function runFailure(
  thrown: unknown,
  id: string,
  { root, manifest }: { readonly root: string; readonly manifest: ServerManifest },
): Problems {
  const module = { root, file: partOfId(id).file, purpose: purposeOf(id, manifest) };
  const failure = Object.assign(new Problems(loadProblems(thrown, module)), { cause: thrown });
  // Where it is told of says nothing; what was thrown has a stack of its own.
  failure.stack = failure.message;
  return failure;
}

/** The file that went between its being listed and its being read: one change more, and no end of the session. Else it throws again. */
export function goneFile(thrown: unknown): string {
  const { code, path } = thrown as NodeJS.ErrnoException;
  if (code !== "ENOENT" || path === undefined) throw thrown;
  return path;
}
