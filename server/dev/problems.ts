// The problems of a session, and errors that were thrown while a module was loaded as such.

import type { ServerManifest } from "../../src/base/manifest.ts";
import { formatProblem, type Problem, Problems } from "../../src/base/problem.ts";
import { bundlerProblems } from "../compile/write/problems.ts";
import { type LoadedModule, loadFailure, purposeOf } from "../modules/load-failure.ts";
import { parsePartId } from "../compile/read/module-ids.ts";
import type { DevEvent } from "./session.ts";

/**
 * `imports`: modules that browsers can't load, and names that no module exports. `types`: parameter types
 * that can't be read. These two don't hold a change back; only calls whose types can't be read are refused.
 */
type Source = "configuration" | "application" | "load" | "imports" | "types";

/**
 * The current problems by source, so that one in the configuration doesn't hide one in the
 * application. Each stays until it is fixed.
 */
export class ProblemList {
  readonly #bySource = new Map<Source, readonly Problem[]>();
  readonly #onEvent: (event: DevEvent) => void;
  readonly #warned = new Set<string>();
  #reported = "";

  constructor(onEvent: (event: DevEvent) => void) {
    this.#onEvent = onEvent;
  }

  get all(): readonly Problem[] {
    return [...this.#bySource.values()].flat();
  }

  of(source: Source): readonly Problem[] {
    return this.#bySource.get(source) ?? [];
  }

  /** Replaces the problems of one source, and reports all problems if anything has changed. */
  set(source: Source, problems: readonly Problem[]): void {
    this.#bySource.set(source, problems);
    const all = this.all;
    const text = all.map(formatProblem).join("\n");
    if (text === this.#reported) return;
    this.#reported = text;
    const isLive = all.length === this.of("imports").length + this.of("types").length;
    this.#onEvent(
      all.length > 0
        ? { kind: "problems", problems: all, ...(isLive && { isLive }) }
        : { kind: "mended" },
    );
  }

  /** Runs a change, and reports unchanged problems again. */
  async through(change: () => Promise<void>): Promise<void> {
    const before = this.#reported;
    await change();
    if (this.#reported === before && this.all.length > 0)
      this.#onEvent({ kind: "unsolved", problems: this.all });
  }

  /** Reports each warning once. */
  warn(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const text = formatProblem(problem);
      if (this.#warned.has(text)) continue;
      this.#warned.add(text);
      this.#onEvent({ kind: "warning", problem });
    }
  }
}

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

/** Wraps the error of a module that a runner has loaded; `id` is the module's. */
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
