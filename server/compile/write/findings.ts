// Collects the mistakes that a build finds and throws them at its end: the bundler would stop at
// the first.

import { type Problem, Problems } from "../../../src/base/problem.ts";
import type { NodeImport } from "../rules/server-only.ts";

export class Findings {
  /** Mistakes in the application's own code, in the environment that is being built. */
  readonly mistakes: Problem[] = [];
  readonly warnings: Problem[] = [];
  /** Imports of Node's modules in pages. */
  readonly nodeImports: NodeImport[] = [];
  #thrown: readonly Problem[] = [];

  /** Thrown since {@link startEnvironment}. They replace the bundler's own error. */
  get thrown(): readonly Problem[] {
    return this.#thrown;
  }

  /** Forgets the mistakes of the environment that was built before. */
  startEnvironment(): void {
    this.#thrown = [];
    this.mistakes.length = 0;
  }

  /** Returns an error to throw to the bundler, and records its problems. */
  fail(problems: readonly Problem[]): Problems {
    this.#thrown = [...this.#thrown, ...problems];
    return new Problems(problems);
  }
}
